import AtriumKit
import Index
import Store

/// The shown counts of a subject's whole thread.
struct CountFact: Equatable, Sendable {
    /// The number of visible comments, as the host has it.
    var count: Int
    /// The same number, as the component returns it with a thread.
    var total: Int
    /// Whether the thread is in order: siblings by time, replies below what they answer; always true in the store.
    var isOrdered = true
}

/// Counts the visible comments, by subject.
///
/// Comments are stored in the order of their own ids, not by subject. So all of them are read, and the counts are
/// kept in memory until the end; where there are many subjects, one pass counts only a share of them. A fact's key is
/// the item's id, or "" for the container.
final class CountFacts: FactSource, @unchecked Sendable {
    /// About how many subjects are counted in one pass through the records.
    static let subjects = 50_000
    /// The most facts in a slice.
    private static let length = 500

    /// A share of the subjects.
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
