internal import AtriumKit
internal import Varlink

/// A votes component whose decisions and scores come from a plugin's program; the worker hosts it.
///
/// The ballots are kept here. So the program is only called with changes, and need not remember who voted. It is not
/// called for answers that the ballots contain.
final class ProgramVotes: Voting, ProgramComponent {
    /// The most ballots or subjects in one call of the program.
    static let slice = 500

    weak var delegate: (any VotingDelegate)?

    private let context: ComponentContext
    private let program: VotesProgram
    private var terms: VotesProgram.Terms
    /// Calls `Listen` again and again.
    private var listening: Wakeup?
    private var box = BallotBox()
    private var scores = SplitDictionary<Subject, Double>()
    /// Stored ballots that were not sent to the program yet.
    private var unsent: [Ballot] = []

    static func greet(_ program: Program) throws -> Program.Greeting {
        try VotesProgram.greet(program)
    }

    static func invalidSetting(_ error: VarlinkRemoteError) -> SettingError? {
        VotesProgram.invalidSetting(error)
    }

    static var settings: [Setting] { Program.current?.settings ?? [] }

    init(context: ComponentContext) throws {
        let program = VotesProgram(program: try Program.started())
        terms = try program.start(context)
        self.context = context
        self.program = program
    }

    var facts: VoteFacts { terms.facts }

    func didAttach() {
        listening = terms.listen.flatMap { seconds in
            try? context.every(.seconds(seconds)) { [weak self] in self?.listenToProgram() }
        }
    }

    func didDetach() { program.stop() }

    // MARK: Settings

    func canTake(_ settings: Settings) -> Bool {
        program.program.canTake(settings, inPlaceOf: context.settings)
    }

    func settingsDidChange(from before: Settings) {
        sendRestored()
        let listen = terms.listen
        terms = program.change(context, from: terms)
        guard terms.listen != listen else { return }
        listening?.cancel()
        didAttach()
    }

    // MARK: Deciding

    func cast(_ ballot: Ballot, _ context: CommandContext) throws(Refusal) -> [Change] {
        guard facts.subjects.contains(SubjectKind(ballot.subject)) else {
            throw Refusal(
                ballot.subject.item == nil
                    ? "Votes here are on items; name one."
                    : "Votes here are on the container as a whole; name no item.")
        }
        guard facts.takes(ballot.value) else {
            let value = Value.number(ballot.value).plainText ?? ""
            throw Refusal(
                .refused, "A vote here is \(facts.scale); \(value) is not.",
                evidence: ["value": value])
        }
        let previous = box.ballot(of: ballot.actor, on: ballot.subject)
        if previous?.value == ballot.value { return [] }
        sendRestored()
        try program.cast(ballot, over: previous, terms)
        return [ballot.record]
    }

    func retract(
        actor: ActorID, subject: Subject, _ context: CommandContext
    ) throws(Refusal) -> [Change] {
        guard let ballot = box.ballot(of: actor, on: subject) else { return [] }
        sendRestored()
        try program.retract(ballot, terms)
        return [.removed(key: Ballot.key(actor: actor, subject: subject))]
    }

    // MARK: State

    func apply(_ change: Change) {
        guard let turn = box.apply(change, where: { facts.takes($0.value) }) else { return }
        // It has no delegate while it is being restored.
        if delegate == nil, turn.previous == nil, let ballot = turn.ballot {
            unsent.append(ballot)
            if unsent.count == Self.slice { sendRestored() }
            return
        }
        sendRestored()
        setScore(program.apply(turn), of: turn.subject)
        delegate?.voting(self, didChange: tally(of: turn.subject), of: turn.subject)
    }

    private func sendRestored() {
        guard !unsent.isEmpty else { return }
        program.restore(unsent)
        unsent = []
    }

    private func setScore(_ score: Double?, of subject: Subject) {
        scores[subject] = box.count(of: subject) > 0 ? score : nil
    }

    private func listenToProgram() {
        for (subject, score) in program.listen() where scores[subject] != score {
            // A subject without ballots has no score, whatever the program returned.
            guard box.count(of: subject) > 0 else { continue }
            setScore(score, of: subject)
            delegate?.voting(self, didChange: tally(of: subject), of: subject)
        }
    }

    // MARK: Answers from the ballots

    /// All tallies; their scores are requested from the program as the sequence advances, a slice at a time.
    var tallies: some Sequence<(subject: Subject, tally: Tally)> {
        sendRestored()
        let subjects = Array(box.subjects)
        return stride(from: 0, to: subjects.count, by: Self.slice).lazy.flatMap { start in
            self.tallies(of: subjects[start..<min(start + Self.slice, subjects.count)])
        }
    }

    private func tallies(of subjects: ArraySlice<Subject>) -> [(subject: Subject, tally: Tally)] {
        // The last ballot of a subject may have been retracted meanwhile; that was reported then.
        let subjects = subjects.filter { box.count(of: $0) > 0 }
        for (subject, score) in zip(subjects, program.scores(of: subjects)) {
            setScore(score, of: subject)
        }
        return subjects.map { ($0, tally(of: $0)) }
    }

    func tally(of subject: Subject) -> Tally {
        box.tally(of: subject, score: scores[subject])
    }

    func ballot(of actor: ActorID, on subject: Subject) -> Ballot? {
        box.ballot(of: actor, on: subject)
    }

    func ballots(on subject: Subject, after: ActorID?, limit: Int) -> [Ballot] {
        box.ballots(on: subject, after: after, limit: limit)
    }

    func recordKeys(about subject: Subject) -> [String] { box.recordKeys(about: subject) }
}

extension VoteFacts {
    /// Whether a value is on the scale.
    fileprivate func takes(_ value: Double) -> Bool {
        guard value.isFinite, value >= min ?? value, value <= max ?? value else { return false }
        guard let step, step > 0 else { return true }
        let steps = (value - (min ?? 0)) / step
        return abs(steps - steps.rounded()) < 1e-6
    }

    /// The scale in words.
    fileprivate var scale: String {
        func text(_ number: Double) -> String { Value.number(number).plainText ?? "" }
        let range =
            switch (min, max) {
            case (let min?, let max?) where min == max: text(min)
            case (let min?, let max?): "from \(text(min)) to \(text(max))"
            case (let min?, nil): "\(text(min)) or more"
            case (nil, let max?): "\(text(max)) or less"
            case (nil, nil): "any number"
            }
        return range + (step.map { " in steps of \(text($0))" } ?? "")
    }
}
