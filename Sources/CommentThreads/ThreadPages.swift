public import AtriumKit

extension ThreadedComments {
    /// The bytes of texts after which a page ends, whatever its limit: more would take the host's loop too long.
    public static var pageBytes: Int { 1 << 20 }

    /// A comment with its place in the tree; nil when there is none.
    ///
    /// A deleted one has neither text nor author.
    public func entry(_ id: String) -> ThreadPage.Entry? {
        guard let node = tree.node(id) else { return nil }
        let comment = node.comment
        return ThreadPage.Entry(
            comment: comment.state == .removed ? comment.asTombstone : comment,
            depth: tree.depth(of: node) ?? 0, replies: tree.replyCount(of: node))
    }

    /// Returns a page of a tree, in pre-order; it ends early after ``pageBytes`` bytes of texts.
    ///
    /// A comment whose replies the page leaves out, for their depth or for its limit, has a cursor to the first of
    /// them; with that cursor, depth counts from that comment.
    ///
    /// - Parameter query: the subject and the part of its tree; a cursor's order and root take precedence over the
    ///   query's.
    /// - Returns: the page, with a cursor to the next one.
    /// - Throws: a ``Refusal`` for a root that does not exist, an invalid limit or depth, or a cursor of another
    ///   subject or of a comment that is gone.
    public func thread(_ query: ThreadQuery) throws(Refusal) -> ThreadPage {
        try check(query)
        var cursor: ThreadCursor?
        if let text = query.cursor {
            guard let parsed = ThreadCursor(text) else { throw cursorInvalid("is damaged") }
            cursor = parsed
        }
        let walk = try walk(query, cursor)
        var stop = walk.start
        if let cursor, cursor.step != .first {
            let after = try position(cursor.after, in: walk)
            stop = walk.next(after: after, skippingReplies: cursor.step == .skip)
        }
        var page = ThreadPage(entries: [], total: tree.count(of: query.subject))
        var bytes = 0
        while let current = stop, page.entries.count < query.limit, bytes < Self.pageBytes {
            let entry = entry(at: current, on: walk)
            bytes += entry.comment.text?.utf8.count ?? 0
            page.entries.append(entry)
            stop = walk.next(after: current)
        }
        if let stop { cut(&page, before: stop, on: walk) }
        if query.tellsHeld { page.held = held(about: query.subject) }
        return page
    }

    private func check(_ query: ThreadQuery) throws(Refusal) {
        if query.limit < 1 {
            throw Refusal(
                .limitExceeded, "A page holds 1 comment at least; the limit is \(query.limit).",
                evidence: ["limit": "limit", "value": "1"])
        }
        if let depth = query.depth, depth < 0 {
            throw Refusal(
                .limitExceeded, "The depth is 0 (the first level alone) or more, not \(depth).",
                evidence: ["limit": "depth", "value": "0"])
        }
    }

    private func walk(
        _ query: ThreadQuery, _ cursor: ThreadCursor?
    ) throws(Refusal) -> ThreadWalk {
        let root = cursor.map(\.root) ?? query.root
        var firstDepth = 0
        if let root {
            guard let node = tree.node(root), node.subject == query.subject,
                let depth = tree.depth(of: node)
            else {
                if cursor != nil { throw cursorInvalid("is of another thread") }
                throw Refusal(
                    .commentNotFound, "There is no comment '\(root)' on this subject.",
                    evidence: ["comment": root])
            }
            firstDepth = depth + 1
        }
        let (lastDepth, isDeeper) = firstDepth.addingReportingOverflow(query.depth ?? .max)
        return ThreadWalk(
            tree: tree, order: cursor?.order ?? query.order, root: root.map(CommentID.make),
            subject: query.subject,
            firstDepth: firstDepth, lastDepth: isDeeper ? .max : lastDepth)
    }

    /// Returns the comment after which a cursor continues, if it is in the walk.
    private func position(_ id: String, in walk: ThreadWalk) throws(Refusal) -> ThreadWalk.Stop {
        guard let node = tree.node(id), node.subject == walk.subject,
            let depth = tree.depth(of: node), depth >= walk.firstDepth
        else { throw cursorInvalid("names a comment that is gone") }
        if let root = walk.root {
            var above = node
            for _ in walk.firstDepth..<depth {
                if let parent = above.parent.flatMap({ tree.node($0) }) { above = parent }
            }
            guard above.parent == root else { throw cursorInvalid("is of another thread") }
        }
        return ThreadWalk.Stop(node: node, depth: depth)
    }

    private func entry(at stop: ThreadWalk.Stop, on walk: ThreadWalk) -> ThreadPage.Entry {
        let comment = stop.node.comment
        let replies = tree.replyCount(of: stop.node)
        var more: String?
        if stop.depth >= walk.lastDepth, replies > 0 {
            more = ThreadCursor(order: walk.order, root: comment.id, step: .first).text
        }
        var seen = comment
        if comment.state != .shown {
            // Its place alone is seen, for the sake of its replies.
            seen = comment.asTombstone
            seen.state = comment.state
        }
        return ThreadPage.Entry(
            comment: seen, depth: stop.depth, replies: replies, more: more)
    }

    /// Sets the cursor of the next page, and the cursors of this page's comments that have further replies.
    private func cut(_ page: inout ThreadPage, before stop: ThreadWalk.Stop, on walk: ThreadWalk) {
        guard let last = page.entries.last?.comment.id else { return }
        let order = walk.order
        page.next =
            ThreadCursor(order: order, root: walk.root?.text, step: .enter, after: last).text
        var places: [String: Int] = [:]
        for (index, entry) in page.entries.enumerated() { places[entry.comment.id] = index }
        var child = stop.node
        var previous = walk.sibling(before: child)
        while let parent = child.parent, let place = places[parent.text] {
            let root = parent.text
            let cursor =
                previous.map {
                    ThreadCursor(order: order, root: root, step: .skip, after: $0.id.text)
                } ?? ThreadCursor(order: order, root: root, step: .first)
            if child.id == stop.node.id || walk.sibling(after: child) != nil {
                page.entries[place].more = cursor.text
            }
            guard let above = tree.node(parent) else { return }
            child = above
            previous = above
        }
    }
}

private func cursorInvalid(_ reason: String) -> Refusal {
    Refusal(.cursorInvalid, "The cursor \(reason); start again without one.")
}
