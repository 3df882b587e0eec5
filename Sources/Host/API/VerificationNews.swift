/// Which verification.
public struct VerificationID: Sendable, Hashable {
    let number: UInt64
}

/// What a verification tells while it goes on, and in the end.
public struct VerificationNews: Sendable, Hashable {
    /// The container that is read; empty for the store itself.
    public var container: String
    /// The component whose records are read; empty for the store itself.
    public var component: String
    /// How many of its records were read by now.
    public var records: Int
    /// What was found; nil while it goes on.
    public var report: VerificationReport?
    /// The last durable sequence.
    public var sequence: Int64
}

/// What a verification has found.
public struct VerificationReport: Sendable, Hashable {
    /// What was read and compared, in its order.
    public var checked: [VerifiedPart] = []
    /// What is wrong; empty when nothing is.
    public var damage: [Damage] = []
}

/// What was read of a component.
public struct VerifiedPart: Sendable, Hashable {
    /// The container; empty for the store itself.
    public var container: String
    /// The component; empty for the store itself.
    public var component: String
    /// What the component does; `log` or `file` for the store itself.
    public var kind: String
    /// How many records it has.
    public var records: Int
    /// Why these are not compared with what is shown; nil: they are.
    public var skipped: String?
}

/// Something that is wrong with a component's records, or with what is shown of them.
public struct Damage: Sendable, Hashable {
    /// What is wrong.
    public enum Kind: String, Sendable, Hashable {
        /// Records that can't be read.
        case unreadable
        /// Records that are not as they were written.
        case checksum
        /// Records that are gone.
        case missing
        /// What is shown is something else than what the store holds.
        case shown
        /// Entries of the log.
        case log
        /// The structure of the file.
        case file
    }

    /// How many keys are named.
    static let named = 10

    /// The container; empty for the store itself.
    public var container: String
    /// The component; empty for the store itself.
    public var component: String
    /// What is wrong.
    public var kind: Kind
    /// How many records, or things shown, it concerns.
    public var count: Int
    /// The first ones; ten at most.
    public var keys: [String]
    /// In a sentence.
    public var found: String
    /// What to do.
    public var advice: String
}
