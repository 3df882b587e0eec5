import AtriumKit
import Index
import Store

/// What is shown of a subject's comments as a whole.
struct CountFact: Equatable, Sendable {
    /// How many people see, as the host has it.
    var count: Int
    /// The same, as the component tells it with a thread.
    var total: Int
    /// Whether siblings stand in their order, each under what it answers; true in the store.
    var isOrdered = true
}

/// Counts the comments that people see, by subject.
///
/// They stand in the order of their own ids. So all are read, and what was counted is kept until the
/// end: of some subjects only, where there are many. The key of a fact is the item's id, "" for the
/// container.
final class CountFacts: FactSource, @unchecked Sendable {
    /// About how many subjects are counted in one pass through the records.
    static let subjects = 50_000
    /// How many facts a slice has at most.
    private static let length = 500

    /// Some of the subjects.
    struct Share: Sendable {
        var number = 0
        var count = 1

        func contains(_ item: String) -> Bool {
            guard count > 1 else { return true }
            var item = item
            return item.withUTF8 { Int(HashedSlots.textHash($0)) % count == number }
        }
    }

    private let address: RecordAddress
    private let share: Share
    private let wanted: Set<String>?
    private var last: String?
    private var hasRead = false
    private var counts: [String: Int] = [:]

    init(_ address: RecordAddress, _ share: Share, only keys: [String]? = nil) {
        self.address = address
        self.share = share
        wanted = keys.map(Set.init)
    }

    func only(_ keys: [String]) -> CountFacts { CountFacts(address, share, only: keys) }

    func next(in snapshot: Snapshot) throws -> FactSlice<CountFact> {
        var slice = FactSlice<CountFact>()
        guard !hasRead else {
            while slice.facts.count < Self.length, let (key, count) = counts.popFirst() {
                slice.facts.append(.init(key: key, fact: CountFact(count: count, total: count)))
            }
            slice.isEnd = counts.isEmpty
            return slice
        }
        last = try address.visit(after: last, in: snapshot, &slice) { key, value, _ in
            guard let comment = Comment(key: key, value: value), comment.state == .shown,
                comment.parent != key
            else { return true }
            let item = comment.subject.item ?? ""
            if wanted?.contains(item) ?? share.contains(item) { counts[item, default: 0] += 1 }
            return true
        }
        hasRead = last == nil
        return slice
    }
}
