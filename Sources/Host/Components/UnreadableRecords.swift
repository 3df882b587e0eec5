import Store

/// What is wrong with a component's records: as its last start found, and the last verification since.
struct RecordDamage {
    private var unreadable = UnreadableRecords()
    private var verified = VerifiedDamage()

    /// A start reads them: what was verified before is found again.
    mutating func beginLoading() { verified = VerifiedDamage() }

    /// A start has read all but some.
    mutating func loaded(without unreadable: UnreadableRecords) { self.unreadable = unreadable }

    /// A verification has looked at them.
    mutating func note(_ verified: VerifiedDamage) { self.verified = verified }

    /// What is wrong, and what to do, for people; nil: nothing is.
    var problem: String? { unreadable.problem ?? verified.problem }
}

/// The records of a component that are not what was written, or no JSON, and those that are gone: the file was
/// damaged.
struct UnreadableRecords: Sendable, Hashable {
    /// How many keys are named.
    private static let named = 3

    private(set) var count = 0
    /// How the component differs from what it counted itself; nil: it does not.
    var difference: RecordDifference?
    private var keys: [String] = []

    /// Notes a record.
    mutating func add(_ key: String) {
        count += 1
        if keys.count < Self.named { keys.append(key) }
    }

    /// Notes those that were found elsewhere.
    mutating func add(_ others: Self) {
        count += others.count
        keys.append(contentsOf: others.keys.prefix(Self.named - keys.count))
    }

    /// How many there are, and the first ones; nil: there are none.
    var records: String? {
        guard count > 0 else { return nil }
        let named =
            keys.map { "'\($0)'" }.joined(separator: ", ") + (count > keys.count ? ", …" : "")
        return "\(count) record\(count == 1 ? "" : "s") that can't be read (\(named))"
    }

    /// What is wrong, and what to do, for people; nil: nothing is.
    var problem: String? {
        var parts: [String] = []
        if let records { parts.append("has \(records), which nobody is shown") }
        if let difference { parts.append("lost some of its records: \(difference.sentence)") }
        guard !parts.isEmpty else { return nil }
        return parts.joined(separator: "; it ")
            + ": the store's file is damaged. Stop the daemon and "
            + "restore a backup, or write these records anew"
    }
}
