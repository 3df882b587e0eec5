internal import GRDB

/// The address of one record.
public struct RecordKey: Sendable, Hashable {
    /// The container the record belongs to.
    public var container: String
    /// The component within the container.
    public var component: String
    /// The record's key within its component.
    public var key: String

    /// Makes an address from its parts.
    public init(container: String, component: String, key: String) {
        self.container = container
        self.component = component
        self.key = key
    }
}

/// A current record as the store holds it.
public struct StoredRecord: Sendable, Equatable {
    /// The value.
    public var value: [UInt8]
    /// The sequence of the entry that last wrote it.
    public var sequence: Int64
    /// The sequence of the entry that created it; a record that is removed and written again counts as new.
    public var created: Int64

    /// Makes a stored record from its parts.
    public init(value: [UInt8], sequence: Int64, created: Int64) {
        self.value = value
        self.sequence = sequence
        self.created = created
    }
}

/// A notification as it was committed.
public struct StoredNotification: Sendable, Equatable {
    /// The sequence of its entry.
    public var sequence: Int64
    /// The time of its entry, in milliseconds since 1970.
    public var time: Int64
    /// The topic.
    public var topic: String
    /// The number of the actor of the command; nil: the daemon itself.
    public var actor: Int64?
    /// The part that every subscriber of the topic may see.
    public var payload: [UInt8]
    /// The part of the payload for users with more rights; nil if there is none.
    public var restricted: [UInt8]?
    /// Whether its row is damaged: then none of it may be shown.
    public var isDamaged = false

    /// Makes a notification from its parts.
    public init(
        sequence: Int64, time: Int64, topic: String, actor: Int64?, payload: [UInt8],
        restricted: [UInt8]?
    ) {
        self.sequence = sequence
        self.time = time
        self.topic = topic
        self.actor = actor
        self.payload = payload
        self.restricted = restricted
    }
}

/// A part of the past: notifications that were read one after another.
public struct StoredPast: Sendable, Equatable {
    /// The notifications, by ascending sequence.
    public internal(set) var notifications: [StoredNotification] = []
    /// The sequences whose entries are gone though they were not trimmed, in order.
    ///
    /// Each entry has a row until it is trimmed, also one without a notification.
    public private(set) var missing: [ClosedRange<Int64>] = []
    /// The last sequence that was read.
    private(set) var last: Int64
    private let trimmed: Int64
    /// Whether no more entries follow.
    var isEnd = false

    /// The sequence of the last entry that was read; nil: no more follow.
    public var through: Int64? { isEnd ? nil : last }

    init(after sequence: Int64, trimmed: Int64) {
        (last, self.trimmed) = (sequence, trimmed)
    }

    /// Comes to the next entry's row.
    mutating func come(to sequence: Int64) {
        let before = max(last, trimmed)
        if before < sequence - 1 { missing.append(before + 1...sequence - 1) }
        last = sequence
    }

    /// Comes to the end of the rows; the store has given out the sequences through this one.
    mutating func end(at sequence: Int64) {
        let before = max(last, trimmed)
        guard before < sequence else { return }
        missing.append(before + 1...sequence)
        last = sequence
    }
}

extension StoredNotification {
    /// Reads a row of topic, sequence, time, actor, public, restricted, changes, sum, position, container.
    init(_ row: Row, _ topic: String) throws {
        let restricted =
            row.hasNull(atIndex: 5) ? nil : try row.withUnsafeData(atIndex: 5, Store.bytes)
        self.init(
            sequence: row[1], time: row[2] as Int64? ?? 0, topic: topic, actor: row[3],
            payload: try row.withUnsafeData(atIndex: 4, Store.bytes), restricted: restricted)
        var sum = EntrySum.of(
            container: row[9] as String? ?? "", sequence: sequence, position: row[8] as Int64? ?? 0,
            time: time,
            actor: actor, topic: topic, payload: payload, restricted: restricted)
        if !row.hasNull(atIndex: 6) {
            let changes = try row.withUnsafeData(atIndex: 6, Store.bytes)
            sum ^= EntrySum.ofChanges(changes, sequence: sequence)
        }
        isDamaged = sum != row[7] as Int64?
    }
}
