import Store

/// Damage of a component's records, as found by its last start and by the last verification since.
struct RecordDamage {
    private var unreadable = UnreadableRecords()
    private var verified = VerifiedDamage()

    /// Forgets what a verification found, because a start is reading the records again.
    mutating func beginLoading() { verified = VerifiedDamage() }

    /// Adds the records that a start could not read.
    mutating func loaded(without unreadable: UnreadableRecords) { self.unreadable = unreadable }

    /// Records what a verification found.
    mutating func record(_ verified: VerifiedDamage) { self.verified = verified }

    /// A sentence for people about the damage, and what to do; nil: there is none.
    var problem: String? { unreadable.problem ?? verified.problem }
}

/// The records of a component that can't be read, or are missing, because the file was damaged.
struct UnreadableRecords: Sendable, Hashable {
    /// The maximum number of keys that are named.
    private static let named = 3

    private(set) var count = 0
    /// The difference between the records and the component's own count of them; nil: there is none.
    var difference: RecordDifference?
    private var keys: [String] = []

    mutating func add(_ key: String) {
        count += 1
        if keys.count < Self.named { keys.append(key) }
    }

    /// Adds the records that another slice of the load could not read.
    mutating func add(_ others: Self) {
        count += others.count
        keys.append(contentsOf: others.keys.prefix(Self.named - keys.count))
    }

    /// The number of such records, and the first keys; nil: there are none.
    var records: String? {
        guard count > 0 else { return nil }
        let named =
            keys.map { "'\($0)'" }.joined(separator: ", ") + (count > keys.count ? ", …" : "")
        return "\(count) record\(count == 1 ? "" : "s") that can't be read (\(named))"
    }

    /// A sentence for people about the damage, and what to do; nil: there is none.
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
