import AtriumKit

/// One record of a component, as it is exported and restored.
public struct RecordView: Sendable, Hashable {
    /// The component's name.
    public var component: String
    /// The component's kind: `contents`, `votes` or `comments`.
    public var kind: String
    /// An item's or a comment's id; for a ballot the item's id, empty for the container.
    public var key: String
    /// The name of the actor who cast the ballot or wrote the comment; nil: none.
    public var actor: String?
    /// The record's value as a JSON object's bytes.
    ///
    /// An item has `fields` and `parent`, a ballot `value` and `cast`, a comment all members except its author.
    public var value: [UInt8]

    /// A record.
    public init(
        component: String, kind: String, key: String, actor: String? = nil, value: [UInt8]
    ) {
        self.component = component
        self.kind = kind
        self.key = key
        self.actor = actor
        self.value = value
    }
}

/// Identifies an export.
public struct ExportID: Sendable, Hashable {
    let number: UInt64
}

/// A part of an export.
public struct ExportPart: Sendable, Hashable {
    /// The next records.
    public var records: [RecordView]
    /// The last durable sequence that the export reflects: the same in all parts.
    public var sequence: Int64
    /// Whether this is the last part; the export is then closed.
    public var isLast: Bool
    /// The records that are missing because they are damaged, one sentence each.
    public var lost: [String] = []
}

/// The result of restoring records.
public struct RestoreResult: Sendable, Hashable {
    /// How many records were missing or different.
    public var restored: Int
    /// How many records existed with the same content.
    public var unchanged: Int
    /// The entry's sequence; the current one when nothing changed.
    public var sequence: Int64
}

/// Identifies a backup.
public struct BackupID: Sendable, Hashable {
    let number: UInt64
}

/// A part of a backup's file.
public struct BackupPart: Sendable, Hashable {
    /// The next bytes; empty in the last part.
    public var bytes: [UInt8]
    /// The file's size in bytes.
    public var total: Int
    /// The last durable sequence in the backup.
    public var sequence: Int64
    /// The identity of the store that was copied.
    public var store: String
    /// Whether this is the last part; the backup is then closed.
    public var isLast: Bool
}

extension Comment {
    /// The most bytes of the fingerprint that identifies a comment which is posted again.
    static let fingerprintBytes = 200
}
