import AtriumKit
import JSONCodec
import Store

/// A comment to be posted, as a call gives it.
struct Post {
    var item: String?
    var parent: String?
    var text: String
    /// The caller's id; nil: a fresh one.
    var id: String?
}

// Comments on the container and on its items.
extension Container {
    /// Posts a comment; a reply that names no item is about what its parent is about.
    func post(
        _ component: String?, _ post: Post, by caller: Caller,
        _ reply: @escaping Answer<CommentResult>
    ) {
        guard post.item == nil, let parent = post.parent,
            let slot = try? slot(component, .comments)
        else { return place(component, post, by: caller, reply) }
        slot.ask(.comment(id: parent)) { [self] result in
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
        let context = context(caller)
        let draft = CommentDraft(
            id: post.id ?? context.freshID, subject: Subject(item: post.item),
            parent: post.parent, text: post.text)
        let done: Answer<Decided> = { [self] result in
            guard case .success(let decided) = result, !decided.isCommitted else {
                return answer(result, reply)
            }
            answerRepetition(decided, of: draft.id, in: slot, reply)
        }
        run(
            Command(
                command: .postComment(draft), context: context,
                check: { [self] in
                    absence(of: post.item)
                        ?? veto(slot) {
                            delegate.comments($0, shouldAccept: draft, by: context.actor)
                        }
                },
                entry: {
                    $0.draft("comments.posted", of: self.name, slot.name, text: true, parent: true)
                },
                done: done), on: slot)
    }

    /// Answers a repeated post as the first one was: with the sequence at which it was committed.
    private func answerRepetition(
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
                reply(
                    .failure(
                        .storeUnavailable(
                            reason: "The store can't be read: \(error)", retryAfter: 1)))
            }
        }
    }

    func edit(
        _ component: String?, _ comment: String, text: String, by caller: Caller,
        _ reply: @escaping Answer<CommentResult>
    ) {
        changeOwn(
            comment, .editComment(id: comment, text: text), component, caller, byAuthorAlone: true,
            reply
        ) { [name] decision, component, _ in
            decision.draft("comments.edited", of: name, component, text: true)
        }
    }

    func delete(
        _ component: String?, _ comment: String, by caller: Caller,
        _ reply: @escaping Answer<CommentResult>
    ) {
        changeOwn(comment, .deleteComment(id: comment), component, caller, reply) { [name] in
            // Who takes back what nobody else has seen is as secret as who wrote it.
            $0.draft("comments.removed", of: name, $1, wasHeld: $2?.state == .pending)
        }
    }

    /// Changes a comment that its author can read: with its item it is gone until that returns.
    ///
    /// With `byAuthorAlone` moderators are refused too: nobody else puts words into the author's mouth,
    /// whatever the component thinks of it.
    private func changeOwn(
        _ comment: String, _ command: ComponentCommand, _ component: String?, _ caller: Caller,
        byAuthorAlone: Bool = false, _ reply: @escaping Answer<CommentResult>,
        entry: @escaping (Decision, _ component: String, _ before: Comment?) -> EntryDraft?
    ) {
        guard let slot = try? slot(component, .comments) else {
            return change(command, component, caller, reply) { entry($0, $1, nil) }
        }
        slot.ask(.comment(id: comment)) { [self] result in
            guard case .success(.comment(let found?)) = result else {
                // The component says what there is to say.
                return change(command, component, caller, reply) { entry($0, $1, nil) }
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
            change(command, component, of: before.subject.item, caller, reply) {
                entry($0, $1, before)
            }
        }
    }

    func moderate(
        _ component: String?, _ comment: String, state: Comment.State, reason: String?,
        by caller: Caller, _ reply: @escaping Answer<CommentResult>
    ) {
        change(.moderateComment(id: comment, state: state), component, caller, reply) { [name] in
            $0.draft("comments.moderated", of: name, $1, state: state, reason: reason)
        }
    }

    private func change(
        _ command: ComponentCommand, _ component: String?, of item: String? = nil,
        _ caller: Caller,
        _ reply: @escaping Answer<CommentResult>,
        entry: @escaping (Decision, _ component: String) -> EntryDraft?
    ) {
        do throws(HostError) {
            let slot = try slot(component, .comments)
            run(
                Command(
                    command: command, context: context(caller),
                    check: { [self] in absence(of: item) },
                    entry: { entry($0, slot.name) },
                    done: { [self] in answer($0, reply) }), on: slot)
        } catch {
            reply(.failure(error))
        }
    }

    private func answer(
        _ result: Result<Decided, HostError>, _ reply: @escaping Answer<CommentResult>
    ) {
        switch result {
        case .failure(let error): reply(.failure(error))
        case .success(let decided):
            guard case .comment(let entry) = decided.decision.answer else {
                return reply(.failure(.commentNotFound("")))
            }
            reply(
                .success(
                    CommentResult(comment: view(entry), sequence: decided.sequence)))
        }
    }

    /// A comment as it is read, with its author's name.
    func view(_ entry: ThreadPage.Entry) -> CommentView {
        CommentView(
            entry: entry, author: entry.comment.author.flatMap { domain.actors.name(of: $0) })
    }

    func thread(
        _ component: String?, _ query: ThreadQuery, _ reply: @escaping Answer<ThreadResult>
    ) {
        let slot: Slot
        do throws(HostError) {
            slot = try self.slot(component, .comments)
            try check(query.subject.item)
            try checkPage(query.limit)
        } catch {
            return reply(.failure(error))
        }
        slot.ask(
            Question(needsQuiet: true, make: { .thread(query) }) { [self] result in
                // The item may be gone by now.
                if let error = absence(of: query.subject.item) { return reply(.failure(error)) }
                reply(
                    result.map { answer in
                        guard case .thread(let page) = answer else {
                            return ThreadResult(
                                comments: [], total: 0, next: nil, sequence: domain.sequence)
                        }
                        return ThreadResult(
                            comments: page.entries.map(view), total: page.total, next: page.next,
                            sequence: domain.sequence)
                    })
            })
    }
}

extension Decision {
    /// What an entry about a comment holds; nil when nothing changes.
    ///
    /// The text stands in the comment's record alone.
    fileprivate func draft(
        _ topic: String, of container: String, _ component: String, text: Bool = false,
        parent: Bool = false, state: Comment.State? = nil, reason: String? = nil,
        wasHeld: Bool = false
    ) -> EntryDraft? {
        guard !changes.isEmpty, case .comment(let entry) = answer else { return nil }
        let comment = entry.comment
        // What waits for a moderator is not told to everyone, nor by whom it is.
        let isHeld = text && comment.state != .shown
        return EntryDraft(
            topic: topic,
            payload: Payload.object {
                $0.member("component", component)
                $0.member("item", comment.subject.item)
                $0.member("comment", comment.id)
                if parent { $0.member("parent", comment.parent) }
                $0.member("state", state?.rawValue)
                $0.member("reason", reason)
            },
            restricted: isHeld || wasHeld ? Payload.object { _ in } : nil,
            comment: text
                ? RecordKey(container: container, component: component, key: comment.id) : nil)
    }
}
