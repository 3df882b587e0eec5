import AtriumKit

/// All comments of a component, and what people see of them.
///
/// A comment is *seen* when it is shown, or when a reply to it is seen. Only seen comments stand in
/// the lists of siblings, so that a page costs what it holds. Replies hang on their parent's id
/// and not on the parent: they may come first, and wait in its list.
final class ThreadTree {
    /// What a list of siblings hangs on.
    enum Place: Hashable {
        case subject(Subject)
        case comment(String)
    }

    private struct Node {
        var comment: Comment
        // How deep it stands, if that was found out in the present epoch.
        var depth = 0
        var depthEpoch = -1
    }

    private struct Totals {
        var ids = SplitOrder<CommentKey>()
        var shown = 0
    }

    private var nodes = SplitDictionary<String, Node>()
    private var lists = SplitDictionary<Place, SiblingList>()
    private var totals = SplitDictionary<Subject, Totals>()
    /// The comments that wait for a moderator, in order.
    private(set) var pending = SiblingList()
    /// By subject those that only their authors are shown: they wait, or were removed with a reason.
    private var held = SplitDictionary<Subject, SiblingList>()
    // Depths are remembered; when a comment goes or moves, what hung on it may be wrong.
    private var depthEpoch = 0

    subscript(id: String) -> Comment? { nodes[id]?.comment }

    var counts: some Sequence<(subject: Subject, count: Int)> {
        totals.lazy.filter { $0.value.shown > 0 }.map { (subject: $0.key, count: $0.value.shown) }
    }

    func count(of subject: Subject) -> Int { totals[subject]?.shown ?? 0 }

    /// The ids of all comments on a subject after one, at most so many.
    func ids(about subject: Subject, after: String?, limit: Int) -> [String] {
        totals[subject]?.ids.page(after: after.map { CommentKey(id: $0) }, limit: limit).map(\.id)
            ?? []
    }

    /// The seen replies at a place.
    func list(_ place: Place) -> SiblingList? { lists[place] }

    /// A subject's comments that only their authors are shown, in order.
    func held(about subject: Subject) -> SiblingList? { held[subject] }

    /// Makes the comment under this id what it is now; nil: there is none.
    func replace(_ id: String, with comment: Comment?) {
        let before = nodes[id]?.comment
        let wasSeen = before.map(isSeen) ?? false
        count(before, by: -1)
        count(comment, by: 1)
        if let before { hold(before, false) }
        if let comment { hold(comment, true) }
        if let before, before.place != comment?.place { depthEpoch += 1 }
        if let comment {
            nodes.change(id, default: Node(comment: comment)) { $0.comment = comment }
        } else {
            nodes[id] = nil
        }
        let nowSeen = comment.map(isSeen) ?? false
        if let before, let comment, before.place == comment.place, before.key == comment.key {
            if wasSeen != nowSeen { setSeen(comment, nowSeen) }
        } else {
            if let before, wasSeen { setSeen(before, false) }
            if let comment, nowSeen { setSeen(comment, true) }
        }
    }

    /// How deep a comment stands: 0 on the subject itself, nil when it hangs on one that is not
    /// there.
    ///
    /// Remembered on the way, so that a chain costs its length once.
    func depth(of id: String) -> Int? {
        var path: [String] = []
        var current = id
        var depth = -1
        // A chain longer than there are comments is a ring, which only broken records make.
        while path.count <= nodes.count {
            guard let node = nodes[current] else { return nil }
            if node.depthEpoch == depthEpoch {
                depth = node.depth
                break
            }
            path.append(current)
            guard let parent = node.comment.parent else { break }
            current = parent
        }
        guard path.count <= nodes.count else { return nil }
        for id in path.reversed() {
            depth += 1
            guard let comment = nodes[id]?.comment else { continue }
            nodes.change(id, default: Node(comment: comment)) {
                ($0.depth, $0.depthEpoch) = (depth, depthEpoch)
            }
        }
        return depth
    }

    /// Whether people see the comment: it is shown, or a reply to it is seen.
    func isSeen(_ comment: Comment) -> Bool {
        comment.state == .shown || !(lists[.comment(comment.id)]?.isEmpty ?? true)
    }

    /// Puts the comment into its list or takes it out, and goes on with its parent as long as that
    /// is seen, or no longer, because of it.
    private func setSeen(_ comment: Comment, _ isSeen: Bool) {
        var comment = comment
        while true {
            let place = comment.place
            let wasEmpty = lists[place]?.isEmpty ?? true
            if isSeen {
                _ = lists.change(place, default: SiblingList()) { $0.insert(comment.key) }
            } else if !wasEmpty {
                let isEmpty = lists.change(place, default: SiblingList()) { list in
                    list.remove(comment.key)
                    return list.isEmpty
                }
                if isEmpty { lists[place] = nil }
            }
            let isEmpty = lists[place] == nil
            guard wasEmpty != isEmpty, let parent = comment.parent.flatMap({ nodes[$0]?.comment }),
                parent.state != .shown
            else { return }
            comment = parent
        }
    }

    private func hold(_ comment: Comment, _ isThere: Bool) {
        guard comment.isHeld else { return }
        // In place: a copy would be as long as all that wait.
        let isEmpty = held.change(comment.subject, default: SiblingList()) { list in
            if isThere { list.insert(comment.key) } else { list.remove(comment.key) }
            return list.isEmpty
        }
        if isEmpty { held[comment.subject] = nil }
        guard comment.state == .pending else { return }
        if isThere { pending.insert(comment.key) } else { pending.remove(comment.key) }
    }

    private func count(_ comment: Comment?, by step: Int) {
        guard let comment else { return }
        let subject = comment.subject
        let isEmpty = totals.change(subject, default: Totals()) { totals in
            let key = CommentKey(id: comment.id)
            if step > 0 { totals.ids.insert(key) } else { totals.ids.remove(key) }
            if comment.state == .shown { totals.shown += step }
            return totals.ids.isEmpty
        }
        if isEmpty { totals[subject] = nil }
    }
}

extension Comment {
    /// What its list of siblings hangs on.
    var place: ThreadTree.Place { parent.map { .comment($0) } ?? .subject(subject) }

    /// Whether its author alone is shown it: it waits for a moderator, or one removed it and said why.
    var isHeld: Bool { state == .pending || state == .removed && reason != nil }

    /// Where it stands among its siblings.
    var key: SiblingKey { SiblingKey(created: created, order: order, id: id) }
}
