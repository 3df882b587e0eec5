/// A list in pieces of the same length, so that one that grows to millions is never copied as a whole.
public struct Pieces<Element>: RandomAccessCollection {
    /// How many elements a piece has.
    private static var length: Int { 1_024 }

    private var pieces: [[Element]] = []

    /// Makes an empty list.
    public init() {}

    /// 0.
    public var startIndex: Int { 0 }

    /// The number of elements.
    public var endIndex: Int {
        pieces.isEmpty ? 0 : (pieces.count - 1) * Self.length + pieces[pieces.count - 1].count
    }

    /// The element at an index.
    public subscript(place: Int) -> Element {
        pieces[place / Self.length][place % Self.length]
    }

    /// Appends an element.
    public mutating func append(_ element: Element) {
        if pieces.isEmpty || pieces[pieces.count - 1].count == Self.length {
            pieces.append([])
        }
        pieces[pieces.count - 1].append(element)
    }

    /// Appends elements in order.
    public mutating func append(contentsOf elements: some Sequence<Element>) {
        for element in elements { append(element) }
    }
}

extension Pieces: Sendable where Element: Sendable {}
