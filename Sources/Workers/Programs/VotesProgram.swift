internal import AtriumKit
internal import JSONCodec
internal import PluginInterfaces
internal import Varlink

/// The calls to a program of the kind `votes`, in the kit's types; the program's replies are checked here.
struct VotesProgram {
    /// The terms of a component's work, from the program's reply to its settings.
    struct Terms {
        /// The votes that it accepts.
        let facts: VoteFacts
        /// The interval in seconds at which to call `Listen`; nil: never.
        let listen: Int?
        /// The fields of an item that are sent with `Cast` and `Retract`.
        let itemFields: ItemFields
    }

    let program: Program

    /// Calls `Hello`.
    static func greet(_ program: Program) throws -> Program.Greeting {
        let reply = try program.ask(
            Votes.Hello.self, .init(protocols: [Program.version]), for: ProgramVotes.self)
        return try .init(reply.protocol, reply.settings, reply.defaults)
    }

    static func invalidSetting(_ error: VarlinkRemoteError) -> SettingError? {
        error.as(Votes.SettingInvalid.self).map { SettingError($0.setting, $0.reason) }
    }

    /// Calls `Start`, which makes the component; throws `SettingError` for a setting that it refuses, `LaunchFailure`
    /// for an invalid reply.
    func start(_ context: ComponentContext) throws -> Terms {
        do {
            let reply = try program.ask(
                Votes.Start.self,
                .init(
                    container: context.container, component: context.component,
                    settings: JSONObject(context.settings)), for: ProgramVotes.self)
            return try Terms(reply, context)
        } catch let failure as ProgramFailure {
            throw program.launchFailure(failure)
        }
    }

    /// Calls `ChangeSettings`, and returns the terms from now on; the scale stays.
    func change(_ context: ComponentContext, from terms: Terms) -> Terms {
        let reply = program.sure(
            Votes.ChangeSettings.self, .init(settings: JSONObject(context.settings)))
        do throws(ProgramFailure) {
            let changed = try Terms(.init(reply), context)
            guard changed.facts.hasScale(of: terms.facts) else {
                throw ProgramFailure(
                    "answered 'ChangeSettings' with another scale: a setting that it follows from can't be live"
                )
            }
            return changed
        } catch {
            program.end(error.reason)
        }
    }

    /// Sends it ballots that the store holds.
    func restore(_ ballots: [AtriumKit.Ballot]) {
        _ = program.sure(
            Votes.Restore.self, .init(ballots: ballots.map(PluginInterfaces.Ballot.init)))
    }

    /// Requests the scores of subjects, in their order.
    func scores(of subjects: [AtriumKit.Subject]) -> [Double?] {
        let scores = program.sure(
            Votes.Restored.self,
            .init(subjects: subjects.map { PluginInterfaces.Subject(item: $0.item) })
        ).scores
        guard scores.count == subjects.count else {
            program.end(
                "answered 'Restored' with \(scores.count) scores for \(subjects.count) subjects")
        }
        for score in scores { check(score, in: "Restored") }
        return scores
    }

    /// Calls the program to accept or refuse a ballot.
    func cast(
        _ ballot: AtriumKit.Ballot, over previous: AtriumKit.Ballot?, _ terms: Terms
    ) throws(Refusal) {
        _ = try program.judge(
            Votes.Cast.self,
            .init(
                ballot: .init(ballot), previous: previous.map(Vote.init),
                fields: terms.itemFields.values(of: ballot.subject.item)), refusal: Self.refusal)
    }

    /// Calls the program to accept or refuse the retraction of a ballot.
    func retract(_ ballot: AtriumKit.Ballot, _ terms: Terms) throws(Refusal) {
        _ = try program.judge(
            Votes.Retract.self,
            .init(
                ballot: .init(ballot), fields: terms.itemFields.values(of: ballot.subject.item)),
            refusal: Self.refusal)
    }

    /// Passes a ballot to the program, which counts it; returns the subject's score.
    func apply(_ turn: BallotBox.Turn) -> Double? {
        let score = program.sure(
            Votes.Apply.self,
            .init(
                item: turn.subject.item, actor: String(turn.actor.number),
                vote: turn.ballot.map(Vote.init), previous: turn.previous.map(Vote.init))
        ).score
        check(score, in: "Apply")
        return score
    }

    /// Returns the scores that the program changed by itself.
    func listen() -> [(subject: AtriumKit.Subject, score: Double?)] {
        let scores = program.sure(
            Votes.Listen.self, .init(), within: ProgramProcess.listenDeadline
        ).scores
        guard scores.count <= 10_000 else {
            program.end("answered 'Listen' with \(scores.count) scores, where 10000 are allowed")
        }
        return scores.map { score in
            check(score.score, in: "Listen")
            return (AtriumKit.Subject(item: score.item), score.score)
        }
    }

    /// Calls `Stop`.
    func stop() { program.stop(Votes.Stop.self, .init()) }

    private func check(_ score: Double?, in method: String) {
        guard let score, !score.isFinite else { return }
        program.end("answered '\(method)' with the score \(score), which is no number")
    }

    private static func refusal(_ error: VarlinkRemoteError) -> Refusal? {
        error.as(Votes.Refused.self).flatMap { Program.refusal($0.reason, $0.retryAfter) }
    }
}

extension VotesProgram.Terms {
    fileprivate init(
        _ reply: Votes.Start.Reply, _ context: ComponentContext
    ) throws(ProgramFailure) {
        try Program.check(listen: reply.listen)
        let subjects = reply.subjects.map { kinds in
            Set(kinds.map { $0 == .items ? SubjectKind.items : .container })
        }
        facts = VoteFacts(
            min: reply.min, max: reply.max, step: reply.step,
            subjects: subjects ?? Set(SubjectKind.allCases))
        listen = reply.listen
        itemFields = try ItemFields(reply.itemFields, context)
    }
}

extension Votes.Start.Reply {
    /// The reply to other settings, which has the same members.
    fileprivate init(_ reply: Votes.ChangeSettings.Reply) {
        self.init(
            min: reply.min, max: reply.max, step: reply.step,
            subjects: reply.subjects?.map { $0 == .items ? .items : .container },
            listen: reply.listen, itemFields: reply.itemFields)
    }
}

extension VoteFacts {
    fileprivate func hasScale(of other: VoteFacts) -> Bool {
        (min, max, step) == (other.min, other.max, other.step)
    }
}

extension Program {
    /// Converts an error of a program to a refusal; nil: the error is invalid.
    static func refusal(_ reason: String, _ retryAfter: Double?) -> Refusal? {
        guard retryAfter.map({ $0.isFinite && $0 >= 0 }) ?? true else { return nil }
        return Refusal(.refused, String(reason.prefix(1_000)), retryAfter: retryAfter)
    }

    /// Checks the interval at which a program wants `Listen` to be called.
    static func check(listen seconds: Int?) throws(ProgramFailure) {
        guard let seconds, !(1...86_400).contains(seconds) else { return }
        throw ProgramFailure("wants to be listened to every \(seconds) s: 1 to 86400 are right")
    }
}

extension PluginInterfaces.Ballot {
    fileprivate init(_ ballot: AtriumKit.Ballot) {
        self.init(
            item: ballot.subject.item, actor: String(ballot.actor.number), value: ballot.value,
            cast: Int(ballot.cast.milliseconds))
    }
}

extension Vote {
    fileprivate init(_ ballot: AtriumKit.Ballot) {
        self.init(value: ballot.value, cast: Int(ballot.cast.milliseconds))
    }
}
