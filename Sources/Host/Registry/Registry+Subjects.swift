public import AtriumKit
import NIOCore

// How fast.
extension Registry {
    /// Counts a write of somebody who may write only so much in a minute.
    ///
    /// Asked once for each call that writes, before it does anything else.
    ///
    /// - Parameters:
    ///   - bytes: what its call has.
    ///   - caller: on whose behalf.
    /// - Returns: `limitExceeded`, with when to try again, or for a new person of a front end's that has all that
    ///   it may have; nil: it may be done.
    public func refusal(ofWriting bytes: Int, by caller: Caller) -> HostError? {
        guard caller.pace != .free else { return nil }
        let most = domain.limits.frontendPeople
        if domain.actors.number(of: caller.actor) == nil,
            domain.actors.count(likeThatOf: caller.actor) >= most
        {
            return .limitExceeded(limit: "frontendPeople", value: most, retryAfter: nil)
        }
        return domain.rates.refusal(
            ofWriting: bytes, by: caller, domain.limits, at: NIODeadline.now())
    }
}

// Votes and comments on containers and on their items.
extension Registry {
    /// Casts or changes the caller's ballot.
    ///
    /// The same value again changes nothing.
    ///
    /// - Parameters:
    ///   - address: what it is about.
    ///   - value: on the component's scale.
    ///   - caller: whose ballot.
    ///   - reply: fails with `itemNotFound` or `refused`.
    public func cast(
        _ address: SubjectAddress, value: Double, by caller: Caller,
        _ reply: @escaping Reply<VoteResult>
    ) {
        with(address.container, reply) {
            $0.cast(address.component, address.item, value: value, by: caller, reply)
        }
    }

    /// Takes the caller's ballot back; without one nothing changes.
    public func retract(
        _ address: SubjectAddress, by caller: Caller, _ reply: @escaping Reply<VoteResult>
    ) {
        with(address.container, reply) {
            $0.retract(address.component, address.item, by: caller, reply)
        }
    }

    /// What the votes on a subject add up to, nobody's own ballot among it: at once, from memory.
    ///
    /// To be called on the event loop.
    ///
    /// - Parameter address: the subject.
    /// - Returns: the tally; fails with `itemNotFound`; nil: it takes a while, ask with
    ///   ``tally(_:actor:_:)``.
    public func tally(
        _ address: SubjectAddress
    ) -> Result<TallyResult, HostError>? {
        guard let container = containers[address.container], !container.isLoading else {
            return nil
        }
        return container.tally(address.component, address.item)
    }

    /// What the votes on a subject add up to, with somebody's own ballot.
    ///
    /// - Parameters:
    ///   - address: the subject.
    ///   - actor: whose ballot is `mine`; nil: nobody's.
    ///   - reply: fails with `itemNotFound`.
    public func tally(
        _ address: SubjectAddress, actor: String?, _ reply: @escaping Reply<TallyResult>
    ) {
        with(address.container, reply) {
            $0.tally(address.component, address.item, actor: actor, reply)
        }
    }

    /// Who voted what on a subject: for moderators.
    ///
    /// - Parameters:
    ///   - address: the subject.
    ///   - limit: at most so many, 1 to 1,000.
    ///   - cursor: the `next` of the page before; nil: from the first.
    ///   - reply: fails with `itemNotFound`, `cursorInvalid` or `limitExceeded`.
    public func ballots(
        _ address: SubjectAddress, limit: Int, cursor: String?,
        _ reply: @escaping Reply<BallotPage>
    ) {
        with(address.container, reply) {
            $0.ballots(address.component, address.item, limit: limit, cursor: cursor, reply)
        }
    }

    /// Posts a comment.
    ///
    /// The same id, actor, place and text again is answered as the first time.
    ///
    /// - Parameters:
    ///   - address: what it is about.
    ///   - parent: the comment that it answers; nil: the subject itself.
    ///   - text: what to say.
    ///   - id: the caller's; nil: a fresh one.
    ///   - caller: who says it.
    ///   - reply: fails with `itemNotFound`, `commentNotFound`, `conflict` or `refused`.
    public func post(
        _ address: SubjectAddress, parent: String?, text: String, id: String?, by caller: Caller,
        _ reply: @escaping Reply<CommentResult>
    ) {
        let post = Post(item: address.item, parent: parent, text: text, id: id)
        with(address.container, reply) {
            $0.post(address.component, post, by: caller, reply)
        }
    }

    /// Gives a comment another text.
    public func edit(
        _ container: String, component: String?, comment: String, text: String,
        by caller: Caller, _ reply: @escaping Reply<CommentResult>
    ) {
        with(container, reply) {
            $0.edit(component, comment, text: text, by: caller, reply)
        }
    }

    /// Deletes a comment; where there are replies a tombstone stays.
    public func delete(
        _ container: String, component: String?, comment: String, by caller: Caller,
        _ reply: @escaping Reply<CommentResult>
    ) {
        with(container, reply) { $0.delete(component, comment, by: caller, reply) }
    }

    /// Shows, holds or removes a comment: for moderators.
    public func moderate(
        _ container: String, component: String?, comment: String, state: Comment.State,
        reason: String?, by caller: Caller, _ reply: @escaping Reply<CommentResult>
    ) {
        with(container, reply) {
            $0.moderate(
                component, comment, state: state, reason: reason, by: caller, reply)
        }
    }

    /// A page of a subject's thread.
    ///
    /// - Parameters:
    ///   - container: the container.
    ///   - component: which comments component; nil: the first.
    ///   - query: which part of the tree.
    ///   - reply: fails with `itemNotFound`, `commentNotFound` or `cursorInvalid`.
    public func thread(
        _ container: String, component: String?, _ query: ThreadQuery,
        _ reply: @escaping Reply<ThreadResult>
    ) {
        with(container, reply) { $0.thread(component, query, reply) }
    }
}
