import AtriumKit

/// The comments by id.
///
/// It has the hash of each id and not the id itself: finding a place in it, and moving to a bigger one, looks at no
/// other piece of memory. Ids with the same hash are extremely rare, and kept apart.
struct CommentTable {
    private var nodes = SplitDictionary<Int, CommentNode>()
    /// The comments whose hash is also that of another id, which ``nodes`` has.
    private var others: [CommentID: CommentNode] = [:]
    private let hash: (CommentID) -> Int

    /// Without comments.
    ///
    /// - Parameter hash: the hash of an id; tests have worse ones.
    init(hash: @escaping (CommentID) -> Int = { $0.hashValue }) { self.hash = hash }

    var count: Int { nodes.count + others.count }

    /// The comment with an id; nil: there is none.
    subscript(id: CommentID) -> CommentNode? {
        guard let node = nodes[hash(id)] else { return nil }
        return node.id == id ? node : others[id]
    }

    /// Puts a comment in place of the one with its id.
    ///
    /// - Returns: the one before; nil: there was none.
    mutating func update(_ node: CommentNode) -> CommentNode? {
        let hash = hash(node.id)
        guard let previous = nodes.updateValue(node, forKey: hash) else { return nil }
        guard previous.id != node.id else { return previous }
        nodes[hash] = previous
        return others.updateValue(node, forKey: node.id)
    }

    /// Takes out the comment with an id.
    ///
    /// - Returns: the comment; nil: there was none.
    mutating func remove(_ id: CommentID) -> CommentNode? {
        let hash = hash(id)
        guard let node = nodes[hash] else { return nil }
        guard node.id == id else { return others.removeValue(forKey: id) }
        let next = others.values.first { self.hash($0.id) == hash }
        if let next { others[next.id] = nil }
        nodes[hash] = next
        return node
    }
}
