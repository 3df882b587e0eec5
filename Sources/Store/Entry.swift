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

/// Removes records by a prefix of their keys or by an item, without naming each one.
///
/// No read returns them from the entry's commit on; their rows are deleted after it, in slices. Records written under
/// their keys by the entry itself or a later one stay. Among the prefixes that a component's purges use, only "" may
/// be a prefix of another one.
public struct Purge: Sendable, Equatable {
    /// The container the records belong to.
    public var container: String
    /// The component within the container.
    public var component: String
    /// The prefix of their keys; "" (the default): all of the component's records.
    public var prefix: String
    /// Restricts the purge to records whose value is a JSON object with this text as its member `item`.
    ///
    /// nil (the default): no restriction. With an item the prefix is "", and deleting the rows reads all rows of the
    /// component.
    public var item: String?

    /// Makes a purge of the records whose keys begin with a prefix.
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

/// The notification of an entry, kept beside its changes for replay.
public struct NotificationDraft: Sendable, Equatable {
    /// The topic: words separated by dots, such as `films.votes.cast`.
    public var topic: String
    /// The part that every subscriber of the topic may see.
    public var payload: [UInt8]
    /// The part of the payload for users with more rights; nil (the default): there is none.
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
    /// The number, chosen by the caller; a number is never reused.
    public var number: Int64
    /// The name; empty once the person was erased.
    public var name: String

    /// Makes an actor from its parts.
    public init(number: Int64, name: String) {
        self.number = number
        self.name = name
    }
}

/// The unit of a commit: all that one command changes, committed completely or not at all, under one sequence.
///
/// Encoded by itself an entry has at most ``mostBytes``. The encoding has the container with its expected position, the
/// changes, purges and notification, and people by name. Actors, keys and values instead hold numbers, which are random
/// and never reused. The first entry with a number has its name in `actors`. So the entries up to a given one,
/// including the table `actors` that they wrote, are enough to name all people in that one.
public struct Entry: Sendable, Equatable {
    /// The container in whose lane the entry is; "" is the registry's own.
    public var container: String
    /// The lane's epoch; after an entry failed, entries of its epoch and older ones are refused.
    public var epoch: Int
    /// The time of the decision, in milliseconds since 1970.
    public var time: Int64
    /// The number of the actor of the command; nil (the default): the daemon itself.
    public var actor: Int64?
    /// The changes of records, applied in order.
    public var changes: [RecordChange]
    /// The purges; none by default.
    public var purges: [Purge]
    /// The notification posted with it; nil (the default): none.
    public var notification: NotificationDraft?
    /// Actors that first appear in this entry; known numbers are ignored.
    ///
    /// They are not stored if the entry fails, so repeat them until an entry with them is committed.
    public var actors: [Actor]
    /// The container's position at which the entry was decided; at any other position it is refused as stale.
    ///
    /// nil (the default): any position.
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
    /// The most bytes of an encoded entry; a larger one is refused as ``EntryFailure/tooLarge(bytes:)``.
    public static let mostBytes = 1 << 20

    /// The longest name that an actor may have, in bytes.
    private static let longestName = 200

    /// An upper bound of the size of the encoding, with actors by name.
    ///
    /// A number or a length takes up to 10 bytes.
    var encodedSize: Int {
        var size = 60 + container.utf8.count + Self.longestName
        if let notification {
            size += 30 + notification.topic.utf8.count + notification.payload.count
            size += notification.restricted?.count ?? 0
        }
        // A change or purge in the same place as the one before does not repeat the names.
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

/// The numbers of a committed entry.
public struct Commit: Sendable, Hashable {
    /// Its number among all entries of the store: contiguous, from 1.
    public var sequence: Int64
    /// Its number among the entries of its container: contiguous, from 1.
    public var position: Int64

    /// Makes a commit from its parts.
    public init(sequence: Int64, position: Int64) {
        self.sequence = sequence
        self.position = position
    }
}

/// Why an entry was not written.
public enum EntryFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// Writing failed; the reason names the operation and the place, for people.
    case storage(reason: String)
    /// An earlier entry of its container failed, in this epoch or a newer one.
    case olderEpoch(epoch: Int)
    /// Its container is at this position, not at the expected one.
    case stale(position: Int64)
    /// Its size in bytes, which exceeds ``Entry/mostBytes``.
    case tooLarge(bytes: Int)
    /// The store stopped writing after a storage error; retry after this many seconds.
    case unavailable(retryAfter: Double)
    /// The store's file is damaged, and no entries are written to it.
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

/// The result of one appended entry.
public struct Outcome: Sendable, Hashable {
    /// The ticket with which the entry was appended.
    public var ticket: UInt64
    /// The commit, or why the entry was not written.
    public var result: Result<Commit, EntryFailure>
}
