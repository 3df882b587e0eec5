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
    let subjects: Set<SubjectKind>
    let mayChange: Bool
    var ballotBoxes = SplitDictionary<Subject, BallotBox>()
    private var skipped = 0

    /// What it understands: `scale`, `step`, `subjects`, `mayChange`, `score`, `prior`, `priorWeight`.
    public static var settings: [Setting] {
        [
            Setting("scale", .integer(2...100), default: 5, "the most stars a vote may give"),
            Setting(
                "step", .number(0.01...1), default: 1,
                "what votes are multiples of: 1 for whole stars, 0.5 for halves"),
            Setting(
                "subjects", .list, default: ["items", "container"],
                "what may be voted on: items, container, or both"),
            Setting(
                "mayChange", .boolean, default: true,
                "whether a vote may be changed and taken back"),
            Setting(
                "score", .choice(["mean", "bayesian"]), default: "mean",
                "mean of the votes; or bayesian: with priorWeight votes of the value prior among them, so that few "
                    + "votes do not outrank many"),
            Setting(
                "prior", .number(1...100),
                "with score: bayesian, the value that few votes stay near; absent: the middle of the scale"
            ),
            Setting(
                "priorWeight", .number(0.1...1000), default: 5,
                "with score: bayesian, how many votes prior counts as"),
        ]
    }

    /// Makes a component without ballots.
    ///
    /// - Parameter context: its settings.
    /// - Throws: ``SettingError`` for a step that does not divide a star, and for unknown subjects.
    public init(context: ComponentContext) throws {
        self.context = context
        scale = try Scale(context.settings)
        subjects = try SubjectKind.read(context.settings)
        mayChange = context.settings["mayChange"]?.bool ?? true
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

/// Exports the stars.
@c(atrium_plugin_org_atrium_stars)
public func starsPlugin() -> UnsafeMutableRawPointer { exportPlugin(Stars.self) }
