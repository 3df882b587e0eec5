internal import AtriumKit
internal import Index
internal import JSONCodec
internal import Store

/// Whose part in notifications is erased, and what becomes of each of them.
struct ErasedPart: Sendable {
    /// What becomes of a notification.
    enum Verdict: Sendable {
        /// It stays as it is.
        case kept
        /// It stays, as nobody's, without its restricted part.
        case nobodys
        /// It goes.
        case gone
    }

    private let actor: ActorID
    private var comments: Set<RecordKey> = []

    /// The part of a person.
    init(of actor: ActorID) { self.actor = actor }

    /// A comment is theirs: what others did with it goes, too.
    mutating func add(_ comment: RecordKey) { comments.insert(comment) }

    /// What becomes of a notification.
    ///
    /// Of votes, comments and what clients publish there would be nothing left. What was done to the
    /// catalogue was done, by nobody. Ask in the order of sequences: so it learns which comments were
    /// theirs whose records are gone.
    mutating func verdict(on notification: BusNotification) -> Verdict {
        let isOwn = notification.actor == actor
        let words = notification.topic.split(separator: ".", omittingEmptySubsequences: false)
        guard words.count > 2 else { return isOwn ? .nobodys : .kept }
        switch words[1] {
        case "votes", "app": return isOwn ? .gone : .kept
        case "comments":
            guard isOwn || !comments.isEmpty else { return .kept }
            guard let comment = Self.comment(of: notification, in: String(words[0])) else {
                return isOwn ? .gone : .kept
            }
            // Moderators delete those of others.
            if isOwn, words[2] == "posted" || words[2] == "edited" { add(comment) }
            return isOwn || comments.contains(comment) ? .gone : .kept
        default: return isOwn ? .nobodys : .kept
        }
    }

    private static func comment(
        of notification: BusNotification, in container: String
    ) -> RecordKey? {
        guard let object = (try? Value(jsonBytes: notification.payload))?.object,
            let component = object["component"]?.text, let id = object["comment"]?.text
        else { return nil }
        return RecordKey(container: container, component: component, key: id)
    }
}

extension Bus {
    /// How many recent notifications are looked at in one slice.
    private static let erasedAtATime: UInt64 = 64

    /// Takes a person's part out of some of the recent notifications.
    ///
    /// - Parameters:
    ///   - part: what goes.
    ///   - place: where to begin in the ring; moves on.
    /// - Returns: whether there may be more.
    func erase(_ part: inout ErasedPart, from place: inout UInt64) -> Bool {
        place = max(place, ring.start)
        let end = min(place + Self.erasedAtATime, ring.end)
        while place < end {
            if let posted = ring[place] {
                switch part.verdict(on: posted.content) {
                case .kept: break
                case .nobodys: ring.erase(place, isGone: false)
                case .gone: ring.erase(place, isGone: true)
                }
            }
            place += 1
        }
        // They were put together with what is gone.
        if place == ring.end { dropBatches() }
        return place < ring.end
    }

    /// What was read of the past before the present sequence is read again: something in it was erased.
    func readAgain() { erasedThrough = lastSequence }
}

extension NotificationRing {
    /// The first place that there is.
    var start: UInt64 { end - UInt64(count) }
}
