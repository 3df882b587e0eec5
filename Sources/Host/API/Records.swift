import AtriumKit

/// One durable fact of a component, as it is exported and put back.
public struct RecordView: Sendable, Hashable {
    /// The component.
    public var component: String
    /// What the component does: `contents`, `votes` or `comments`.
    public var kind: String
    /// An item's or a comment's id; a ballot's item, empty for the container's.
    public var key: String
    /// The name of whoever cast the ballot or wrote the comment; nil: it has none.
    public var actor: String?
    /// A JSON object's bytes.
    ///
    /// An item: `fields` and `parent`; a ballot: `value` and `cast`; a comment:
    /// all but its author.
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

/// Which export.
public struct ExportID: Sendable, Hashable {
    let number: UInt64
}

/// A part of an export.
public struct ExportPart: Sendable, Hashable {
    /// The next records.
    public var records: [RecordView]
    /// The last durable sequence that the export reflects: the same in all parts.
    public var sequence: Int64
    /// Whether no part follows: the export is closed then.
    public var isLast: Bool
    /// What is missing because it is damaged, a sentence each.
    public var lost: [String] = []
}

/// What came of putting records back.
public struct RestoreResult: Sendable, Hashable {
    /// How many were not there, or other.
    public var restored: Int
    /// How many were there just so.
    public var unchanged: Int
    /// The entry's sequence; the current one when nothing changed.
    public var sequence: Int64
}

/// Which backup.
public struct BackupID: Sendable, Hashable {
    let number: UInt64
}

/// A part of a backup's file.
public struct BackupPart: Sendable, Hashable {
    /// The next bytes; none in the last part.
    public var bytes: [UInt8]
    /// How many bytes the file has.
    public var total: Int
    /// The last durable sequence in it.
    public var sequence: Int64
    /// The identity of the store that it is a copy of.
    public var store: String
    /// Whether no part follows: the backup is closed then.
    public var isLast: Bool
}

extension Comment {
    /// The most bytes of the fingerprint by which a comment is recognised that is posted again.
    static let fingerprintBytes = 200
}
