public import AtriumKit

/// Votes from 1 to a number of stars: `org.atrium.stars`.
///
/// The score is their mean, or with `score: bayesian` the mean of them and of a few that nobody cast, so that one
/// vote of 5 stars does not outrank four of 5 and 4.
public final class Stars: BallotRestoring {
    /// Who is notified of new tallies.
    public weak var delegate: (any VotingDelegate)?

    let context: ComponentContext
    let scale: Scale
    private(set) var subjects: Set<SubjectKind>
    private(set) var mayChange: Bool
    var ballotBoxes = SplitDictionary<Subject, BallotBox>()
    private var skipped = 0

    static let mayChange = Setting.boolean(
        "mayChange", "whether a vote may be changed and taken back"
    ).defaulting(to: true)

    /// What it understands: `scale`, `step`, `subjects`, `mayChange`, `score`, `prior`, `priorWeight`.
    public static var settings: [Setting] {
        Scale.settings + [SubjectKind.subjects.setting, mayChange.setting]
    }

    /// Makes a component without ballots; throws for a step that does not divide a star, and for unknown subjects.
    public init(context: ComponentContext) throws {
        self.context = context
        scale = try Scale(context.settings)
        subjects = try SubjectKind.read(context.settings)
        mayChange = context.settings[Self.mayChange]
    }

    /// Whether they differ only in `subjects` and `mayChange`, so that no score is another one.
    public func canTake(_ settings: Settings) -> Bool {
        Scale.settings.allSatisfy { settings[$0] == context.settings[$0] }
            && (try? SubjectKind.read(settings)) != nil
    }

    /// Decides by the new settings from now on.
    public func settingsDidChange(from before: Settings) {
        if let subjects = try? SubjectKind.read(context.settings) { self.subjects = subjects }
        mayChange = context.settings[Self.mayChange]
    }

    /// The scale, and what may be voted on.
    public var facts: VoteFacts {
        VoteFacts(min: 1, max: Double(scale.stars), step: scale.value(1), subjects: subjects)
    }

    /// Every subject that has ballots, with its tally.
    public var tallies: some Sequence<(subject: Subject, tally: Tally)> {
        let scale = scale
        return ballotBoxes.lazy.map { (subject: $0.key, tally: $0.value.tally(on: scale)) }
    }

    /// Counts the record's ballot, or no longer.
    public func apply(_ change: Change) {
        guard let (subject, actor) = Ballot.parse(key: change.key) else {
            return skip(change.key, "its key is no ballot's")
        }
        var vote: Vote?
        if let value = change.value {
            guard let ballot = Ballot(subject: subject, actor: actor, record: value),
                let units = scale.units(ballot.value)
            else {
                // What counted under this key no longer does.
                replace(nil, of: actor, on: subject)
                return skip(change.key, "it is no ballot on \(scale.title)")
            }
            vote = Vote(units: units, cast: ballot.cast)
        }
        replace(vote, of: actor, on: subject)
    }

    /// Counts the ballots, each on its subject.
    public func restore(_ ballots: [Ballot]) {
        var rest = ballots[...]
        while let subject = rest.first?.subject {
            let own = rest.prefix { $0.subject == subject }
            rest = rest[own.endIndex...]
            let isEmpty = ballotBoxes.change(subject, default: BallotBox()) { box in
                box.reserve(own.count)
                for ballot in own {
                    let vote = scale.units(ballot.value).map { Vote(units: $0, cast: ballot.cast) }
                    if vote == nil {
                        skip(
                            Ballot.key(actor: ballot.actor, subject: subject),
                            "it is no ballot on \(scale.title)")
                    }
                    _ = box.replace(vote, of: ballot.actor)
                }
                return box.isEmpty
            }
            if isEmpty { ballotBoxes[subject] = nil }
        }
    }

    private func replace(_ vote: Vote?, of actor: ActorID, on subject: Subject) {
        guard vote != nil || ballotBoxes[subject] != nil else { return }
        let (isChanged, isEmpty) = ballotBoxes.change(subject, default: BallotBox()) {
            ($0.replace(vote, of: actor), $0.isEmpty)
        }
        if isEmpty { ballotBoxes[subject] = nil }
        if isChanged {
            delegate?.voting(self, didChange: tally(of: subject), of: subject)
        }
    }

    /// Logs records that can't be read, but not every single one: after a change of the
    /// scale there may be a great many.
    private func skip(_ key: String, _ reason: String) {
        skipped += 1
        let name = key.split(separator: "\n", omittingEmptySubsequences: false)
            .joined(separator: "/")
        if skipped <= 10 {
            context.logger.warning("The record '\(name)' is skipped: \(reason).")
        }
        if skipped == 10 {
            context.logger.warning("Further records that are skipped are not logged.")
        }
    }
}

// MARK: Decisions and answers

extension Stars {
    /// Decides on a ballot: its value is on the scale, its subject may be voted on, and it may be changed; returns
    /// nothing for one that is there just so.
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

/// Exports the stars.
@c(atrium_plugin_org_atrium_stars)
public func starsPlugin() -> UnsafeMutableRawPointer { exportPlugin(Stars.self) }
