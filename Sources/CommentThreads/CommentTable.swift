/// The comments by id: hash tables with open addressing, at most four fifths full.
///
/// A table has half of the hash of each id and not the id itself: finding a place, and moving to a bigger table, read
/// no other piece of memory. A place takes twelve bytes; one of a dictionary takes 16, and more of them are free.
///
/// With many comments there are many tables, each of which grows by itself: with millions of comments, growth in one
/// piece would take a tenth of a second.
final class CommentTable {
    /// The maximum number of comments in one table before there are many tables.
    private static let whole = 8_192
    /// The number of the hash's highest bits that select a comment's table, once there are many tables.
    private static let bits: UInt32 = 10

    /// One, or one for each of these bits' values.
    private var tables: ContiguousArray<Table> = [Table()]
    /// The number of bits by which a hash is shifted to get the index of its table; as many as the hash has: there is
    /// one table.
    private var shift = UInt32(UInt32.bitWidth)
    private(set) var count = 0
    private let hash: (CommentID) -> Int

    /// Creates a table without comments; tests have worse hashes.
    init(hash: @escaping (CommentID) -> Int = { $0.hashValue }) { self.hash = hash }

    /// The comment with an id; nil: there is none.
    subscript(id: CommentID) -> CommentNode? {
        let hash = shortHash(of: id)
        return tables[Int(hash >> shift)].node(id, hash)
    }

    /// Chooses the size of tables for about this many comments.
    ///
    /// A table then takes its memory at once, with its first few comments, and not by growing.
    func reserve(_ expected: Int) {
        guard expected > Self.whole else { return tables[0].reserve(expected) }
        if tables.count == 1 { split() }
        let mean = Double(expected >> Int(Self.bits))
        // Of a thousand tables one or two have more: hashes are spread at random.
        for table in tables { table.reserve(Int(mean + 3 * mean.squareRoot())) }
    }

    /// Puts a comment in place of the one with its id, which is returned.
    func update(_ node: CommentNode) -> CommentNode? {
        let hash = shortHash(of: node.id)
        let previous = tables[Int(hash >> shift)].update(node, hash)
        guard previous == nil else { return previous }
        count += 1
        if count > Self.whole, tables.count == 1 { split() }
        return nil
    }

    /// Removes and returns the comment with an id, if there is one.
    func remove(_ id: CommentID) -> CommentNode? {
        let hash = shortHash(of: id)
        let removed = tables[Int(hash >> shift)].remove(id, hash)
        if removed != nil { count -= 1 }
        return removed
    }

    /// Returns the hash of an id for its table; never 0, which marks a free place.
    private func shortHash(of id: CommentID) -> UInt32 {
        let hash = hash(id)
        return UInt32(truncatingIfNeeded: hash ^ hash >> 32) | 1
    }

    private func split() {
        let all = tables[0]
        tables = ContiguousArray((0..<1 << Int(Self.bits)).map { _ in Table() })
        shift = UInt32(UInt32.bitWidth) - Self.bits
        all.moveAll { node, hash in tables[Int(hash >> shift)].insert(node, hash) }
    }
}

/// One table of open addresses, of any size.
///
/// It holds a reference to each of its comments, and releases them at its end. They are unmanaged, because the table
/// moves many of them when it grows: counting references would read each comment's memory.
private final class Table {
    /// The bits of a hash by which a comment has its place; those above choose the table.
    private static let bits: UInt64 = 22
    /// The first number of places.
    private static let start = 4

    /// 0 is a free place.
    private var hashes = ContiguousArray<UInt32>(repeating: 0, count: Table.start)
    private var nodes = ContiguousArray<Unmanaged<CommentNode>?>(repeating: nil, count: Table.start)
    private var count = 0
    /// The number of places to which it grows at once.
    private var expected = 0

    deinit {
        for node in nodes { node?.release() }
    }

    /// Makes it grow to the size for so many comments at once.
    func reserve(_ comments: Int) { expected = Self.places(for: comments) }

    func node(_ id: CommentID, _ hash: UInt32) -> CommentNode? {
        let place = place(of: id, hash)
        return hashes[place] == 0 ? nil : nodes[place]?.takeUnretainedValue()
    }

    /// Puts a comment in place of the one with its id, and returns that.
    func update(_ node: CommentNode, _ hash: UInt32) -> CommentNode? {
        let place = place(of: node.id, hash)
        guard hashes[place] == 0 else {
            let previous = nodes[place]?.takeRetainedValue()
            nodes[place] = .passRetained(node)
            return previous
        }
        count += 1
        if Self.places(for: count) > hashes.count {
            grow()
            put(.passRetained(node), hash)
        } else {
            hashes[place] = hash
            nodes[place] = .passRetained(node)
        }
        return nil
    }

    /// Inserts a comment, which must not be in it, with the reference to it.
    func insert(_ node: Unmanaged<CommentNode>?, _ hash: UInt32) {
        count += 1
        if Self.places(for: count) > hashes.count { grow() }
        put(node, hash)
    }

    func remove(_ id: CommentID, _ hash: UInt32) -> CommentNode? {
        var hole = place(of: id, hash)
        guard hashes[hole] != 0 else { return nil }
        count -= 1
        let removed = nodes[hole]?.takeRetainedValue()
        // What follows moves up, unless that were before where its hash points: no place is lost.
        var place = next(hole)
        while hashes[place] != 0 {
            if distance(home(hashes[place]), place) >= distance(hole, place) {
                hashes[hole] = hashes[place]
                nodes[hole] = nodes[place]
                hole = place
            }
            place = next(place)
        }
        hashes[hole] = 0
        nodes[hole] = nil
        return removed
    }

    /// Removes all comments, and passes each to the body with the reference to it.
    func moveAll(_ body: (Unmanaged<CommentNode>?, UInt32) -> Void) {
        let (hashes, nodes) = (hashes, nodes)
        self.hashes = ContiguousArray(repeating: 0, count: Self.start)
        self.nodes = ContiguousArray(repeating: nil, count: Self.start)
        count = 0
        for place in hashes.indices where hashes[place] != 0 { body(nodes[place], hashes[place]) }
    }

    private func grow() {
        let (hashes, nodes) = (hashes, nodes)
        let size = max(hashes.count + hashes.count / 2, expected)
        self.hashes = ContiguousArray(repeating: 0, count: size)
        self.nodes = ContiguousArray(repeating: nil, count: size)
        for place in hashes.indices where hashes[place] != 0 { put(nodes[place], hashes[place]) }
    }

    /// The fewest places for so many comments: at most four fifths are taken.
    private static func places(for comments: Int) -> Int { (comments * 5 + 3) / 4 }

    private func put(_ node: Unmanaged<CommentNode>?, _ hash: UInt32) {
        var place = home(hash)
        while hashes[place] != 0 { place = next(place) }
        hashes[place] = hash
        nodes[place] = node
    }

    /// Returns the place of the comment with an id; without one, the free place where it would be.
    private func place(of id: CommentID, _ hash: UInt32) -> Int {
        var place = home(hash)
        while hashes[place] != 0 {
            if hashes[place] == hash,
                nodes[place]?._withUnsafeGuaranteedRef({ $0.id == id }) == true
            {
                break
            }
            place = next(place)
        }
        return place
    }

    /// Returns the first place for a hash.
    private func home(_ hash: UInt32) -> Int {
        let part = UInt64(hash) & (1 << Self.bits - 1)
        return Int((part * UInt64(hashes.count)) >> Self.bits)
    }

    private func next(_ place: Int) -> Int { place + 1 == hashes.count ? 0 : place + 1 }

    /// Returns the distance from a place to another one, going up and around the end.
    private func distance(_ place: Int, _ other: Int) -> Int {
        other >= place ? other - place : other - place + hashes.count
    }
}
