import AtriumKit

/// The comments by id: hash tables with open addressing, at most four fifths full.
///
/// A table has half of the hash of each id and not the id itself: finding a place, and moving to a bigger table, read
/// no other piece of memory. A place takes twelve bytes; one of a dictionary takes 16, and more of them are free.
///
/// With many comments there are many tables, each of which grows by itself: with millions of comments, growth in one
/// piece would take a tenth of a second.
struct CommentTable {
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

    /// Creates a table without comments.
    ///
    /// - Parameter hash: the hash of an id; tests have worse ones.
    init(hash: @escaping (CommentID) -> Int = { $0.hashValue }) { self.hash = hash }

    /// The comment with an id; nil: there is none.
    subscript(id: CommentID) -> CommentNode? {
        let hash = shortHash(of: id)
        return tables[Int(hash >> shift)].node(id, hash)
    }

    /// Puts a comment in place of the one with its id.
    ///
    /// - Returns: the one before; nil: there was none.
    mutating func update(_ node: CommentNode) -> CommentNode? {
        let hash = shortHash(of: node.id)
        let previous = tables[Int(hash >> shift)].update(node, hash)
        guard previous == nil else { return previous }
        count += 1
        if count > Self.whole, tables.count == 1 { split() }
        return nil
    }

    /// Removes the comment with an id.
    ///
    /// - Returns: the comment; nil: there was none.
    mutating func remove(_ id: CommentID) -> CommentNode? {
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

    private mutating func split() {
        var all = tables[0]
        tables = ContiguousArray(repeating: Table(), count: 1 << Int(Self.bits))
        shift = UInt32(UInt32.bitWidth) - Self.bits
        all.takeAll { node, hash in tables[Int(hash >> shift)].insert(node, hash) }
    }
}

/// One table of open addresses, of any size.
private struct Table {
    /// The bits of a hash by which a comment has its place; those above choose the table.
    private static let bits: UInt64 = 22

    /// 0 is a free place.
    private var hashes: ContiguousArray<UInt32> = [0, 0, 0, 0]
    private var nodes: ContiguousArray<CommentNode?> = [nil, nil, nil, nil]
    private var count = 0

    func node(_ id: CommentID, _ hash: UInt32) -> CommentNode? {
        place(of: id, hash).flatMap { nodes[$0] }
    }

    mutating func update(_ node: CommentNode, _ hash: UInt32) -> CommentNode? {
        guard let place = place(of: node.id, hash) else {
            insert(node, hash)
            return nil
        }
        defer { nodes[place] = node }
        return nodes[place]
    }

    /// Inserts a comment, which must not be in it.
    mutating func insert(_ node: consuming CommentNode?, _ hash: UInt32) {
        count += 1
        if count * 5 > hashes.count * 4 { grow() }
        put(node, hash)
    }

    mutating func remove(_ id: CommentID, _ hash: UInt32) -> CommentNode? {
        guard var hole = place(of: id, hash) else { return nil }
        count -= 1
        let removed = nodes[hole].take()
        // What follows moves up, unless that were before where its hash points: no place is lost.
        var place = next(hole)
        while hashes[place] != 0 {
            if distance(home(hashes[place]), place) >= distance(hole, place) {
                hashes[hole] = hashes[place]
                nodes[hole] = nodes[place].take()
                hole = place
            }
            place = next(place)
        }
        hashes[hole] = 0
        return removed
    }

    /// Removes all comments, and calls the body with each.
    mutating func takeAll(_ body: (consuming CommentNode?, UInt32) -> Void) {
        for place in hashes.indices where hashes[place] != 0 {
            // Moved, not copied: nobody looks at the comment itself.
            body(nodes[place].take(), hashes[place])
        }
        self = Table()
    }

    private mutating func grow() {
        var old = self
        let size = hashes.count + hashes.count / 2
        hashes = ContiguousArray(repeating: 0, count: size)
        nodes = ContiguousArray(repeating: nil, count: size)
        old.takeAll { put($0, $1) }
    }

    private mutating func put(_ node: consuming CommentNode?, _ hash: UInt32) {
        var place = home(hash)
        while hashes[place] != 0 { place = next(place) }
        hashes[place] = hash
        nodes[place] = node
    }

    private func place(of id: CommentID, _ hash: UInt32) -> Int? {
        var place = home(hash)
        while hashes[place] != 0 {
            if hashes[place] == hash, nodes[place]?.id == id { return place }
            place = next(place)
        }
        return nil
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
