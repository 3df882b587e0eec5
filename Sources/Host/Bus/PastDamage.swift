internal import Store

/// The damaged notifications and comments that reads of the past found.
///
/// Each counts once, however often it is read. At most 1,000 notifications and 1,000 comments are remembered.
public struct PastDamage: Sendable, Hashable {
    private static let most = 1_000
    /// How many of them ``problem`` lists.
    private static let named = 3

    private var entries: Set<Int64> = []
    private var comments: Set<RecordKey> = []
    private var containers: Set<String> = []

    /// Makes a value without damage.
    public init() {}

    /// Whether no damage was found.
    public var isEmpty: Bool { entries.isEmpty && comments.isEmpty }

    /// Adds a notification that differs from what was written; its stored topic may be damaged too.
    mutating func add(_ sequence: Int64, topic: String) {
        guard entries.count < Self.most else { return }
        entries.insert(sequence)
        containers.insert(String(topic.prefix { $0 != "." }))
    }

    /// Adds comments whose records differ from what was written.
    mutating func add(_ keys: [RecordKey]) {
        for key in keys where comments.count < Self.most {
            comments.insert(key)
            containers.insert(key.container)
        }
    }

    /// Adds the damage that another read found.
    mutating func add(_ others: PastDamage) {
        for entry in others.entries where entries.count < Self.most { entries.insert(entry) }
        for comment in others.comments where comments.count < Self.most { comments.insert(comment) }
        for name in others.containers where containers.count < Self.most { containers.insert(name) }
    }

    /// Whether any of the damage is in a container.
    func affects(_ container: String) -> Bool { containers.contains(container) }

    /// The damage and what to do about it, as a message; nil: there is none.
    var problem: String? {
        var parts: [String] = []
        if !entries.isEmpty {
            let names = Self.list(entries.sorted().map { "\($0)" }, of: entries.count)
            parts.append(
                "\(entries.count) past notification\(Self.mismatch(entries.count)) (sequence \(names)): "
                    + "subscribers get a gap, damaged, in their place")
        }
        if !comments.isEmpty {
            let names = comments.map { "'\($0.key)' of \($0.container)/\($0.component)" }.sorted()
            parts.append(
                "\(comments.count) comment\(Self.mismatch(comments.count)) "
                    + "(\(Self.list(names, of: comments.count))): notifications about them have no text"
            )
        }
        guard !parts.isEmpty else { return nil }
        return
            "is damaged: \(parts.joined(separator: "; ")). Restore a backup; 'atriumctl verify' checks the whole store"
    }

    private static func mismatch(_ count: Int) -> String {
        count == 1 ? " does not match its checksum" : "s do not match their checksums"
    }

    private static func list(_ names: [String], of count: Int) -> String {
        names.prefix(named).joined(separator: ", ") + (count > named ? ", …" : "")
    }
}
