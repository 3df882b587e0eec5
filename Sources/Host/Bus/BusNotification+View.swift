internal import AtriumKit

extension BusNotification {
    /// About what it takes in memory and on the wire, in bytes.
    ///
    /// - Parameter text: what its comment says.
    /// - Returns: the bytes.
    func cost(with text: CommentText?) -> Int {
        payload.count + (restricted?.count ?? 0) + topic.utf8.count + 96
            + (text?.text.utf8.count ?? 0)
    }

    /// The notification as a subscriber sees it.
    ///
    /// The payload's bytes are shared, unless the restricted
    /// part or a text is put into them.
    ///
    /// - Parameters:
    ///   - seesRestricted: whether the subscriber may see more than everyone.
    ///   - names: an actor's name.
    ///   - text: what its comment says now; nil: nothing.
    /// - Returns: what the subscriber is told.
    func view(
        seesRestricted: Bool, names: (ActorID) -> String?, text: CommentText? = nil
    ) -> NotificationView {
        // Who wrote what nobody sees any more is as secret as what it said.
        let isSeen = comment == nil || text?.isHeld == false
        let isOpen = seesRestricted || (restricted == nil && isSeen)
        let payload = seesRestricted ? wholePayload : payload
        return NotificationView(
            sequence: sequence, time: time, topic: topic,
            actor: isOpen ? actor.flatMap(names) : nil,
            payload: isOpen ? payload.telling(text) : payload)
    }

    /// The payload with the members of the restricted part.
    private var wholePayload: [UInt8] {
        // Both are objects as the host writes them, without whitespace: 2 bytes are no members.
        guard let restricted, restricted.count > 2 else { return payload }
        guard payload.count > 2 else { return restricted }
        return payload.dropLast() + [UInt8(ascii: ",")] + restricted.dropFirst()
    }
}

extension [UInt8] {
    /// A payload with what its comment says.
    func telling(_ text: CommentText?) -> [UInt8] {
        guard let text else { return self }
        let member = Payload.object { $0.member("text", text.text) }
        return count > 2 ? dropLast() + [UInt8(ascii: ",")] + member.dropFirst() : member
    }
}
