internal import AtriumKit
internal import Index
internal import JSONCodec
internal import Store

/// The part that an erased user has in notifications, and what is erased of each notification.
struct ErasedPart: Sendable {
    /// The part of a notification that is erased.
    enum Verdict: Sendable {
        /// Nothing.
        case kept
        /// Its actor and its restricted part; the notification stays.
        case nobodys
        /// All of it.
        case gone
    }

    private let actor: ActorID
    private var comments: Set<RecordKey> = []

    init(of actor: ActorID) { self.actor = actor }

    /// Adds one of the user's comments: notifications about what others did with it are erased, too.
    mutating func add(_ comment: RecordKey) { comments.insert(comment) }

    /// Decides what is erased of a notification.
    ///
    /// The user's votes, comments and published notifications are erased whole, since nothing else is in them. A
    /// change of the catalogue stays, without its actor.
    ///
    /// Call it in the order of sequences: it learns from `posted` and `edited` which comments were the user's, since
    /// their records may be gone.
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
            // Not `removed` or `moderated`: moderators do these to other users' comments.
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
    /// How many recent notifications one slice examines.
    private static let erasedAtATime: UInt64 = 64

    /// Erases a user's part in the next slice of recent notifications, past which `place` advances; returns whether
    /// more slices follow.
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
        // The shared batches still hold what was erased.
        if place == ring.end { dropBatches() }
        return place < ring.end
    }

    /// Has parts of the past that were read before the present sequence read again, since something was erased.
    func readAgain() { erasedThrough = lastSequence }
}

extension NotificationRing {
    /// The place of the oldest notification.
    var start: UInt64 { end - UInt64(count) }
}
