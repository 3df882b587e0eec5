/// Elements in pieces of the same length: one that grows to millions is never copied as a whole.
public struct Pieces<Element>: RandomAccessCollection {
    /// How many elements a piece has.
    private static var length: Int { 1_024 }

    private var pieces: [[Element]] = []

    /// None.
    public init() {}

    /// 0.
    public var startIndex: Int { 0 }

    /// How many there are.
    public var endIndex: Int {
        pieces.isEmpty ? 0 : (pieces.count - 1) * Self.length + pieces[pieces.count - 1].count
    }

    /// The element at a place.
    public subscript(place: Int) -> Element {
        pieces[place / Self.length][place % Self.length]
    }

    /// Puts an element at the end.
    public mutating func append(_ element: Element) {
        if pieces.isEmpty || pieces[pieces.count - 1].count == Self.length {
            pieces.append([])
        }
        pieces[pieces.count - 1].append(element)
    }

    /// Puts elements at the end, in order.
    public mutating func append(contentsOf elements: some Sequence<Element>) {
        for element in elements { append(element) }
    }
}

extension Pieces: Sendable where Element: Sendable {}
