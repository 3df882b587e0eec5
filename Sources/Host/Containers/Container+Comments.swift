public import AtriumKit
import Index
import Store

/// A comment to be posted, as a call gives it.
public struct Post {
    /// What it is about; nil: the container, or what its parent is about.
    public var item: String?
    /// The comment that it answers; nil: the subject itself.
    public var parent: String?
    /// What to say.
    public var text: String
    /// The caller's id; nil: a fresh one.
    public var id: String?

    /// A comment.
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
    /// The same id, actor, place and text again is answered as the first time.
    ///
    /// - Parameters:
    ///   - post: what to say, and where.
    ///   - component: which comments component; nil: the first.
    ///   - caller: who says it.
    ///   - reply: fails with `itemNotFound`, `commentNotFound`, `conflict` or `refused`.
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

    /// Answers a repeated post as the first one was: with the sequence at which it was committed.
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

    /// Gives a comment another text: for its author.
    ///
    /// - Parameters:
    ///   - comment: its id.
    ///   - text: what it says from now on.
    ///   - component: which comments component; nil: the first.
    ///   - caller: its author.
    ///   - reply: fails with `commentNotFound` or `refused`.
    public func edit(
        _ comment: String, text: String, in component: String?, by caller: Caller,
        _ reply: @escaping Answer<CommentResult>
    ) {
        changeOwn(comment, .edit(text: text), component, caller, byAuthorAlone: true, reply)
    }

    /// Deletes a comment; where there are replies a tombstone stays.
    ///
    /// - Parameters:
    ///   - comment: its id.
    ///   - component: which comments component; nil: the first.
    ///   - caller: its author, or a moderator.
    ///   - reply: fails with `commentNotFound` or `refused`.
    public func delete(
        _ comment: String, in component: String?, by caller: Caller,
        _ reply: @escaping Answer<CommentResult>
    ) {
        changeOwn(comment, .delete(wasHeld: false), component, caller, reply)
    }

    /// Shows, holds or removes a comment: for moderators.
    ///
    /// - Parameters:
    ///   - comment: its id.
    ///   - state: what becomes of it.
    ///   - reason: why it waits or is removed, for its author and for moderators; nil: none is given, and one that was
    ///     is taken back.
    ///   - seen: when the text was written that the moderator read; nil: whatever it is now.
    ///   - component: which comments component; nil: the first.
    ///   - caller: the moderator.
    ///   - reply: fails with `commentNotFound` or `refused`, `conflict` for another text than the one that was
    ///     seen, or `limitExceeded` for a longer reason.
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

    /// Changes a comment that its author can read: with its item it is gone until that returns.
    ///
    /// With `byAuthorAlone` moderators are refused too: nobody else puts words into the author's mouth,
    /// whatever the component thinks of it.
    private func changeOwn(
        _ comment: String, _ change: CommentChange, _ component: String?, _ caller: Caller,
        byAuthorAlone: Bool = false, _ reply: @escaping Answer<CommentResult>
    ) {
        guard let slot = try? slot(component, .comments) else {
            return self.change(comment, change, component, caller, reply)
        }
        slot.ask(.comment(id: comment), by: caller.user) { [self] result in
            guard case .success(.comment(let found?)) = result else {
                // The component says what there is to say.
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

    /// A comment as it is read, with its author's name.
    ///
    /// - Parameters:
    ///   - entry: the comment at its place.
    ///   - withReason: whether who reads it is its author or a moderator, who alone know why it waits or was removed.
    /// - Returns: it, as it is told.
    func view(_ entry: ThreadPage.Entry, withReason: Bool = false) -> CommentView {
        var entry = entry
        if !withReason { entry.comment.reason = nil }
        // Who said so is in the record alone.
        entry.comment.moderator = nil
        return CommentView(
            entry: entry, author: entry.comment.author.flatMap { domain.actors.name(of: $0) })
    }

    /// A page of a subject's thread.
    ///
    /// - Parameters:
    ///   - query: which part of the tree.
    ///   - component: which comments component; nil: the first.
    ///   - reader: who reads: their own held comments about the subject come along, and a moderator reads the
    ///     reasons of those that were removed; nil: nobody in particular.
    ///   - reply: fails with `itemNotFound`, `commentNotFound` or `cursorInvalid`.
    public func thread(
        _ query: ThreadQuery, in component: String?, by reader: Caller? = nil,
        _ reply: @escaping Answer<ThreadResult>
    ) {
        var query = query
        let own = reader.flatMap { domain.actors.number(of: $0.actor) }
        // They come with the first page.
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
                // The item may be gone by now.
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

    /// Somebody's own held comments, of those that a page carries.
    func held(_ page: ThreadPage, of author: ActorID) -> [CommentView] {
        page.held.filter { $0.comment.author == author }.map { view($0, withReason: true) }
    }

    /// The comments that wait for a moderator, oldest first: for moderators.
    ///
    /// - Parameters:
    ///   - component: which comments component; nil: the first.
    ///   - limit: at most so many, 1 to 1,000.
    ///   - cursor: the `next` of the page before; nil: from the first.
    ///   - user: whose call it is: users share the places of calls that wait.
    ///   - reply: the page; of removed items' comments it says nothing, which are only counted. Fails with
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
