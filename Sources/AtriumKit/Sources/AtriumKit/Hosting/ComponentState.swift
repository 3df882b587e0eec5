/// All items, tallies or counts of a component as absolute events, in pieces: each is made when it is asked for.
///
/// Items are reported as ``ContentChange/replaceAll``, then as ``ContentChange/insert(_:)``.
public struct ComponentState: Sequence, IteratorProtocol {
    /// The maximum number of items, tallies or counts in a piece.
    public static let length = 128

    private let piece: () -> [ComponentEvent]?

    /// Creates the state of a component that has none.
    init() { piece = { nil } }

    init(items: any Sequence<Item>) {
        let rest = Self.pieces(of: items)
        var isBegun = false
        piece = {
            let items = rest()
            defer { isBegun = true }
            guard isBegun else {
                return [.contents(.replaceAll)] + (items.map { [.contents(.insert($0))] } ?? [])
            }
            return items.map { [.contents(.insert($0))] }
        }
    }

    init(tallies: any Sequence<(subject: Subject, tally: Tally)>) {
        let rest = Self.pieces(of: tallies)
        piece = { rest()?.map { .tally($0.subject, $0.tally) } }
    }

    init(counts: any Sequence<(subject: Subject, count: Int)>) {
        let rest = Self.pieces(of: counts)
        piece = { rest()?.map { .commentCount($0.subject, $0.count) } }
    }

    /// Returns the next piece; nil after the last.
    public mutating func next() -> [ComponentEvent]? { piece() }

    private static func pieces<Element>(
        of sequence: any Sequence<Element>
    ) -> () -> [Element]? {
        var rest = sequence.makeIterator()
        return {
            var piece: [Element] = []
            while piece.count < length, let element = rest.next() { piece.append(element) }
            return piece.isEmpty ? nil : piece
        }
    }
}
