public import AtriumKit

// Comments that wait for a moderator, or that one removed and said why.
extension ThreadedComments {
    /// The number of a subject's held comments that are searched, from the last.
    ///
    /// A user who floods a moderated subject costs its readers no more than this.
    private static let mostHeld = 300

    /// Returns a page of the comments that wait for a moderator, oldest first.
    ///
    /// The cursor names a place, so it stays valid if the comment there was approved meanwhile.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of comments, at least 1.
    ///   - cursor: the `next` of the page before; nil: from the first.
    /// - Returns: the page; its total is the number of comments that wait.
    /// - Throws: a ``Refusal`` for a limit below 1, or a damaged cursor.
    public func pending(limit: Int, cursor: String?) throws(Refusal) -> ThreadPage {
        guard limit >= 1 else {
            throw Refusal(
                .limitExceeded, "A page holds 1 comment at least; the limit is \(limit).",
                evidence: ["limit": "limit", "value": "1"])
        }
        var next = tree.pending.first
        if let cursor {
            guard let place = Sibling(cursor: cursor) else {
                throw Refusal(
                    .cursorInvalid, "The cursor is damaged; start again without one.")
            }
            next = tree.pending.next(after: place)
        }
        var page = ThreadPage(entries: [], total: tree.pending.count)
        var last: Sibling?
        while let sibling = next, page.entries.count < limit {
            page.entries.append(heldEntry(sibling.node))
            last = sibling
            next = tree.pending.next(after: sibling)
        }
        if next != nil { page.next = last?.cursor }
        return page
    }

    /// A subject's held comments, of each author the last, oldest first.
    func held(about subject: Subject) -> [ThreadPage.Entry] {
        guard let list = tree.held(about: subject) else { return [] }
        var entries: [ThreadPage.Entry] = []
        var counts: [ActorID?: Int] = [:]
        var next = list.last
        var looked = 0
        while let sibling = next, looked < Self.mostHeld {
            looked += 1
            next = list.next(before: sibling)
            let entry = heldEntry(sibling.node)
            let count = counts[entry.comment.author, default: 0]
            guard count < ThreadPage.heldOfEach else { continue }
            counts[entry.comment.author] = count + 1
            entries.append(entry)
        }
        return entries.reversed()
    }

    /// Returns the comment as an entry of a page, with all that its record has, including the author.
    private func heldEntry(_ node: CommentNode) -> ThreadPage.Entry {
        ThreadPage.Entry(
            comment: node.comment, depth: tree.depth(of: node) ?? 0,
            replies: tree.replyCount(of: node))
    }
}

extension Sibling {
    /// The place as a text: time, order, id.
    fileprivate var cursor: String {
        let facts = node.header
        return "\(facts.created.milliseconds).\(facts.order).\(facts.id.text)"
    }

    /// Parses the place of a cursor, whether or not a comment is there.
    fileprivate init?(cursor: String) {
        let parts = cursor.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let created = Int64(parts[0]), let order = Int64(parts[1]),
            !parts[2].isEmpty
        else { return nil }
        let comment = Comment(
            id: String(parts[2]), subject: .container, parent: nil, author: nil, text: nil,
            created: Timestamp(milliseconds: created), order: order, fingerprint: "")
        self.init(
            CommentNode.make(
                comment, id: .make(comment.id), parent: nil,
                subject: SharedSubject(comment.subject)))
    }
}
