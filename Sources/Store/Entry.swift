/// One change of one current record.
///
/// Keys and values are opaque to the store; keys are compared and ordered byte by byte.
public struct RecordChange: Sendable, Equatable {
    /// The container the record belongs to; an entry may change records of other containers.
    public var container: String
    /// The component within the container whose record it is.
    public var component: String
    /// The record's key, unique within its component.
    public var key: String
    /// The record's new value; nil removes the record, or does nothing when there is none.
    public var value: [UInt8]?

    /// Makes a change from its parts.
    public init(container: String, component: String, key: String, value: [UInt8]?) {
        self.container = container
        self.component = component
        self.key = key
        self.value = value
    }
}

/// Records that go without being named one by one, however many they are.
///
/// From the entry's commit on no read shows them; their rows are deleted after it, in slices. What is
/// written under their keys with the entry itself, or later, stays. Of the prefixes that a component's
/// purges name none but "" begins another one.
public struct Purge: Sendable, Equatable {
    /// The container the records belong to.
    public var container: String
    /// The component within the container.
    public var component: String
    /// With what their keys begin; "" (the default): all of the component's records.
    public var prefix: String
    /// Those alone whose value is a JSON object with this text as its member `item`.
    ///
    /// nil (the default): whatever their values are. With an item the prefix is "", and to delete the rows
    /// all of the component's are looked at.
    public var item: String?

    /// Makes a purge of the records whose keys begin with something.
    public init(container: String, component: String, prefix: String = "") {
        self.container = container
        self.component = component
        self.prefix = prefix
    }

    /// Makes a purge of the records about an item.
    public init(container: String, component: String, item: String) {
        self.init(container: container, component: component)
        self.item = item
    }
}

/// What an entry tells everyone, kept beside its changes for replay.
public struct NotificationDraft: Sendable, Equatable {
    /// Dot-separated words, as `films.votes.cast`.
    public var topic: String
    /// The part that every subscriber of the topic may see.
    public var payload: [UInt8]
    /// The part for those who may see more; nil (the default) when there is none.
    public var restricted: [UInt8]?

    /// Makes a notification from its parts.
    public init(topic: String, payload: [UInt8], restricted: [UInt8]? = nil) {
        self.topic = topic
        self.payload = payload
        self.restricted = restricted
    }
}

/// A person known to the daemon, by the number that records and notifications carry.
public struct Actor: Sendable, Hashable {
    /// The number, chosen by the caller and never given to anyone else.
    public var number: Int64
    /// The name; empty once the person was erased.
    public var name: String

    /// Makes an actor from its parts.
    public init(number: Int64, name: String) {
        self.number = number
        self.name = name
    }
}

/// What one command makes durable: whole or not at all, under one sequence number.
///
/// Encoded by itself it has at most ``mostBytes``: its container with the position that it expects, its changes, purges and
/// notification, and people by name. Actors, keys and values hold numbers instead, which are random and never given to anyone
/// else; the name of each stands in `actors` of the first entry that has the number. So whoever has the entries up to one,
/// the table `actors` among what they made, can tell all names of that one.
public struct Entry: Sendable, Equatable {
    /// The container whose lane it is in; "" is the registry's own.
    public var container: String
    /// The lane's epoch; once an entry failed, those of its epoch and older are refused unwritten.
    public var epoch: Int
    /// When it was decided, in milliseconds since 1970.
    public var time: Int64
    /// The number of the actor on whose behalf it was made; nil (the default) for the daemon itself.
    public var actor: Int64?
    /// The changes of records, applied in order.
    public var changes: [RecordChange]
    /// What goes as a whole; none by default.
    public var purges: [Purge]
    /// The notification kept under the entry's sequence; nil (the default) for none.
    public var notification: NotificationDraft?
    /// Actors seen first with this entry: inserted with it, ignored where the number is known.
    ///
    /// They are not kept when the entry fails, so repeat them until an entry naming them committed.
    public var actors: [Actor]
    /// The container's position this entry was decided at; it is refused as stale at any other.
    ///
    /// nil (the default) appends whatever the position is.
    public var expectedPosition: Int64?

    /// Makes an entry from its parts.
    public init(
        container: String, epoch: Int, time: Int64, actor: Int64? = nil,
        changes: [RecordChange] = [], purges: [Purge] = [],
        notification: NotificationDraft? = nil, actors: [Actor] = [],
        expectedPosition: Int64? = nil
    ) {
        self.container = container
        self.epoch = epoch
        self.time = time
        self.actor = actor
        self.changes = changes
        self.purges = purges
        self.notification = notification
        self.actors = actors
        self.expectedPosition = expectedPosition
    }
}

extension Entry {
    /// So many bytes an entry may have, encoded by itself; one with more is refused as ``EntryFailure/tooLarge(bytes:)``.
    public static let mostBytes = 1 << 20

    /// The longest name that an actor may have, in bytes.
    private static let longestName = 200

    /// What an encoding takes at most, with the actor by name.
    ///
    /// A number takes up to 10 bytes there, and so does a length.
    var encodedSize: Int {
        var size = 60 + container.utf8.count + Self.longestName
        if let notification {
            size += 30 + notification.topic.utf8.count + notification.payload.count
            size += notification.restricted?.count ?? 0
        }
        // Where a change or a purge has the place of the one before it, it is not named again.
        var (known, named) = ("", "")
        func place(_ container: String, _ component: String) -> Int {
            guard component != named || container != known else { return 0 }
            (known, named) = (container, component)
            return 20 + container.utf8.count + component.utf8.count
        }
        for change in changes {
            size += 30 + change.key.utf8.count + (change.value?.count ?? 0)
            size += place(change.container, change.component)
        }
        for purge in purges {
            size += 30 + purge.prefix.utf8.count + (purge.item?.utf8.count ?? 0)
            size += place(purge.container, purge.component)
        }
        for actor in actors { size += 20 + actor.name.utf8.count }
        return size
    }
}

/// Where a committed entry stands.
public struct Commit: Sendable, Hashable {
    /// Its place among all entries of the store: contiguous, from 1.
    public var sequence: Int64
    /// Its place among the entries of its container: contiguous, from 1.
    public var position: Int64

    /// Makes a commit from its parts.
    public init(sequence: Int64, position: Int64) {
        self.sequence = sequence
        self.position = position
    }
}

/// Why an entry was not written.
public enum EntryFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// Writing it failed; the reason says what and where, for people.
    case storage(reason: String)
    /// An earlier entry of its container failed in this epoch, or a newer one.
    case olderEpoch(epoch: Int)
    /// Its container stands at this position and not at the one it expected.
    case stale(position: Int64)
    /// It has so many bytes, more than ``Entry/mostBytes``.
    case tooLarge(bytes: Int)
    /// The store stopped writing after a storage error; try again after this many seconds.
    case unavailable(retryAfter: Double)
    /// The store's file is damaged: nothing is written to it any more.
    case damaged(reason: String)

    /// A sentence for people.
    public var description: String {
        switch self {
        case .storage(let reason):
            "the entry could not be written: \(reason)"
        case .olderEpoch(let epoch):
            "an earlier entry of its container failed in epoch \(epoch): decide again"
        case .stale(let position):
            "its container has moved on to position \(position): catch up and decide again"
        case .tooLarge(let bytes):
            "the entry has \(bytes) bytes, at most \(Entry.mostBytes) are allowed: change less at once"
        case .unavailable(let retryAfter):
            "the store is not writable for now: try again in \(retryAfter) s"
        case .damaged(let reason):
            "the store takes no writes: \(reason)"
        }
    }
}

/// What became of one appended entry.
public struct Outcome: Sendable, Hashable {
    /// The ticket the entry was appended with.
    public var ticket: UInt64
    /// Where the entry stands, or why it was not written.
    public var result: Result<Commit, EntryFailure>
}
