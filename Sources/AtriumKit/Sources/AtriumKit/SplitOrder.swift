/// Elements in order, each once, of which no change takes long, however many there are.
///
/// Sorting a million elements takes a third of a second, in which nobody is served, and a sorted array moves all that
/// stands behind an element which is inserted. This one keeps sorted pieces of at most 512 elements: an element finds its
/// place in logarithmic time and moves few others, in whatever order they come. A page costs what it holds.
///
/// A copy shares its memory until one of both changes, and then a piece is copied at a time.
@frozen
public struct SplitOrder<Element: Comparable> {
    /// How many elements a piece has at most.
    @inlinable static var most: Int { 512 }
    /// How many elements pieces have that are made of sorted ones, and of a last one that fills up.
    @inlinable static var usual: Int { 448 }

    /// None of them is empty.
    @usableFromInline var pieces: [[Element]] = []
    @usableFromInline var size = 0

    /// Without elements.
    @inlinable
    public init() {}

    /// With elements that are few enough to be sorted at once; each is to stand once among them.
    ///
    /// It takes the time that sorting them takes.
    @inlinable
    public init(sorting elements: some Sequence<Element>) {
        let sorted = elements.sorted()
        for start in stride(from: 0, to: sorted.count, by: Self.usual) {
            pieces.append(Array(sorted[start..<Swift.min(start + Self.usual, sorted.count)]))
        }
        size = sorted.count
    }

    /// How many elements there are.
    @inlinable
    public var count: Int { size }

    /// Whether there are none.
    @inlinable
    public var isEmpty: Bool { size == 0 }

    /// The least element; nil: there is none.
    @inlinable
    public var first: Element? { pieces.first?.first }

    /// The greatest element; nil: there is none.
    @inlinable
    public var last: Element? { pieces.last?.last }

    /// Inserts an element.
    ///
    /// - Parameter element: the element.
    /// - Returns: whether it was not there.
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
    /// - Returns: whether it was there.
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

    /// The least element that is greater than one, whether that one is there or not; nil: there is none.
    @inlinable
    public func next(after element: Element) -> Element? {
        let piece = piece(notBefore: element)
        guard piece < pieces.count else { return nil }
        var place = Self.place(notBefore: element, in: pieces[piece])
        if pieces[piece][place] == element { place += 1 }
        if place < pieces[piece].count { return pieces[piece][place] }
        return piece + 1 < pieces.count ? pieces[piece + 1].first : nil
    }

    /// The greatest element that is less than one, whether that one is there or not; nil: there is none.
    @inlinable
    public func next(before element: Element) -> Element? {
        let piece = piece(notBefore: element)
        guard piece < pieces.count else { return last }
        let place = Self.place(notBefore: element, in: pieces[piece])
        if place > 0 { return pieces[piece][place - 1] }
        return piece > 0 ? pieces[piece - 1].last : nil
    }

    /// The least elements that are greater than one.
    ///
    /// - Parameters:
    ///   - element: that one, whether it is there or not; nil: from the least on.
    ///   - limit: at most so many.
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
        // Mostly the last one fills up: it is left nearly full, as nothing comes before its end.
        let middle = piece == pieces.count - 1 ? Self.usual : Self.most / 2
        let tail = Array(pieces[piece][middle...])
        pieces[piece].removeSubrange(middle...)
        pieces.insert(tail, at: piece + 1)
    }

    /// The first piece that ends at an element or after it.
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

    /// Where the first element stands that is not before another.
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
    /// All elements, in order.
    @inlinable
    public func makeIterator() -> FlattenSequence<[[Element]]>.Iterator {
        pieces.joined().makeIterator()
    }

    /// How many elements there are.
    @inlinable
    public var underestimatedCount: Int { size }
}

extension SplitOrder: Sendable where Element: Sendable {}
