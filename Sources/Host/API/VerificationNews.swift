/// Identifies a verification.
public struct VerificationID: Sendable, Hashable {
    let number: UInt64
}

/// The report of a verification while it runs, and when it ends.
public struct VerificationNews: Sendable, Hashable {
    /// The container being read; empty for the store itself.
    public var container: String
    /// The component whose records are being read; empty for the store itself.
    public var component: String
    /// How many of its records have been read so far.
    public var records: Int
    /// The findings; nil while the verification runs.
    public var report: VerificationReport?
    /// The last durable sequence.
    public var sequence: Int64
}

/// The findings of a verification.
public struct VerificationReport: Sendable, Hashable {
    /// The parts that were read and compared, in that order.
    public var checked: [VerifiedPart] = []
    /// The damage; empty when there is none.
    public var damage: [Damage] = []
}

/// How a component was verified.
public struct VerifiedPart: Sendable, Hashable {
    /// The container; empty for the store itself.
    public var container: String
    /// The component; empty for the store itself.
    public var component: String
    /// The component's kind; `log` or `file` for the store itself.
    public var kind: String
    /// How many records it has.
    public var records: Int
    /// Why its records are not compared with what is shown; nil: they are.
    public var skipped: String?
}

/// Damage to a component's records, or to what is shown of them.
public struct Damage: Sendable, Hashable {
    /// The kind of damage.
    public enum Kind: String, Sendable, Hashable {
        /// Records that can't be read.
        case unreadable
        /// Records whose checksum does not match.
        case checksum
        /// Records that are missing.
        case missing
        /// The shown state differs from the stored one.
        case shown
        /// Entries of the log that are damaged or missing.
        case log
        /// The structure of the store's file.
        case file
    }

    /// How many keys are named.
    static let named = 10

    /// The container; empty for the store itself.
    public var container: String
    /// The component; empty for the store itself.
    public var component: String
    /// The kind of damage.
    public var kind: Kind
    /// How many records, or things shown, are affected.
    public var count: Int
    /// The first affected keys; ten at most.
    public var keys: [String]
    /// The damage, in a sentence.
    public var found: String
    /// The advice on what to do about it.
    public var advice: String
}
