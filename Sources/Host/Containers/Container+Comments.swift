public import AtriumKit
import Index
import JSONCodec
import Store

/// A comment to be posted.
public struct Post {
    /// The id of the item it is about; nil: the container, or the subject of the parent.
    public var item: String?
    /// The id of the comment it replies to; nil: none.
    public var parent: String?
    /// The text.
    public var text: String
    /// An id chosen by the caller; nil: a new one is generated.
    public var id: String?

    /// Makes a comment to be posted.
    public init(item: String?, parent: String?, text: String, id: String?) {
        self.item = item
        self.parent = parent
        self.text = text
        self.id = id
    }
}

// Comments on the container and on its items.
extension Container {
    /// Posts a comment.
    ///
    /// If the same actor posts the same id, place and text again, the reply is the same as before.
    ///
    /// - Parameters:
    ///   - post: the text, and where it is posted.
    ///   - component: the comments component; nil: the first.
    ///   - caller: the author.
    ///   - reply: the comment; fails with `itemNotFound`, `commentNotFound`, `conflict` or `refused`.
    public func post(
        _ post: Post, in component: String?, by caller: Caller,
        _ reply: @escaping Answer<CommentResult>
    ) {
        guard post.item == nil, let parent = post.parent,
            let slot = try? slot(component, .comments)
        else { return place(component, post, by: caller, reply) }
        slot.ask(.comment(id: parent), by: caller.user) { [self] result in
            var post = post
            if case .success(.comment(let entry?)) = result {
                post.item = entry.comment.subject.item
            }
            place(component, post, by: caller, reply)
        }
    }

    private func place(
        _ component: String?, _ post: Post, by caller: Caller,
        _ reply: @escaping Answer<CommentResult>
    ) {
        let slot: Slot
        do throws(HostError) {
            slot = try self.slot(component, .comments)
            try check(post.item)
            if let problem = post.id.flatMap(ItemID.problem) {
                throw .refused(
                    reason: "A comment's id is \(ItemID.expectation), found \(problem).",
                    retryAfter: nil)
            }
        } catch {
            return reply(.failure(error))
        }
        run(PostCommand(post, to: slot, of: self, by: caller, reply), by: caller.user)
    }

    /// Replies to a repeated post as to the first one: with the sequence of its commit.
    func answerRepetition(
        _ decided: Decided, of id: String, in slot: Slot, _ reply: @escaping Answer<CommentResult>
    ) {
        let key = RecordKey(container: name, component: slot.name, key: id)
        domain.read { store in
            try store.records([key]).first.flatMap { $0?.created }
        } then: { [self] result in
            switch result {
            case .success(let created):
                var decided = decided
                decided.sequence = created ?? decided.sequence
                answer(.success(decided), reply)
            case .failure(let error):
                reply(.failure(.unreadable(error)))
            }
        }
    }

    /// Replaces the text of a comment, on behalf of its author.
    ///
    /// - Parameters:
    ///   - comment: the comment's id.
    ///   - text: the new text.
    ///   - component: the comments component; nil: the first.
    ///   - caller: the author.
    ///   - reply: the comment; fails with `commentNotFound` or `refused`.
    public func edit(
        _ comment: String, text: String, in component: String?, by caller: Caller,
        _ reply: @escaping Answer<CommentResult>
    ) {
        changeOwn(comment, .edit(text: text), component, caller, byAuthorAlone: true, reply)
    }

    /// Deletes a comment; if it has replies, a tombstone stays.
    ///
    /// - Parameters:
    ///   - comment: the comment's id.
    ///   - component: the comments component; nil: the first.
    ///   - caller: the author or a moderator.
    ///   - reply: the comment; fails with `commentNotFound` or `refused`.
    public func delete(
        _ comment: String, in component: String?, by caller: Caller,
        _ reply: @escaping Answer<CommentResult>
    ) {
        changeOwn(comment, .delete(wasHeld: false), component, caller, reply)
    }

    /// Shows, holds or removes a comment, on behalf of a moderator.
    ///
    /// - Parameters:
    ///   - comment: the comment's id.
    ///   - state: the new state.
    ///   - reason: why it is held or removed, for its author and for moderators; nil: no reason, and an earlier one
    ///     is deleted.
    ///   - seen: when the text that the moderator saw was written; nil: the text is not compared.
    ///   - component: the comments component; nil: the first.
    ///   - caller: the moderator.
    ///   - reply: the comment; fails with `commentNotFound` or `refused`, with `conflict` if the text has changed
    ///     since `seen`, or with `limitExceeded` if the reason is too long.
    public func moderate(
        _ comment: String, state: Comment.State, reason: String?, seen: String? = nil,
        in component: String?, by caller: Caller, _ reply: @escaping Answer<CommentResult>
    ) {
        let reason = reason.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
        let length = reason?.unicodeScalars.count ?? 0
        guard length <= Comment.reasonLength else {
            return reply(
                .failure(
                    .limitExceeded(
                        limit: "reason of \(Comment.reasonLength) characters", value: length,
                        retryAfter: nil)))
        }
        change(comment, .moderate(state, reason: reason, seen: seen), component, caller, reply)
    }

    /// Changes a comment on behalf of its author, if its item exists.
    ///
    /// With `byAuthorAlone` moderators are refused as well: nobody else may write in the author's name, whatever the
    /// component permits.
    private func changeOwn(
        _ comment: String, _ change: CommentChange, _ component: String?, _ caller: Caller,
        byAuthorAlone: Bool = false, _ reply: @escaping Answer<CommentResult>
    ) {
        guard let slot = try? slot(component, .comments) else {
            return self.change(comment, change, component, caller, reply)
        }
        slot.ask(.comment(id: comment), by: caller.user) { [self] result in
            guard case .success(.comment(let found?)) = result else {
                // The component's own error is the more exact one.
                return self.change(comment, change, component, caller, reply)
            }
            let before = found.comment
            if byAuthorAlone, let author = before.author,
                author != domain.actors.number(of: caller.actor)
            {
                let reason =
                    "The comment '\(comment)' is another person's; only they change its text. A "
                    + "moderator may delete it, or have it wait."
                return reply(.failure(.refused(reason: reason, retryAfter: nil)))
            }
            self.change(
                comment, change.knowing(before), component, of: before.subject.item, caller, reply)
        }
    }

    private func change(
        _ comment: String, _ change: CommentChange, _ component: String?, of item: String? = nil,
        _ caller: Caller, _ reply: @escaping Answer<CommentResult>
    ) {
        do throws(HostError) {
            let slot = try slot(component, .comments)
            run(
                CommentCommand(
                    change, of: comment, on: item, to: slot, of: self, by: caller, reply),
                by: caller.user)
        } catch {
            reply(.failure(error))
        }
    }

    func answer(
        _ result: Result<Decided, HostError>, withReason: Bool = false,
        _ reply: @escaping Answer<CommentResult>
    ) {
        switch result {
        case .failure(let error): reply(.failure(error))
        case .success(let decided):
            guard case .comment(let entry) = decided.decision.answer else {
                return reply(.failure(.commentNotFound("")))
            }
            reply(
                .success(
                    CommentResult(
                        comment: view(entry, withReason: withReason), sequence: decided.sequence)))
        }
    }

    /// The comment as a call or a screen gets it, with its author's name.
    ///
    /// - Parameters:
    ///   - entry: the comment and its place in the thread.
    ///   - withReason: whether the reader is its author or a moderator, who alone may see why it was held or removed.
    /// - Returns: the comment without what the reader may not see.
    func view(_ entry: ThreadPage.Entry, withReason: Bool = false) -> CommentView {
        var entry = entry
        if !withReason, entry.comment.reason != nil { entry.comment.reason = nil }
        // The moderator's identity is kept in the record alone.
        if entry.comment.moderator != nil { entry.comment.moderator = nil }
        return CommentView(
            entry: entry, author: entry.comment.author.flatMap { domain.actors.name(of: $0) })
    }

    /// Reads a page of a subject's thread.
    ///
    /// - Parameters:
    ///   - query: the part of the tree.
    ///   - component: the comments component; nil: the first.
    ///   - reader: who reads. Their own held comments on the subject are included, and a moderator sees the reasons
    ///     for removals; nil: no reader in particular.
    ///   - reply: the page; fails with `itemNotFound`, `commentNotFound` or `cursorInvalid`.
    public func thread(
        _ query: ThreadQuery, in component: String?, by reader: Caller? = nil,
        _ reply: @escaping Answer<ThreadResult>
    ) {
        var query = query
        let own = reader.flatMap { domain.actors.number(of: $0.actor) }
        // The reader's held comments are part of the first page only.
        query.tellsHeld = own != nil && query.cursor == nil
        let asked = query
        let slot: Slot
        do throws(HostError) {
            slot = try self.slot(component, .comments)
            try check(query.subject.item)
            try checkPage(query.limit)
        } catch {
            return reply(.failure(error))
        }
        slot.ask(
            Question(needsQuiet: true, by: reader?.user ?? "", make: { .thread(asked) }) {
                [self] result in
                // The item may have been removed while the question waited.
                if let error = absence(of: asked.subject.item) { return reply(.failure(error)) }
                reply(
                    result.map { answer in
                        guard case .thread(let page) = answer else {
                            return ThreadResult(
                                comments: [], total: 0, next: nil, sequence: domain.sequence)
                        }
                        return ThreadResult(
                            comments: page.entries.map {
                                view($0, withReason: reader?.isModerator ?? false)
                            }, total: page.total, next: page.next, sequence: domain.sequence,
                            held: own.map { held(page, of: $0) } ?? [])
                    })
            })
    }

    /// The author's own held comments among those of a page.
    func held(_ page: ThreadPage, of author: ActorID) -> [CommentView] {
        page.held.filter { $0.comment.author == author }.map { view($0, withReason: true) }
    }

    /// Lists the comments that are held for moderation, oldest first.
    ///
    /// - Parameters:
    ///   - component: the comments component; nil: the first.
    ///   - limit: the maximum number of comments, 1 to 1,000.
    ///   - cursor: the `next` of the previous page; nil: from the first.
    ///   - user: whose call it is; the number of calls that wait is limited for each user.
    ///   - reply: the page, without comments on removed items, which only the total includes. Fails with
    ///     `cursorInvalid` or `limitExceeded`.
    public func pending(
        in component: String?, limit: Int, cursor: String?, by user: String = "",
        _ reply: @escaping Answer<ThreadResult>
    ) {
        let slot: Slot
        do throws(HostError) {
            slot = try self.slot(component, .comments)
            try checkPage(limit)
        } catch {
            return reply(.failure(error))
        }
        slot.ask(
            Question(
                needsQuiet: true, by: user,
                make: { .pendingComments(limit: limit, cursor: cursor) }
            ) { [self] result in
                reply(
                    result.map { answer in
                        guard case .thread(let page) = answer else {
                            return ThreadResult(
                                comments: [], total: 0, next: nil, sequence: domain.sequence)
                        }
                        let here = page.entries.filter {
                            absence(of: $0.comment.subject.item) == nil
                        }
                        return ThreadResult(
                            comments: here.map { view($0, withReason: true) }, total: page.total,
                            next: page.next,
                            sequence: domain.sequence)
                    })
            })
    }
}

/// The command that posts a comment.
final class PostCommand: Command {
    private let draft: CommentDraft
    private let reply: Answer<CommentResult>

    init(
        _ post: Post, to slot: Slot, of container: Container, by caller: Caller,
        _ reply: @escaping Answer<CommentResult>
    ) {
        let context = container.context(caller)
        let draft = CommentDraft(
            id: post.id ?? context.freshID, subject: Subject(item: post.item),
            parent: post.parent, text: post.text)
        self.draft = draft
        self.reply = reply
        super.init(.postComment(draft), on: slot, of: container, context)
    }

    override func objection() -> HostError? {
        container.absence(of: draft.subject.item) ?? container.closure(.comments)
            ?? container.veto(slot) {
                container.delegate.comments($0, shouldAccept: draft, by: context.actor)
            }
    }

    override func draft(of decision: Decision) -> EntryDraft? {
        decision.draft(.commentsPosted, of: container.name, slot.name, text: true, parent: true)
    }

    override func end(_ result: Result<Decided, HostError>) {
        guard case .success(let decided) = result, !decided.isCommitted else {
            return container.answer(result, reply)
        }
        container.answerRepetition(decided, of: draft.id, in: slot, reply)
    }
}

/// A change of an existing comment.
enum CommentChange {
    case edit(text: String)
    /// By its author or a moderator.
    ///
    /// - Parameter wasHeld: whether the comment was held for moderation. Nobody else has seen it then, so who deleted
    ///   it is as secret as who wrote it.
    case delete(wasHeld: Bool)
    /// By a moderator.
    ///
    /// - Parameter seen: when the text that the moderator saw was written; nil: the text is not compared.
    case moderate(Comment.State, reason: String?, seen: String?)

    /// The same change, with what depends on the comment before it.
    func knowing(_ before: Comment) -> CommentChange {
        if case .delete = self { .delete(wasHeld: before.state == .pending) } else { self }
    }
}

/// The command that edits, deletes or moderates a comment.
final class CommentCommand: Command {
    private let change: CommentChange
    private let comment: String
    /// The item of the comment, which must still exist; nil: the subject is the container or not known, and is not
    /// checked.
    private let item: String?
    private let reply: Answer<CommentResult>

    init(
        _ change: CommentChange, of comment: String, on item: String?, to slot: Slot,
        of container: Container, by caller: Caller, _ reply: @escaping Answer<CommentResult>
    ) {
        self.change = change
        self.comment = comment
        self.item = item
        self.reply = reply
        let command: ComponentCommand =
            switch change {
            case .edit(let text): .editComment(id: comment, text: text)
            case .delete: .deleteComment(id: comment)
            case .moderate(let state, let reason, let seen):
                .moderateComment(id: comment, state: state, reason: reason, seen: seen)
            }
        super.init(command, on: slot, of: container, container.context(caller))
    }

    override func objection() -> HostError? {
        if let absence = container.absence(of: item) { return absence }
        guard case .edit(let text) = change else { return nil }
        return container.closure(.comments)
            ?? container.veto(slot) {
                container.delegate.comments(
                    $0, shouldAcceptEdit: text, of: comment, by: context.actor)
            }
    }

    override func draft(of decision: Decision) -> EntryDraft? {
        let (container, component) = (container.name, slot.name)
        return switch change {
        case .edit:
            decision.draft(.commentsEdited, of: container, component, text: true)
        case .delete(let wasHeld):
            decision.draft(.commentsRemoved, of: container, component, wasHeld: wasHeld)
        case .moderate(let state, _, _):
            // The reason is for the author and moderators only, so it is kept in the comment's record alone.
            decision.draft(.commentsModerated, of: container, component, state: state)
        }
    }

    override func end(_ result: Result<Decided, HostError>) {
        // A moderator may give reasons, and so may read them.
        guard case .moderate = change else { return container.answer(result, reply) }
        container.answer(result, withReason: true, reply)
    }
}

extension Decision {
    /// The entry about a change of a comment; nil if nothing changes.
    ///
    /// It refers to the comment's record for the text.
    fileprivate func draft(
        _ topic: EntryTopic, of container: String, _ component: String, text: Bool = false,
        parent: Bool = false, state: Comment.State? = nil, wasHeld: Bool = false
    ) -> EntryDraft? {
        guard !changes.isEmpty, case .comment(let entry) = answer else { return nil }
        let comment = entry.comment
        // A held comment and its author must not be visible to everyone.
        let isHeld = text && comment.state != .shown
        return EntryDraft(
            topic: topic,
            payload: Payload.object {
                $0.member("component", component)
                $0.member("item", comment.subject.item)
                $0.member("comment", comment.id)
                if parent { $0.member("parent", comment.parent) }
                $0.member("state", state?.rawValue)
            },
            restricted: isHeld || wasHeld ? Payload.object { _ in } : nil,
            comment: text
                ? RecordKey(container: container, component: component, key: comment.id) : nil)
    }
}
