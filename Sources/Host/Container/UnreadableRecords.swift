/// The records of a component that are no JSON: nothing of ours wrote them, so the file was damaged.
struct UnreadableRecords: Sendable, Hashable {
    /// How many keys are named.
    private static let named = 3

    private(set) var count = 0
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

    /// What is wrong, and what to do, for people; nil: nothing is.
    var problem: String? {
        guard count > 0 else { return nil }
        let named =
            keys.map { "'\($0)'" }.joined(separator: ", ") + (count > keys.count ? ", …" : "")
        return "has \(count) record\(count == 1 ? "" : "s") that can't be read (\(named)), which "
            + "nobody is shown: the store's file is damaged. Stop the daemon and put back a copy of "
            + "the file, or write these records anew"
    }
}
