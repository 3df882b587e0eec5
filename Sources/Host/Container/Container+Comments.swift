import AtriumKit
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
        run(PostCommand(post, to: slot, of: self, by: caller, reply))
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

    func edit(
        _ component: String?, _ comment: String, text: String, by caller: Caller,
        _ reply: @escaping Answer<CommentResult>
    ) {
        changeOwn(comment, .edit(text: text), component, caller, byAuthorAlone: true, reply)
    }

    func delete(
        _ component: String?, _ comment: String, by caller: Caller,
        _ reply: @escaping Answer<CommentResult>
    ) {
        changeOwn(comment, .delete(wasHeld: false), component, caller, reply)
    }

    func moderate(
        _ component: String?, _ comment: String, state: Comment.State, reason: String?,
        by caller: Caller, _ reply: @escaping Answer<CommentResult>
    ) {
        change(comment, .moderate(state, reason: reason), component, caller, reply)
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
        slot.ask(.comment(id: comment)) { [self] result in
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
                    change, of: comment, on: item, to: slot, of: self, by: caller, reply))
        } catch {
            reply(.failure(error))
        }
    }

    func answer(
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
