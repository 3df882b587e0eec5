/// Distinct elements in order, of which no change takes long, however many there are.
///
/// Sorting a million elements takes a third of a second, in which no call is served, and inserting into a sorted array
/// moves all elements behind. This type keeps sorted pieces of at most 512 elements: inserting finds the place in
/// logarithmic time and moves few others, in whatever order they come. Reading a page costs time proportional to the
/// page.
///
/// A copy shares its memory until one of both changes, and then one piece is copied at a time.
@frozen
public struct SplitOrder<Element: Comparable> {
    /// The maximum number of elements in a piece.
    @inlinable static var most: Int { 512 }
    /// The number of elements in pieces that are made from sorted elements, or split off at the end.
    @inlinable static var usual: Int { 448 }

    /// The pieces in order; none is empty.
    @usableFromInline var pieces: [[Element]] = []
    @usableFromInline var size = 0

    /// Creates an empty order.
    @inlinable
    public init() {}

    /// Creates an order of distinct elements that are few enough to be sorted at once.
    ///
    /// It takes the time of sorting them.
    @inlinable
    public init(sorting elements: some Sequence<Element>) {
        let sorted = elements.sorted()
        for start in stride(from: 0, to: sorted.count, by: Self.usual) {
            pieces.append(Array(sorted[start..<Swift.min(start + Self.usual, sorted.count)]))
        }
        size = sorted.count
    }

    /// The number of elements.
    @inlinable
    public var count: Int { size }

    /// Whether there are no elements.
    @inlinable
    public var isEmpty: Bool { size == 0 }

    /// The least element; nil if there is none.
    @inlinable
    public var first: Element? { pieces.first?.first }

    /// The greatest element; nil if there is none.
    @inlinable
    public var last: Element? { pieces.last?.last }

    /// Inserts an element.
    ///
    /// - Parameter element: the element.
    /// - Returns: true if it was not present before.
    @inlinable
    @discardableResult
    public mutating func insert(_ element: Element) -> Bool {
        guard let last, element < last else {
            if last == element { return false }
            if pieces.isEmpty { pieces.append([]) }
            pieces[pieces.count - 1].append(element)
            grow(pieces.count - 1)
            return true
        }
        let piece = piece(notBefore: element)
        let place = Self.place(notBefore: element, in: pieces[piece])
        guard pieces[piece][place] != element else { return false }
        pieces[piece].insert(element, at: place)
        grow(piece)
        return true
    }

    /// Removes an element.
    ///
    /// - Parameter element: the element.
    /// - Returns: true if it was present.
    @inlinable
    @discardableResult
    public mutating func remove(_ element: Element) -> Bool {
        let piece = piece(notBefore: element)
        guard piece < pieces.count else { return false }
        let place = Self.place(notBefore: element, in: pieces[piece])
        guard pieces[piece][place] == element else { return false }
        pieces[piece].remove(at: place)
        if pieces[piece].isEmpty { pieces.remove(at: piece) }
        size -= 1
        return true
    }

    /// Returns the least element greater than one, which need not be present; nil if there is none.
    @inlinable
    public func next(after element: Element) -> Element? {
        let piece = piece(notBefore: element)
        guard piece < pieces.count else { return nil }
        var place = Self.place(notBefore: element, in: pieces[piece])
        if pieces[piece][place] == element { place += 1 }
        if place < pieces[piece].count { return pieces[piece][place] }
        return piece + 1 < pieces.count ? pieces[piece + 1].first : nil
    }

    /// Returns the greatest element less than one, which need not be present; nil if there is none.
    @inlinable
    public func next(before element: Element) -> Element? {
        let piece = piece(notBefore: element)
        guard piece < pieces.count else { return last }
        let place = Self.place(notBefore: element, in: pieces[piece])
        if place > 0 { return pieces[piece][place - 1] }
        return piece > 0 ? pieces[piece - 1].last : nil
    }

    /// Returns the least elements greater than one.
    ///
    /// - Parameters:
    ///   - element: that one, which need not be present; nil: from the least on.
    ///   - limit: the maximum number of elements.
    /// - Returns: the elements, in order.
    @inlinable
    public func page(after element: Element?, limit: Int) -> [Element] {
        var (piece, place) = (0, 0)
        if let element {
            piece = self.piece(notBefore: element)
            guard piece < pieces.count else { return [] }
            place = Self.place(notBefore: element, in: pieces[piece])
            if pieces[piece][place] == element { place += 1 }
        }
        var page: [Element] = []
        while page.count < limit, piece < pieces.count {
            page += pieces[piece][place...].prefix(limit - page.count)
            (piece, place) = (piece + 1, 0)
        }
        return page
    }

    @inlinable
    mutating func grow(_ piece: Int) {
        size += 1
        guard pieces[piece].count > Self.most else { return }
        // Mostly the last piece fills up: it is left nearly full, because nothing is inserted before its end.
        let middle = piece == pieces.count - 1 ? Self.usual : Self.most / 2
        let tail = Array(pieces[piece][middle...])
        pieces[piece].removeSubrange(middle...)
        pieces.insert(tail, at: piece + 1)
    }

    /// Returns the index of the first piece that ends at an element or after it.
    @inlinable
    func piece(notBefore element: Element) -> Int {
        var (low, high) = (0, pieces.count)
        while low < high {
            let middle = (low + high) / 2
            if pieces[middle][pieces[middle].count - 1] < element {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    /// Returns the index of the first element that is not before another.
    @inlinable
    static func place(notBefore element: Element, in piece: [Element]) -> Int {
        var (low, high) = (0, piece.count)
        while low < high {
            let middle = (low + high) / 2
            if piece[middle] < element { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension SplitOrder: Sequence {
    /// Returns an iterator over all elements, in order.
    @inlinable
    public func makeIterator() -> FlattenSequence<[[Element]]>.Iterator {
        pieces.joined().makeIterator()
    }

    /// The number of elements.
    @inlinable
    public var underestimatedCount: Int { size }
}

extension SplitOrder: Sendable where Element: Sendable {}
