import AtriumKit

/// A way through a part of a tree in pre-order, one comment at a time.
///
/// No step recurses, so that depth costs no stack.
struct ThreadWalk {
    /// A comment on the way.
    struct Stop {
        var comment: Comment
        var depth: Int
    }

    let tree: ThreadTree
    let order: ThreadQuery.Order
    /// Below which comment; nil: the whole tree of the subject.
    let root: String?
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
            let reply = first(in: .comment(stop.comment.id), depth: stop.depth + 1)
        {
            return reply
        }
        var (comment, depth) = (stop.comment, stop.depth)
        while true {
            if let sibling = sibling(after: comment) {
                return Stop(comment: sibling, depth: depth)
            }
            guard let parent = comment.parent, parent != root, let above = tree[parent] else {
                return nil
            }
            comment = above
            depth -= 1
        }
    }

    /// The seen sibling that comes after, in the order of the way.
    func sibling(after comment: Comment) -> Comment? {
        let list = tree.list(comment.place)
        let key =
            order == .oldest
            ? list?.next(after: comment.key) : list?.next(before: comment.key)
        return key.flatMap { tree[$0.id] }
    }

    /// The seen sibling that comes before, in the order of the way.
    func sibling(before comment: Comment) -> Comment? {
        let list = tree.list(comment.place)
        let key =
            order == .oldest
            ? list?.next(before: comment.key) : list?.next(after: comment.key)
        return key.flatMap { tree[$0.id] }
    }

    private func first(in place: ThreadTree.Place, depth: Int) -> Stop? {
        let list = tree.list(place)
        let key = order == .oldest ? list?.first : list?.last
        return key.flatMap { tree[$0.id] }.map { Stop(comment: $0, depth: depth) }
    }
}
