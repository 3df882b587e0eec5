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
    /// The number of the actor who caused it; nil: the daemon itself.
    public var actor: Int64?
    /// The part that every subscriber of the topic may see.
    public var payload: [UInt8]
    /// The part for those who may see more; nil when there is none.
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
