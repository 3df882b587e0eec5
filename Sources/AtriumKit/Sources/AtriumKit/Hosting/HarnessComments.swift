// The harness of the kind `comments`.

extension ComponentHarness {
    /// Posts, or recognises a repetition: if the same id, author, place and text was posted before, returns the first
    /// answer, whatever happened to the comment since.
    ///
    /// Of a deleted comment neither author nor text is known any more: it is returned as it is now, without them.
    func post(
        _ draft: CommentDraft, to comments: any Commenting, _ context: CommandContext
    ) throws(Refusal) -> Decision {
        if let existing = comments.entry(draft.id) {
            guard existing.comment.isPosted(as: draft, by: context.actor) else {
                throw Refusal(
                    .conflict,
                    "The id '\(draft.id)' is taken by a comment with other content; post under "
                        + "an id of its own.",
                    evidence: ["comment": draft.id])
            }
            let answer =
                existing.comment.isStripped
                ? existing.asTombstone
                : existing.asFirstPosted(draft, by: context.actor)
            return Decision(changes: [], answer: .comment(answer), events: [])
        }
        let changes = try comments.post(draft, context)
        return try applied(changes, to: draft.id, in: comments, before: nil)
    }

    /// Checks that a comment's text is still the one that a moderator read; its author may have changed it since.
    ///
    /// - Parameters:
    ///   - seen: the time at which that text was written; nil: nothing is checked.
    ///   - id: the comment; for an unknown one the component throws.
    ///   - comments: the component.
    /// - Throws: a ``Refusal`` with code `conflict` if the text is another.
    func check(
        _ seen: String?, of id: String, in comments: any Commenting
    ) throws(Refusal) {
        guard let seen, let comment = comments.entry(id)?.comment else { return }
        let written = (comment.edited ?? comment.created).text
        guard written != seen else { return }
        let past =
            comment.edited == nil
            ? "It was written at \(written), and not changed since"
            : "Its author changed it at \(written)"
        throw Refusal(
            .conflict, "\(past), and you decided on the text of \(seen); read it again.",
            evidence: ["comment": id])
    }

    /// Applies the component's decision and returns the comment after it.
    func change(
        _ id: String, in comments: any Commenting, _ decide: () throws(Refusal) -> [Change]
    ) throws(Refusal) -> Decision {
        let changes = try decide()
        return try applied(changes, to: id, in: comments, before: comments.entry(id))
    }

    private func applied(
        _ changes: [Change], to id: String, in comments: any Commenting,
        before: ThreadPage.Entry?
    ) throws(Refusal) -> Decision {
        if changes.isEmpty {
            guard let before else { throw notThere(id) }
            return Decision(changes: [], answer: .comment(before), events: [])
        }
        let events = apply(changes)
        let after = comments.entry(id) ?? before?.asTombstone ?? entry(of: id, in: changes)
        return Decision(changes: changes, answer: .comment(after), events: events)
    }

    private func notThere(_ id: String) -> Refusal {
        Refusal(
            .commentNotFound, "There is no comment '\(id)'.", evidence: ["comment": id])
    }

    /// Returns the entry for a component that does not know a comment it just decided on (a defect of the plugin, but
    /// the changes are applied already): made from the record.
    private func entry(of id: String, in changes: [Change]) -> ThreadPage.Entry {
        let record = changes.last { $0.key == id }
        let comment =
            record?.value.flatMap { Comment(key: id, value: $0) }
            ?? Comment(
                id: id, subject: .container, parent: nil, author: nil, text: nil, state: .removed,
                created: Timestamp(milliseconds: 0), fingerprint: "")
        return ThreadPage.Entry(comment: comment, depth: 0, replies: 0)
    }

    func answer(
        _ query: ComponentQuery, with comments: any Commenting
    ) throws(Refusal) -> ComponentAnswer {
        switch query {
        case .comment(let id):
            return .comment(comments.entry(id))
        case .thread(let query):
            return .thread(try comments.thread(query))
        case .pendingComments(let limit, let cursor):
            return .thread(try comments.pending(limit: limit, cursor: cursor))
        case .recordKeys(let subjects):
            return .recordKeys(subjects.flatMap { comments.recordKeys(about: $0) })
        case .recordKeyPage(let subjects, let after, let limit):
            return .recordKeys(keys(about: subjects, after: after, limit: limit, in: comments))
        default:
            throw notForThisKind()
        }
    }

    private func keys(
        about subjects: [Subject], after: String?, limit: Int, in comments: any Commenting
    ) -> [String] {
        var keys: [String] = []
        for (place, subject) in subjects.enumerated() where keys.count < limit {
            keys += comments.recordKeys(
                about: subject, after: place == 0 ? after : nil, limit: limit - keys.count)
        }
        return keys
    }
}

extension Comment {
    /// Whether nothing of its text is left, not even its fingerprint.
    fileprivate var isStripped: Bool { state == .removed && fingerprint.isEmpty }

    /// Whether posting the draft created this comment.
    ///
    /// Of a deleted comment, and of one whose author was erased, only what is left is compared.
    fileprivate func isPosted(as draft: CommentDraft, by author: ActorID) -> Bool {
        (self.author ?? author) == author && subject == draft.subject && parent == draft.parent
            && (isStripped || fingerprint == draft.fingerprint)
    }
}

extension ThreadPage.Entry {
    /// Returns the entry as it was when this draft was first posted.
    fileprivate func asFirstPosted(_ draft: CommentDraft, by author: ActorID) -> Self {
        var first = self
        first.comment.author = author
        first.comment.text = draft.text
        first.comment.fingerprint = draft.fingerprint
        first.comment.edited = nil
        first.comment.reason = nil
        first.comment.moderator = nil
        if first.comment.state == .removed { first.comment.state = .shown }
        first.replies = 0
        first.more = nil
        return first
    }

    /// The entry of a comment whose record is gone.
    fileprivate var asTombstone: Self {
        var gone = self
        gone.comment.state = .removed
        gone.comment.text = nil
        gone.comment.author = nil
        gone.comment.reason = nil
        gone.comment.moderator = nil
        return gone
    }
}
