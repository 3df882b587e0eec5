public import AtriumKit
import Index
import JSONCodec
import Store

extension Container {
    /// The comments on the container and on its items.
    public var comments: ContainerComments { ContainerComments(container: self) }
}

/// The comments on a container and on its items: writing, moderating and reading them, and their texts in
/// notifications.
///
/// The container is a subject like its items. A call names a comments component, or means the first one.
public struct ContainerComments {
    let container: Container

    private var domain: Domain { container.domain }

    /// Posts a comment; fails with `itemNotFound`, `commentNotFound`, `conflict` or `refused`.
    ///
    /// If the same actor posts the same id, place and text again, the reply is the same as before.
    public func post(
        _ post: Post, in component: String?, by caller: Caller,
        _ reply: @escaping Answer<CommentResult>
    ) {
        guard post.item == nil, let parent = post.parent,
            let slot = try? container.slot(component, .comments)
        else { return place(component, post, by: caller, reply) }
        slot.requests.ask(.comment(id: parent), for: slot, by: caller.user) { result in
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
            slot = try container.slot(component, .comments)
            try container.check(post.item)
            if let problem = post.id.flatMap(ItemID.problem) {
                throw .refused(
                    reason: "A comment's id is \(ItemID.expectation), found \(problem).",
                    retryAfter: nil)
            }
        } catch {
            return reply(.failure(error))
        }
        PostCommand(post, to: slot, of: container, by: caller, reply).run(by: caller.user)
    }

    /// Replies to a repeated post as to the first one: with the sequence of its commit.
    func answerRepetition(
        _ decided: Decided, of id: String, in slot: Slot, _ reply: @escaping Answer<CommentResult>
    ) {
        let key = RecordKey(container: container.name, component: slot.name, key: id)
        domain.read { store in
            try store.records([key]).first.flatMap { $0?.created }
        } then: { result in
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

    /// Replaces the text of a comment, on behalf of its author; fails with `commentNotFound` or `refused`.
    public func edit(
        _ comment: String, text: String, in component: String?, by caller: Caller,
        _ reply: @escaping Answer<CommentResult>
    ) {
        changeOwn(comment, .edit(text: text), component, caller, byAuthorAlone: true, reply)
    }

    /// Deletes a comment on behalf of its author or a moderator; if it has replies, a tombstone stays.
    ///
    /// Fails with `commentNotFound` or `refused`.
    public func delete(
        _ comment: String, in component: String?, by caller: Caller,
        _ reply: @escaping Answer<CommentResult>
    ) {
        changeOwn(comment, .delete(wasHeld: false), component, caller, reply)
    }

    /// Shows, holds or removes a comment, on behalf of a moderator.
    ///
    /// `reason` says why it is held or removed, for its author and for moderators; nil deletes an earlier one. `seen`
    /// is when the text that the moderator saw was written; nil: the text is not compared. It fails with
    /// `commentNotFound` or `refused`, with `conflict` if the text has changed since `seen`, with `limitExceeded` if
    /// the reason is too long, or with `parameterInvalid` if a shown comment is to have one.
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
                        limit: "reasonLength", value: Comment.reasonLength, retryAfter: nil)))
        }
        guard reason == nil || state != .shown else {
            return reply(
                .failure(
                    .parameterInvalid(
                        parameter: "reason",
                        reason: "A shown comment has none: leave it out, or hold the comment "
                            + "(pending) or remove it.")))
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
        guard let slot = try? container.slot(component, .comments) else {
            return self.change(comment, change, component, caller, reply)
        }
        slot.requests.ask(.comment(id: comment), for: slot, by: caller.user) { result in
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
            let slot = try container.slot(component, .comments)
            CommentCommand(
                change, of: comment, on: item, to: slot, of: container, by: caller, reply
            )
            .run(by: caller.user)
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
                        comment: view(entry, withReason: withReason), sequence: decided.sequence,
                        isUnchanged: !decided.isCommitted)))
        }
    }

    /// The comment as a call or a screen gets it, with its author's name; its author and moderators alone may see why
    /// it was held or removed.
    func view(_ entry: ThreadPage.Entry, withReason: Bool = false) -> CommentView {
        var entry = entry
        if !withReason, entry.comment.reason != nil { entry.comment.reason = nil }
        // The moderator's identity is kept in the record alone.
        if entry.comment.moderator != nil { entry.comment.moderator = nil }
        return CommentView(
            entry: entry, author: entry.comment.author.flatMap { domain.actors.name(of: $0) })
    }

    /// Reads a page of a subject's thread; fails with `itemNotFound`, `commentNotFound` or `cursorInvalid`.
    ///
    /// The reader's own held comments on the subject are included, and a moderator sees the reasons for removals;
    /// nil: no reader in particular. It may not reply at all if `isAwaited` returns false when its turn has come.
    public func thread(
        _ query: ThreadQuery, in component: String?, by reader: Caller? = nil,
        while isAwaited: @escaping () -> Bool = { true }, _ reply: @escaping Answer<ThreadResult>
    ) {
        var query = query
        let own = reader.flatMap { domain.actors.number(of: $0.actor) }
        // The reader's held comments are part of the first page only.
        query.tellsHeld = own != nil && query.cursor == nil
        let asked = query
        let slot: Slot
        do throws(HostError) {
            slot = try container.slot(component, .comments)
            try container.check(query.subject.item)
            try domain.limits.check(page: query.limit)
            if let depth = query.depth { try HostLimits.check(depth, from: 0, "depth") }
        } catch {
            return reply(.failure(error))
        }
        slot.requests.ask(
            Question(
                needsQuiet: true, by: reader?.user ?? "", while: isAwaited,
                make: { .thread(asked) }
            ) { result in
                // The item may have been removed while the question waited.
                if let error = container.absence(of: asked.subject.item) {
                    return reply(.failure(error))
                }
                reply(
                    result.map { answer in
                        guard case .thread(let page) = answer else {
                            return ThreadResult(
                                comments: [], total: 0, next: nil, sequence: domain.commits.sequence
                            )
                        }
                        return ThreadResult(
                            comments: page.entries.map {
                                view($0, withReason: reader?.isModerator ?? false)
                            }, total: page.total, next: page.next,
                            sequence: domain.commits.sequence,
                            held: own.map { held(page, of: $0) } ?? [])
                    })
            }, for: slot)
    }

    /// The author's own held comments among those of a page.
    func held(_ page: ThreadPage, of author: ActorID) -> [CommentView] {
        page.held.filter { $0.comment.author == author }.map { view($0, withReason: true) }
    }

    /// Lists 1 to 1,000 of the comments that are held for moderation, oldest first, after the `next` of the previous
    /// page.
    ///
    /// Comments on removed items are only in the total. It fails with `cursorInvalid` or `limitExceeded`, and may
    /// not reply at all if `isAwaited` returns false when its turn has come.
    public func pending(
        in component: String?, limit: Int, cursor: String?, by user: String = "",
        while isAwaited: @escaping () -> Bool = { true }, _ reply: @escaping Answer<ThreadResult>
    ) {
        let slot: Slot
        do throws(HostError) {
            slot = try container.slot(component, .comments)
            try domain.limits.check(page: limit)
        } catch {
            return reply(.failure(error))
        }
        slot.requests.ask(
            Question(
                needsQuiet: true, by: user, while: isAwaited,
                make: { .pendingComments(limit: limit, cursor: cursor) }
            ) { result in
                reply(
                    result.map { answer in
                        guard case .thread(let page) = answer else {
                            return ThreadResult(
                                comments: [], total: 0, next: nil, sequence: domain.commits.sequence
                            )
                        }
                        let here = page.entries.filter {
                            container.absence(of: $0.comment.subject.item) == nil
                        }
                        return ThreadResult(
                            comments: here.map { view($0, withReason: true) }, total: page.total,
                            next: page.next,
                            sequence: domain.commits.sequence)
                    })
            }, for: slot)
    }
}

// MARK: Texts in notifications

extension ContainerComments {
    /// Whether a comment may be read now, as far as the items are known.
    func isReadable(_ comment: RecordKey, on item: String?) -> Bool {
        guard container.slot(comment.component) != nil else { return false }
        guard let item,
            container.slots.allSatisfy({ $0.kind != .contents || $0.isAttached || $0.isShown })
        else {
            return true
        }
        return container.absence(of: item) == nil
    }

    /// Updates the texts of comments in notifications that are not delivered yet; returns that of the entry's
    /// notification.
    func updateTexts(
        of decision: Decision, from slot: Slot, _ draft: EntryDraft, _ commit: Commit
    ) -> CommentText? {
        if slot.kind == .contents, case .removed = decision.answer {
            domain.bus.readabilityChanged()
        }
        var published: CommentText?
        if slot.kind == .comments {
            for change in decision.changes {
                let comment = change.value.flatMap { Comment(key: change.key, value: $0) }
                let text = updateText(of: change.key, in: slot.name, comment, commit)
                if change.key == draft.comment?.key { published = text }
            }
        }
        for change in draft.others where container.slot(change.component)?.kind == .comments {
            let value = change.value.flatMap { try? Value(jsonBytes: $0) }
            let comment = value.flatMap { Comment(key: change.key, value: $0) }
            updateText(of: change.key, in: change.component, comment, commit)
        }
        if !draft.purges.isEmpty { removeTexts(of: draft.purges, at: commit) }
        return published
    }

    @discardableResult
    private func updateText(
        of key: String, in component: String, _ comment: Comment?, _ commit: Commit
    ) -> CommentText? {
        let text = comment.flatMap(CommentText.init)
        domain.bus.change(
            RecordKey(container: container.name, component: component, key: key), to: text,
            at: commit.sequence)
        // Its component reports no event about a held comment, but its author sees it.
        if let comment, comment.state != .shown {
            container.screens?.subjectChanged(comment.subject)
        }
        return text
    }

    /// Removes the texts of purged comments from notifications that are not delivered yet.
    func removeTexts(of purges: [Purge], at commit: Commit) {
        // A purge covers a component, or an item. There may be many items, hence a set.
        var items: [String: Set<String>] = [:]
        var components: Set<String> = []
        for purge in purges {
            if let item = purge.item {
                items[purge.component, default: []].insert(item)
            } else if purge.prefix.isEmpty {
                components.insert(purge.component)
            }
        }
        domain.bus.removeTexts(at: commit.sequence) { [name = container.name] comment, text in
            guard comment.container == name else { return false }
            return components.contains(comment.component)
                || text.item.map { items[comment.component]?.contains($0) ?? false } ?? false
        }
    }

    /// Removes the texts of a detached component's comments from the bus and from screens.
    func removeTexts(of comments: [String], in component: String, at commit: Commit) {
        for comment in comments {
            domain.bus.change(
                RecordKey(container: container.name, component: component, key: comment), to: nil,
                at: commit.sequence)
        }
        container.screens?.commentsGone(Set(comments), of: component)
    }
}
