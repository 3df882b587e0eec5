import AtriumKit
import JSONCodec

extension Container {
    /// The votes on the container and on its items.
    public var votes: ContainerVotes { ContainerVotes(container: self) }
}

/// The votes on a container and on its items: casting and retracting ballots, and reading them with their tallies.
///
/// The container is a subject like its items. A call names a votes component, or means the first one.
public struct ContainerVotes {
    let container: Container

    private var domain: Domain { container.domain }

    /// Casts or changes the caller's ballot; the same value again changes nothing.
    ///
    /// The reply is the new tally; fails with `itemNotFound` or `refused`.
    public func cast(
        _ value: Double, on item: String?, in component: String?, by caller: Caller,
        _ reply: @escaping Answer<VoteResult>
    ) {
        vote(value, component, item, by: caller, reply)
    }

    /// Retracts the caller's ballot; without one nothing changes.
    ///
    /// The reply is the new tally; fails with `itemNotFound` or `refused`.
    public func retract(
        on item: String?, in component: String?, by caller: Caller,
        _ reply: @escaping Answer<VoteResult>
    ) {
        vote(nil, component, item, by: caller, reply)
    }

    private func vote(
        _ value: Double?, _ component: String?, _ item: String?, by caller: Caller,
        _ reply: @escaping Answer<VoteResult>
    ) {
        do throws(HostError) {
            let slot = try container.slot(component, .votes)
            try container.check(item)
            BallotCommand(value, on: item, to: slot, of: container, by: caller, reply)
                .run(by: caller.user)
        } catch {
            reply(.failure(error))
        }
    }

    /// The committed tally of a subject, without anybody's own ballot: at once, from memory.
    ///
    /// Throws `itemNotFound`, or that there is no such component.
    public func tally(
        of item: String?, in component: String?
    ) throws(HostError) -> TallyResult {
        let slot = try container.slot(component, .votes)
        try slot.checkShown()
        try container.check(item)
        let tally = slot.tally(of: Subject(item: item)) ?? Tally()
        return TallyResult(
            tally: TallyView(tally: tally, mine: nil), sequence: domain.commits.sequence)
    }

    /// Reads the tally of a subject, with an actor's own ballot as `mine`; fails with `itemNotFound` or
    /// `componentUnavailable`.
    public func tally(
        of item: String?, in component: String?, actor: String?, by user: String = "",
        _ reply: @escaping Answer<TallyResult>
    ) {
        let slot: Slot
        do throws(HostError) {
            slot = try container.slot(component, .votes)
            try slot.checkShown()
            try container.check(item)
        } catch {
            return reply(.failure(error))
        }
        let subject = Subject(item: item)
        var tally = TallyResult(tally: TallyView(tally: Tally(), mine: nil), sequence: 0)
        withBallots(of: actor, in: slot, by: user) {
            // Looked up by name: the component may have been made anew meanwhile.
            tally.tally.tally = container.slot(slot.name)?.tally(of: subject) ?? Tally()
            tally.sequence = domain.commits.sequence
            return [subject]
        } then: { ballots in
            reply(
                ballots.map { ballots in
                    tally.tally.mine = ballots.first.flatMap { $0 }?.value
                    return tally
                })
        }
    }

    /// Lists 1 to 1,000 of the ballots on a subject, on behalf of a moderator, after the `next` of the previous page,
    /// which is the number of its last actor.
    ///
    /// Fails with `itemNotFound`, `cursorInvalid`, `limitExceeded` or `componentUnavailable`; may not reply at all if
    /// `isAwaited` returns false when its turn has come.
    public func ballots(
        on item: String?, in component: String?, limit: Int, cursor: String?,
        by user: String = "", while isAwaited: @escaping () -> Bool = { true },
        _ reply: @escaping Answer<BallotPage>
    ) {
        let slot: Slot
        var after: ActorID?
        do throws(HostError) {
            slot = try container.slot(component, .votes)
            try container.check(item)
            try domain.limits.check(page: limit)
            if let cursor {
                guard let number = Int64(cursor) else {
                    throw .cursorInvalid("'\(cursor)' was not given out by this listing.")
                }
                after = ActorID(number)
            }
        } catch {
            return reply(.failure(error))
        }
        // One more than requested, to find out whether there is a next page.
        let query = ComponentQuery.ballots(Subject(item: item), after: after, limit: limit + 1)
        slot.requests.ask(
            Question(needsQuiet: true, by: user, while: isAwaited, make: { query }) { result in
                // The item may have been removed while the question waited.
                if let error = container.absence(of: item) { return reply(.failure(error)) }
                reply(
                    result.map { answer in
                        guard case .ballots(let ballots) = answer else {
                            return BallotPage(
                                ballots: [], next: nil, sequence: domain.commits.sequence)
                        }
                        return BallotPage(ballots, limit: limit, domain)
                    })
            }, for: slot)
    }

    /// Calls `moment` while the votes component's own state is the committed one, and reads an actor's ballots at the
    /// same time.
    ///
    /// - Parameters:
    ///   - actor: the actor's name; there are no ballots without one, or if the actor is unknown.
    ///   - component: the votes component; nil: the one that lists show.
    ///   - user: whose call it is.
    ///   - moment: returns the subjects.
    ///   - then: called with the ballots in the order of the subjects, or with an empty array if there can't be any,
    ///     or with the component's error.
    func withBallots(
        of actor: String?, in component: Slot? = nil, by user: String,
        _ moment: @escaping () -> [Subject], then: @escaping Answer<[Ballot?]>
    ) {
        guard let number = actor.flatMap({ domain.actors.number(of: $0) }),
            let votes = component ?? container.derived.votes.flatMap({ container.slot($0) })
        else {
            _ = moment()
            return then(.success([]))
        }
        votes.requests.ask(
            Question(
                needsQuiet: true, by: user,
                make: { .ballotsOf(number, subjects: moment()) },
                done: { result in
                    switch result {
                    case .success(.ballotsOf(let ballots)): then(.success(ballots))
                    case .success:
                        then(.failure(.wrongAnswer(of: votes.name)))
                    case .failure where component == nil && container.derived.votes != votes.name:
                        // Lists show another votes component by now, or none.
                        withBallots(of: actor, by: user, moment, then: then)
                    case .failure(let error): then(.failure(error))
                    }
                }), for: votes)
    }
}

extension BallotPage {
    fileprivate init(_ ballots: [Ballot], limit: Int, _ domain: Domain) {
        let shown = ballots.prefix(limit)
        self.init(
            ballots: shown.map {
                BallotView(
                    actor: domain.actors.name(of: $0.actor) ?? "", value: $0.value, cast: $0.cast)
            },
            next: ballots.count > limit ? shown.last.map { "\($0.actor.number)" } : nil,
            sequence: domain.commits.sequence)
    }
}

/// The command that casts or retracts a ballot.
final class BallotCommand: Command {
    private let item: String?
    /// The value to cast; nil retracts the ballot.
    private let value: Double?
    private let reply: Answer<VoteResult>

    init(
        _ value: Double?, on item: String?, to slot: Slot, of container: Container,
        by caller: Caller, _ reply: @escaping Answer<VoteResult>
    ) {
        self.item = item
        self.value = value
        self.reply = reply
        let subject = Subject(item: item)
        super.init(
            value.map { .castBallot(subject: subject, value: $0) }
                ?? .retractBallot(subject: subject),
            on: slot, of: container, CommandContext(of: caller, in: container.domain))
    }

    override func objection() -> HostError? {
        if let absence = container.absence(of: item) ?? closure(of: .votes) {
            return absence
        }
        guard let value else { return nil }
        guard value.isFinite else {
            return .refused(reason: "The value is not a finite number.", retryAfter: nil)
        }
        let ballot = Ballot(
            subject: Subject(item: item), actor: context.actor, value: value, cast: context.time)
        return veto { container.delegate.votes($0, shouldAccept: ballot) }
    }

    override func draft(of decision: Decision) -> EntryDraft? {
        guard !decision.changes.isEmpty,
            case .ballot(let tally, let previous, _) = decision.answer
        else { return nil }
        return EntryDraft(
            topic: value == nil ? .votesRetracted : .votesCast,
            // Visible to everyone, so it names neither the actor nor their vote.
            payload: Payload.object {
                $0.member("component", slot.name)
                $0.member("item", item)
                $0.member("count", tally.count)
                $0.member("score", tally.score)
            },
            restricted: Payload.object {
                $0.member("value", value)
                $0.member("previous", previous)
            })
    }

    override func end(_ result: Result<Decided, HostError>) {
        reply(
            result.map { decided in
                guard case .ballot(let tally, let previous, let current) = decided.decision.answer
                else {
                    return VoteResult(
                        tally: TallyView(tally: Tally(), mine: nil), previous: nil,
                        sequence: decided.sequence)
                }
                return VoteResult(
                    tally: TallyView(tally: tally, mine: current), previous: previous,
                    sequence: decided.sequence)
            })
    }
}
