public import AtriumKit

extension Stars {
    /// Decides on a ballot: its value is on the scale, its subject may be voted on, and it may be
    /// changed.
    ///
    /// - Parameters:
    ///   - ballot: whose, on what, how many stars.
    ///   - context: not looked at; the ballot says all.
    /// - Returns: the ballot's record; nothing for one that is there just so.
    /// - Throws: a ``Refusal`` that names the scale and the value, or the subjects.
    public func cast(_ ballot: Ballot, _ context: CommandContext) throws(Refusal) -> [Change] {
        try checkMayVote(on: ballot.subject)
        guard let units = scale.units(ballot.value) else {
            let value = Value.number(ballot.value).plainText ?? ""
            throw Refusal(
                .refused, "A vote goes from \(scale.title); \(value) does not.",
                evidence: ["value": value, "limit": "scale \(scale.stars)"])
        }
        if let previous = ballotBoxes[ballot.subject]?[ballot.actor] {
            if previous.units == units { return [] }
            try checkMayChange()
        }
        return [ballot.record]
    }

    /// Decides on taking a ballot back; none there changes nothing.
    public func retract(
        actor: ActorID, subject: Subject, _ context: CommandContext
    ) throws(Refusal) -> [Change] {
        guard ballotBoxes[subject]?[actor] != nil else { return [] }
        try checkMayChange()
        return [.removed(key: Ballot.key(actor: actor, subject: subject))]
    }

    /// The tally of a subject; without ballots an empty one.
    public func tally(of subject: Subject) -> Tally {
        ballotBoxes[subject]?.tally(on: scale) ?? Tally()
    }

    /// An actor's ballot on a subject, nil when there is none.
    public func ballot(of actor: ActorID, on subject: Subject) -> Ballot? {
        ballotBoxes[subject]?[actor].map { ballot($0, of: actor, on: subject) }
    }

    /// The ballots on a subject by actor, after one actor, at most so many.
    public func ballots(on subject: Subject, after: ActorID?, limit: Int) -> [Ballot] {
        let page = ballotBoxes[subject]?.page(after: after, limit: limit) ?? []
        return page.map { ballot($0.vote, of: $0.actor, on: subject) }
    }

    /// The keys of all ballots on a subject.
    public func recordKeys(about subject: Subject) -> [String] {
        ballotBoxes[subject]?.actors.map { Ballot.key(actor: $0, subject: subject) } ?? []
    }

    private func ballot(_ vote: Vote, of actor: ActorID, on subject: Subject) -> Ballot {
        Ballot(subject: subject, actor: actor, value: scale.value(vote.units), cast: vote.cast)
    }

    private func checkMayVote(on subject: Subject) throws(Refusal) {
        guard !subjects.contains(SubjectKind(subject)) else { return }
        throw Refusal(
            .refused,
            subject.item == nil
                ? "Votes here are on items; name one."
                : "Votes here are on the container as a whole; name no item.")
    }

    private func checkMayChange() throws(Refusal) {
        guard !mayChange else { return }
        throw Refusal(
            .refused, "A vote that was cast stays as it is here (the setting 'mayChange' is off).")
    }
}
