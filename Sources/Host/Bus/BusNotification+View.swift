internal import AtriumKit

extension BusNotification {
    /// About what it takes in memory and on the wire, in bytes.
    var cost: Int {
        payload.count + (restricted?.count ?? 0) + topic.utf8.count + 96
    }

    /// The notification as a subscriber sees it.
    ///
    /// The payload's bytes are shared, unless the restricted
    /// part is put into them.
    func view(seesRestricted: Bool, names: (ActorID) -> String?) -> NotificationView {
        let isOpen = restricted == nil || seesRestricted
        return NotificationView(
            sequence: sequence, time: time, topic: topic,
            actor: isOpen ? actor.flatMap(names) : nil,
            payload: seesRestricted ? wholePayload : payload)
    }

    /// The payload with the members of the restricted part.
    private var wholePayload: [UInt8] {
        // Both are objects as the host writes them, without whitespace: 2 bytes are no members.
        guard let restricted, restricted.count > 2 else { return payload }
        guard payload.count > 2 else { return restricted }
        return payload.dropLast() + [UInt8(ascii: ",")] + restricted.dropFirst()
    }
}
