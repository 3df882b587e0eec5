import AtriumKit

// Votes on the container and on its items.
extension Container {
    func cast(
        _ component: String?, _ item: String?, value: Double, by caller: Caller,
        _ reply: @escaping Answer<VoteResult>
    ) {
        vote(value, component, item, by: caller, reply)
    }

    func retract(
        _ component: String?, _ item: String?, by caller: Caller,
        _ reply: @escaping Answer<VoteResult>
    ) {
        vote(nil, component, item, by: caller, reply)
    }

    private func vote(
        _ value: Double?, _ component: String?, _ item: String?, by caller: Caller,
        _ reply: @escaping Answer<VoteResult>
    ) {
        do throws(HostError) {
            let slot = try slot(component, .votes)
            try check(item)
            run(BallotCommand(value, on: item, to: slot, of: self, by: caller, reply))
        } catch {
            reply(.failure(error))
        }
    }

    /// What ``check(_:)`` throws.
    func absence(of item: String?) -> HostError? {
        do throws(HostError) {
            try check(item)
            return nil
        } catch {
            return error
        }
    }

    /// What the delegate has against a command.
    func veto(_ slot: Slot, _ ask: (ComponentReference) -> Refusal?) -> HostError? {
        slot.reference.flatMap(ask).map {
            HostError($0, container: name, component: slot.name)
        }
    }

    /// The committed tally, which waits for nobody.
    func tally(_ component: String?, _ item: String?) -> Result<TallyResult, HostError> {
        do throws(HostError) {
            let slot = try slot(component, .votes)
            try slot.checkShown()
            try check(item)
            let tally = slot.tallies[Subject(item: item)] ?? Tally()
            return .success(
                TallyResult(tally: TallyView(tally: tally, mine: nil), sequence: domain.sequence))
        } catch {
            return .failure(error)
        }
    }

    func tally(
        _ component: String?, _ item: String?, actor: String?,
        _ reply: @escaping Answer<TallyResult>
    ) {
        let slot: Slot
        do throws(HostError) {
            slot = try self.slot(component, .votes)
            try slot.checkShown()
            try check(item)
        } catch {
            return reply(.failure(error))
        }
        let subject = Subject(item: item)
        var tally = TallyResult(tally: TallyView(tally: Tally(), mine: nil), sequence: 0)
        withBallots(of: actor, in: slot) { [self] in
            // By name: the component may have been made anew while this waited.
            tally.tally.tally = self.slot(slot.name)?.tallies[subject] ?? Tally()
            tally.sequence = domain.sequence
            return [subject]
        } then: { ballots in
            reply(
                ballots.map { ballots in
                    tally.tally.mine = ballots.first.flatMap { $0 }?.value
                    return tally
                })
        }
    }

    /// A page of ballots; the cursor is the number of the last actor of the page before.
    func ballots(
        _ component: String?, _ item: String?, limit: Int, cursor: String?,
        _ reply: @escaping Answer<BallotPage>
    ) {
        let slot: Slot
        var after: ActorID?
        do throws(HostError) {
            slot = try self.slot(component, .votes)
            try check(item)
            try checkPage(limit)
            if let cursor {
                guard let number = Int64(cursor) else {
                    throw .cursorInvalid("'\(cursor)' was not given out by this listing.")
                }
                after = ActorID(number)
            }
        } catch {
            return reply(.failure(error))
        }
        // One more than asked for tells whether there is a next page.
        let query = ComponentQuery.ballots(Subject(item: item), after: after, limit: limit + 1)
        slot.ask(
            Question(needsQuiet: true, make: { query }) { [self] result in
                // The item may be gone by now.
                if let error = absence(of: item) { return reply(.failure(error)) }
                reply(
                    result.map { answer in
                        guard case .ballots(let ballots) = answer else {
                            return BallotPage(ballots: [], next: nil, sequence: domain.sequence)
                        }
                        return BallotPage(ballots, limit: limit, domain)
                    })
            })
    }

    func checkPage(_ limit: Int) throws(HostError) {
        try domain.limits.check(page: limit)
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
            sequence: domain.sequence)
    }
}
