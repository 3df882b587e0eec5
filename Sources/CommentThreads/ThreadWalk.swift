import AtriumKit

/// A way through a part of a tree in pre-order, one comment at a time.
///
/// No step recurses, so that depth costs no stack.
struct ThreadWalk {
    /// A comment on the way.
    struct Stop {
        var node: CommentNode
        var depth: Int
    }

    let tree: ThreadTree
    let order: ThreadQuery.Order
    /// The comment whose replies are walked; nil: the whole tree of the subject.
    let root: CommentID?
    let subject: Subject
    /// The depth of the first level.
    let firstDepth: Int
    /// The greatest depth to go to.
    let lastDepth: Int

    /// The first comment of the way.
    var start: Stop? {
        first(in: root.map { .comment($0) } ?? .subject(subject), depth: firstDepth)
    }

    /// The comment after this one, or after all that is below it.
    func next(after stop: Stop, skippingReplies: Bool = false) -> Stop? {
        if !skippingReplies, stop.depth < lastDepth,
            let reply = first(in: .comment(stop.node.id), depth: stop.depth + 1)
        {
            return reply
        }
        var (node, depth) = (stop.node, stop.depth)
        while true {
            if let sibling = sibling(after: node) {
                return Stop(node: sibling, depth: depth)
            }
            guard let parent = node.parent, parent != root, let above = tree.node(parent) else {
                return nil
            }
            node = above
            depth -= 1
        }
    }

    /// The seen sibling that comes after, in the order of the way.
    func sibling(after node: CommentNode) -> CommentNode? {
        let (list, sibling) = (tree.list(node.place), Sibling(node))
        return (order == .oldest ? list?.next(after: sibling) : list?.next(before: sibling))?.node
    }

    /// The seen sibling that comes before, in the order of the way.
    func sibling(before node: CommentNode) -> CommentNode? {
        let (list, sibling) = (tree.list(node.place), Sibling(node))
        return (order == .oldest ? list?.next(before: sibling) : list?.next(after: sibling))?.node
    }

    private func first(in place: ThreadTree.Place, depth: Int) -> Stop? {
        let list = tree.list(place)
        return (order == .oldest ? list?.first : list?.last).map {
            Stop(node: $0.node, depth: depth)
        }
    }
}
