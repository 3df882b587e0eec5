import AtriumKit

/// All comments of a component, and those of them that everyone sees.
///
/// A comment is *seen* when it is shown, or when a reply to it is seen. Only seen comments are in the lists of
/// siblings, so that the cost of a page is that of its comments. Replies belong to their parent's id and not to the
/// parent: they may come first, and wait in the id's list.
final class ThreadTree {
    /// The parent of a list of siblings.
    enum Place: Hashable {
        case subject(Subject)
        case comment(CommentID)
    }

    private struct Totals {
        /// The subject as all nodes have it.
        let subject: SharedSubject
        var ids = SplitOrder<CommentID>()
        var shown = 0
    }

    private let nodes = CommentTable()
    private var lists = SplitDictionary<Place, SiblingList>()
    private var totals = SplitDictionary<Subject, Totals>()
    /// The comments that wait for a moderator, in order.
    private(set) var pending = SiblingList()
    /// The comments that only their authors see, by subject: they wait, or were removed with a reason.
    private var held = SplitDictionary<Subject, SiblingList>()
    // Depths are remembered; when a comment goes or moves, what hung on it may be wrong.
    private var depthEpoch: Int32 = 0

    /// The comment with an id; nil: there is none.
    subscript(id: String) -> Comment? { node(id)?.comment }

    func node(_ id: String) -> CommentNode? { nodes[.make(id)] }

    func node(_ id: CommentID) -> CommentNode? { nodes[id] }

    var counts: some Sequence<(subject: Subject, count: Int)> {
        totals.lazy.filter { $0.value.shown > 0 }.map { (subject: $0.key, count: $0.value.shown) }
    }

    func count(of subject: Subject) -> Int { totals[subject]?.shown ?? 0 }

    /// Returns the ids of the comments on a subject after one, at most `limit`.
    func ids(about subject: Subject, after: String?, limit: Int) -> [String] {
        totals[subject]?.ids.page(after: after.map(CommentID.make), limit: limit).map(\.text) ?? []
    }

    /// The seen replies at a place.
    func list(_ place: Place) -> SiblingList? { lists[place] }

    /// The number of replies to a comment that people see.
    func replyCount(of node: CommentNode) -> Int { lists[.comment(node.id)]?.count ?? 0 }

    /// A subject's comments that only their authors are shown, in order.
    func held(about subject: Subject) -> SiblingList? { held[subject] }

    /// Makes room for about this many comments.
    func reserve(_ count: Int) { nodes.reserve(count) }

    /// Replaces or removes the comment with an id, and returns the one before, if there was one.
    @discardableResult
    func replace(_ id: String, with comment: Comment?) -> CommentNode? {
        let id = CommentID.make(id)
        let after = comment.map { comment in
            CommentNode.make(
                comment, id: id,
                parent: comment.parent.map(CommentID.make).map { nodes[$0]?.id ?? $0 },
                subject: add(comment, id))
        }
        let before = after.map { nodes.update($0) } ?? nodes.remove(id)
        if let before {
            remove(before, isReplaced: before.subject == after?.subject)
            hold(before, false)
            if before.place != after?.place {
                depthEpoch += 1
            } else {
                after?.header.depth = before.header.depth
            }
        }
        if let after { hold(after, true) }
        let wasSeen = before.map(isSeen) ?? false
        let nowSeen = after.map(isSeen) ?? false
        if let before, let after, before.place == after.place, Sibling(before) == Sibling(after) {
            if wasSeen != nowSeen {
                setSeen(nowSeen ? after : before, nowSeen)
            } else if wasSeen {
                lists.change(after.place, default: SiblingList()) {
                    $0.remove(Sibling(before))
                    $0.insert(Sibling(after))
                }
            }
        } else {
            if let before, wasSeen { setSeen(before, false) }
            if let after, nowSeen { setSeen(after, true) }
        }
        return before
    }

    /// Returns the depth of a comment: 0 on the subject itself; nil if one of its ancestors does not exist.
    ///
    /// The depths of the ancestors are remembered, so the cost of a chain is its length, once.
    func depth(of node: CommentNode) -> Int? {
        // Most are on the subject itself.
        if node.parent == nil { return 0 }
        var path: [CommentNode] = []
        var current = node
        var depth: Int32 = -1
        while true {
            if current.header.depth.epoch == depthEpoch {
                depth = current.header.depth.level
                break
            }
            // A chain longer than there are comments is a ring, which only broken records make.
            guard path.count < nodes.count else { return nil }
            path.append(current)
            guard let parent = current.parent else { break }
            guard let above = nodes[parent] else { return nil }
            current = above
        }
        for node in path.reversed() {
            depth += 1
            node.header.depth = (depth, depthEpoch)
        }
        return Int(depth)
    }

    /// Whether people see the comment: it is shown, or a reply to it is seen.
    func isSeen(_ node: CommentNode) -> Bool {
        node.state == .shown || !(lists[.comment(node.id)]?.isEmpty ?? true)
    }

    /// Adds the comment to its list or removes it, and continues with its parent as long as that changes whether the
    /// parent is seen.
    private func setSeen(_ node: CommentNode, _ isSeen: Bool) {
        var node = node
        while true {
            let place = node.place
            let (wasEmpty, isEmpty) = lists.change(place, default: SiblingList()) { list in
                let wasEmpty = list.isEmpty
                if isSeen { list.insert(Sibling(node)) } else { list.remove(Sibling(node)) }
                return (wasEmpty, list.isEmpty)
            }
            if isEmpty { lists[place] = nil }
            guard wasEmpty != isEmpty, let parent = node.parent.flatMap({ nodes[$0] }),
                parent.state != .shown
            else { return }
            node = parent
        }
    }

    private func hold(_ node: CommentNode, _ isThere: Bool) {
        guard node.isHeld else { return }
        let sibling = Sibling(node)
        // In place: a copy would be as long as all that wait.
        let isEmpty = held.change(node.subject, default: SiblingList()) { list in
            if isThere { list.insert(sibling) } else { list.remove(sibling) }
            return list.isEmpty
        }
        if isEmpty { held[node.subject] = nil }
        guard node.state == .pending else { return }
        if isThere { pending.insert(sibling) } else { pending.remove(sibling) }
    }

    /// Counts a comment; returns its subject, as all nodes have it.
    private func add(_ comment: Comment, _ id: CommentID) -> SharedSubject {
        let subject = comment.subject
        return totals.change(subject, default: Totals(subject: SharedSubject(subject))) { totals in
            totals.ids.insert(id)
            if comment.state == .shown { totals.shown += 1 }
            return totals.subject
        }
    }

    /// Counts a comment no longer; one that is replaced has its id counted on the same subject.
    private func remove(_ node: CommentNode, isReplaced: Bool) {
        let subject = node.subject
        let isEmpty = totals.change(
            subject, default: Totals(subject: SharedSubject(subject))
        ) { totals in
            if !isReplaced { totals.ids.remove(node.id) }
            if node.state == .shown { totals.shown -= 1 }
            return totals.ids.isEmpty
        }
        if isEmpty { totals[subject] = nil }
    }
}
