public import AtriumKit

extension ThreadedComments {
    /// Decides whether a comment may be posted: its subject, its length, and whether its parent exists.
    ///
    /// In a moderated component the comment waits for a moderator, unless a moderator wrote it.
    ///
    /// - Parameters:
    ///   - draft: the comment's text and place.
    ///   - context: its author and time.
    /// - Returns: the comment's record.
    /// - Throws: a ``Refusal`` that names the rule it breaks.
    public func post(
        _ draft: CommentDraft, _ context: CommandContext
    ) throws(Refusal) -> [Change] {
        try rules.check(draft.subject)
        try rules.check(id: draft.id)
        try rules.check(text: draft.text)
        guard tree.node(draft.id) == nil else {
            throw Refusal(
                .conflict, "There is a comment '\(draft.id)' already; take another id.",
                evidence: ["comment": draft.id])
        }
        if let parent = draft.parent { try checkReply(to: parent, on: draft.subject) }
        var comment = Comment(
            id: draft.id, subject: draft.subject, parent: draft.parent, author: context.actor,
            text: draft.text, created: context.time, order: context.order,
            fingerprint: draft.fingerprint)
        if try judge(comment, replacing: nil, context) { comment.state = .pending }
        return [comment.record]
    }

    /// Decides on a new text, which only the author may write.
    ///
    /// The same text changes nothing.
    public func edit(
        _ id: String, text: String, _ context: CommandContext
    ) throws(Refusal) -> [Change] {
        let previous = try find(id)
        var comment = previous
        guard comment.author == context.actor else {
            throw Refusal(
                .refused,
                "The comment '\(id)' is another person's; only they change its text. A moderator "
                    + "may delete it, or have it wait.",
                evidence: ["comment": id])
        }
        guard comment.state != .removed else {
            throw Refusal(
                .refused,
                "The comment '\(id)' was \(comment.wordForRemoved); there is no text to change.")
        }
        try rules.check(text: text)
        // Bytes, since two texts are equal where only the form of an accent is another.
        guard comment.text.map({ $0.utf8.elementsEqual(text.utf8) }) != true else { return [] }
        comment.text = text
        comment.edited = context.time
        // It was said of the text before.
        comment.forgetReason()
        // Else an author could have a harmless text approved, and then put another in its place.
        if try judge(comment, replacing: previous, context) { comment.state = .pending }
        return [comment.record]
    }

    /// Decides on deleting a comment: the author's right, and a moderator's.
    ///
    /// Its record stays, without text. One that was deleted before changes nothing.
    public func delete(_ id: String, _ context: CommandContext) throws(Refusal) -> [Change] {
        let comment = try find(id)
        guard comment.author == context.actor || context.isModerator else {
            throw Refusal(
                .refused,
                "The comment '\(id)' is another person's; only they and moderators delete it.",
                evidence: ["comment": id])
        }
        return remove(comment)
    }

    /// Decides on a moderator's change of a comment's state, without a reason.
    public func moderate(
        _ id: String, state: Comment.State, _ context: CommandContext
    ) throws(Refusal) -> [Change] {
        try moderate(id, state: state, reason: nil, context)
    }

    /// Decides on a moderator's change of a comment's state.
    ///
    /// - Parameters:
    ///   - id: the comment.
    ///   - state: the new state; a deleted comment has lost its text and stays deleted.
    ///   - reason: the reason for its author why it waits or is removed; nil: none, and an earlier reason is withdrawn.
    ///     A shown comment has none.
    ///   - context: the moderator.
    /// - Returns: the comment's record; nothing if it is in that state, for that reason.
    /// - Throws: a ``Refusal`` for anyone who is no moderator.
    public func moderate(
        _ id: String, state: Comment.State, reason: String?, _ context: CommandContext
    ) throws(Refusal) -> [Change] {
        guard context.isModerator else {
            throw Refusal(.refused, "Only a moderator decides what becomes of others' comments.")
        }
        var comment = try find(id)
        let reason = state == .shown ? nil : reason
        if comment.state == state, comment.hasReason(reason) { return [] }
        guard comment.state != .removed || state == .removed else {
            throw Refusal(
                .refused,
                "The comment '\(id)' was \(comment.wordForRemoved) and its text is gone; it stays "
                    + "removed.")
        }
        comment.state = state
        if state == .removed { comment.text = nil }
        comment.forgetReason()
        if let reason { (comment.reason, comment.moderator) = (reason, context.actor) }
        return [comment.record]
    }

    /// Returns the number of comments on a subject that everyone sees.
    public func count(of subject: Subject) -> Int { tree.count(of: subject) }

    /// The keys of all records about a subject, tombstones too.
    public func recordKeys(about subject: Subject) -> [String] {
        tree.ids(about: subject, after: nil, limit: .max)
    }

    /// The keys of some records about a subject, tombstones too, in the order of their bytes.
    public func recordKeys(about subject: Subject, after: String?, limit: Int) -> [String] {
        tree.ids(about: subject, after: after, limit: limit)
    }

    func find(_ id: String) throws(Refusal) -> Comment {
        guard let comment = tree[id] else {
            throw Refusal(
                .commentNotFound, "There is no comment '\(id)'.", evidence: ["comment": id])
        }
        return comment
    }

    private func remove(_ comment: Comment) -> [Change] {
        guard comment.state != .removed else { return [] }
        var tombstone = comment
        // The author stays in the record, though nobody is shown it: a repeated post of this
        // comment is still known as theirs.
        tombstone.state = .removed
        tombstone.text = nil
        tombstone.forgetReason()
        return [tombstone.record]
    }

    private func checkReply(to parent: String, on subject: Subject) throws(Refusal) {
        let comment = try find(parent)
        guard comment.subject == subject else {
            let place = comment.subject.item.map { "the item '\($0)'" } ?? "the container itself"
            throw Refusal(
                .refused, "The comment '\(parent)' is about \(place); reply to it there.",
                evidence: ["comment": parent])
        }
        guard comment.state == .shown else {
            let reason =
                comment.state == .removed
                ? "was \(comment.wordForRemoved)" : "waits for a moderator"
            throw Refusal(
                .refused, "The comment '\(parent)' \(reason); it takes no replies.",
                evidence: ["comment": parent])
        }
    }
}

extension Comment {
    fileprivate mutating func forgetReason() { (reason, moderator) = (nil, nil) }

    /// The state of a removed comment, for messages; a record without a reason does not name who removed it.
    fileprivate var wordForRemoved: String { reason == nil ? "removed" : "removed by a moderator" }

    /// Whether this is its reason: bytes, since two texts are equal where only the form of an accent is another.
    fileprivate func hasReason(_ other: String?) -> Bool {
        guard let reason, let other else { return reason == other }
        return reason.utf8.elementsEqual(other.utf8)
    }
}
