// The harness of the kind `votes`.

extension ComponentHarness {
    func cast(
        _ value: Double, on subject: Subject, with votes: any Voting, _ context: CommandContext
    ) throws(Refusal) -> Decision {
        let ballot = Ballot(
            subject: subject, actor: context.actor, value: value, cast: context.time)
        let previous = votes.ballot(of: context.actor, on: subject)?.value
        return answered(
            try votes.cast(ballot, context), previous: previous, on: subject, with: votes, context)
    }

    func retract(
        from subject: Subject, with votes: any Voting, _ context: CommandContext
    ) throws(Refusal) -> Decision {
        let previous = votes.ballot(of: context.actor, on: subject)?.value
        let changes = try votes.retract(actor: context.actor, subject: subject, context)
        return answered(changes, previous: previous, on: subject, with: votes, context)
    }

    private func answered(
        _ changes: [Change], previous: Double?, on subject: Subject, with votes: any Voting,
        _ context: CommandContext
    ) -> Decision {
        let events = apply(changes)
        return Decision(
            changes: changes,
            answer: .ballot(
                tally: events.tally(of: subject) ?? votes.tally(of: subject), previous: previous,
                current: votes.ballot(of: context.actor, on: subject)?.value),
            events: events)
    }

    func answer(
        _ query: ComponentQuery, with votes: any Voting
    ) throws(Refusal) -> ComponentAnswer {
        switch query {
        case .ballotsOf(let actor, let subjects):
            return .ballotsOf(subjects.map { votes.ballot(of: actor, on: $0) })
        case .ballots(let subject, let after, let limit):
            return .ballots(votes.ballots(on: subject, after: after, limit: limit))
        case .recordKeys(let subjects):
            return .recordKeys(subjects.flatMap(votes.recordKeys))
        default:
            throw notForThisKind()
        }
    }
}

extension [ComponentEvent] {
    /// Returns the last tally of a subject among the events; nil if there is none.
    fileprivate func tally(of subject: Subject) -> Tally? {
        for event in reversed() {
            if case .tally(subject, let tally) = event { return tally }
        }
        return nil
    }
}
