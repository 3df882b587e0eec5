internal import AtriumKit

extension BusNotification {
    /// Returns about how many bytes the notification has, in memory and on the wire, with its comment's text.
    func cost(with text: CommentText?) -> Int {
        payload.count + (restricted?.count ?? 0) + topic.utf8.count + 96
            + (text?.text.utf8.count ?? 0)
    }

    /// Returns the notification as a subscriber receives it, who may or may not see restricted parts.
    ///
    /// The payload's bytes are shared between subscribers, unless a restricted part or a text is added.
    func view(
        seesRestricted: Bool, names: (ActorID) -> String?, text: CommentText? = nil
    ) -> NotificationView {
        // A comment that is held or was deleted hides its author as well as its text.
        let isSeen = comment == nil || text?.isHeld == false
        let isOpen = seesRestricted || (restricted == nil && isSeen)
        let payload = seesRestricted ? wholePayload : payload
        return NotificationView(
            sequence: sequence, time: time, topic: topic,
            actor: isOpen ? actor.flatMap(names) : nil,
            payload: isOpen ? payload.including(text) : payload)
    }

    /// The payload merged with the restricted part's members.
    private var wholePayload: [UInt8] {
        // The host writes both as objects without whitespace, so 2 bytes are an empty object.
        guard let restricted, restricted.count > 2 else { return payload }
        guard payload.count > 2 else { return restricted }
        return payload.dropLast() + [UInt8(ascii: ",")] + restricted.dropFirst()
    }
}

extension [UInt8] {
    /// Returns the payload with a comment's text added as `text`.
    func including(_ text: CommentText?) -> [UInt8] {
        guard let text else { return self }
        let member = Payload.object { $0.member("text", text.text) }
        return count > 2 ? dropLast() + [UInt8(ascii: ",")] + member.dropFirst() : member
    }
}
