import AtriumKit
import Store

/// The sums of the ballots on a subject, without what the component derives from them.
struct TallyFact: Equatable, Sendable {
    var count = 0
    /// The number of ballots by value, as ``Tally/histogram``.
    var histogram: [String: Int] = [:]

    /// The fact for a tally that a component shows; nil if there is none, or nothing is counted.
    init?(_ tally: Tally?) {
        guard let tally, tally.count != 0 || tally.score != nil else { return nil }
        count = tally.count
        histogram = tally.histogram
    }

    init() {}

    mutating func add(_ ballot: Ballot) {
        count += 1
        histogram[Value.number(ballot.value).plainText ?? "", default: 0] += 1
    }
}

/// Recounts ballots by subject.
///
/// A ballot's key begins with its subject, so a subject's ballots are stored next to each other. A fact's key is the
/// item's id, or "" for the container.
final class TallyFacts: FactSource, @unchecked Sendable {
    private let address: RecordAddress
    private var wanted: ArraySlice<String>?
    private var last: String?
    /// The subject whose ballots are being added up.
    private var open: FactSlice<TallyFact>.Entry?

    init(_ address: RecordAddress, only keys: [String]? = nil) {
        self.address = address
        wanted = keys.map { $0[...] }
        last = wanted?.first.map(Self.start)
    }

    func only(_ keys: [String]) -> TallyFacts { TallyFacts(address, only: keys) }

    func next(in snapshot: Snapshot) throws -> FactSlice<TallyFact> {
        var slice = FactSlice<TallyFact>()
        var isPast = false
        let place = try address.visit(after: last, in: snapshot, &slice) { key, value, slice in
            if let item = wanted?.first, !key.hasBytes(of: Self.start(item)) {
                isPast = true
                return false
            }
            guard let ballot = Ballot(key: key, value: value) else { return true }
            add(ballot, to: &slice)
            return true
        }
        last = place
        guard place == nil || isPast else { return slice }
        if let open { slice.facts.append(open) }
        open = nil
        wanted?.removeFirst()
        last = wanted?.first.map(Self.start)
        slice.isEnd = wanted?.isEmpty ?? true
        return slice
    }

    private func add(_ ballot: Ballot, to slice: inout FactSlice<TallyFact>) {
        let item = ballot.subject.item ?? ""
        if let open, open.key != item {
            slice.facts.append(open)
            self.open = nil
        }
        if open == nil { open = .init(key: item, fact: TallyFact()) }
        open?.fact.add(ballot)
    }

    /// The prefix of the keys of an item's ballots.
    private static func start(_ item: String) -> String { "\(item)\n" }
}

extension String {
    /// Whether it begins with these bytes; `String` comparison would ignore how accents are encoded.
    fileprivate func hasBytes(of prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }
}
