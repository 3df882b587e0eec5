internal import AtriumKit
internal import Glibc
internal import Host
internal import Index
internal import JSONCodec
internal import PluginInterfaces
internal import Varlink

/// The calls to a program of the kind `votes`, in the kit's types; the program's answers are checked here.
///
/// Its guarantees:
///
/// - **An invalid answer to a vote is a refusal** with the plugin's name: Cast and Retract change nothing.
/// - **Any other fault ends the process.** The state of a program that ended, did not answer in time, or broke the
///   protocol is unknown. The host starts the component again, by its rules for workers.
final class VotesProgram {
    /// The settings that the program declared.
    let settings: [AtriumKit.Setting]

    private let plugin: String
    /// How long a call may take, other than the first ones.
    private let deadline: Duration
    private let process: ProgramProcess
    /// Those of Cast and Retract that the program does not implement.
    private var missing: Set<String> = []

    /// Starts a program and calls `Hello`.
    ///
    /// - Parameters:
    ///   - path: the program's path.
    ///   - plugin: the plugin's identifier.
    ///   - callTime: how long the host lets a call take.
    /// - Throws: what is wrong, as a sentence, and whether a retry may help.
    init(_ path: String, plugin: String, callTime: Duration) throws(LaunchFailure) {
        self.plugin = plugin
        deadline = ProgramProcess.deadline(where: callTime)
        let process: ProgramProcess
        do throws(ProgramFailure) {
            process = try ProgramProcess(path)
        } catch {
            throw Self.launchFailure(path, plugin, error)
        }
        self.process = process
        do {
            let reply = try Self.ask(
                process, Votes.Hello.self, .init(protocols: [1]),
                within: ProgramProcess.startDeadline)
            guard reply.protocol == 1 else {
                throw ProgramFailure(
                    "speaks the version \(reply.protocol) of the protocol, and this worker 1")
            }
            settings = try Self.settings(reply)
        } catch {
            let failure =
                error as? ProgramFailure ?? ProgramFailure("answered 'Hello' with \(error)")
            throw Self.launchFailure(path, plugin, failure)
        }
    }

    /// Calls `Start`, which makes the component.
    ///
    /// - Returns: the votes that it accepts, and the interval in seconds at which to call `Listen`; nil: never.
    /// - Throws: `SettingError` for a setting that it refuses, `LaunchFailure` for an invalid answer.
    func start(_ context: ComponentContext) throws -> (facts: VoteFacts, listen: Int?) {
        do {
            let reply = try Self.ask(
                process, Votes.Start.self,
                .init(
                    container: context.container, component: context.component,
                    settings: WireText.encode(.object(context.settings.values))),
                within: ProgramProcess.startDeadline)
            if let seconds = reply.listen, !(1...86_400).contains(seconds) {
                throw ProgramFailure(
                    "wants to be listened to every \(seconds) s: 1 to 86400 are right")
            }
            let subjects = reply.subjects.map { kinds in
                Set(kinds.map { $0 == .items ? SubjectKind.items : .container })
            }
            let facts = VoteFacts(
                min: reply.min, max: reply.max, step: reply.step,
                subjects: subjects ?? Set(SubjectKind.allCases))
            return (facts, reply.listen)
        } catch let failure as ProgramFailure {
            throw Self.launchFailure(process.path, plugin, failure)
        }
    }

    /// Sends it ballots that the store holds.
    func restore(_ ballots: [AtriumKit.Ballot]) {
        let told = ballots.map { ballot in
            PluginInterfaces.Ballot(
                item: ballot.subject.item, actor: String(ballot.actor.number), value: ballot.value,
                cast: Int(ballot.cast.milliseconds))
        }
        _ = sure(Votes.Restore.self, .init(ballots: told))
    }

    /// Requests the scores of subjects, in their order.
    func scores(of subjects: [AtriumKit.Subject]) -> [Double?] {
        let scores = sure(
            Votes.Restored.self,
            .init(subjects: subjects.map { PluginInterfaces.Subject(item: $0.item) })
        ).scores
        guard scores.count == subjects.count else {
            end("answered 'Restored' with \(scores.count) scores for \(subjects.count) subjects")
        }
        for score in scores { check(score, in: "Restored") }
        return scores
    }

    /// Asks it to accept or refuse a ballot.
    func cast(_ ballot: AtriumKit.Ballot, over previous: AtriumKit.Ballot?) throws(Refusal) {
        try judge(
            Votes.Cast.self,
            .init(
                ballot: PluginInterfaces.Ballot(
                    item: ballot.subject.item, actor: String(ballot.actor.number),
                    value: ballot.value,
                    cast: Int(ballot.cast.milliseconds)),
                previous: previous.map(Vote.init)))
    }

    /// Asks it to accept or refuse the retraction of a ballot.
    func retract(_ ballot: AtriumKit.Ballot) throws(Refusal) {
        try judge(
            Votes.Retract.self,
            .init(
                ballot: PluginInterfaces.Ballot(
                    item: ballot.subject.item, actor: String(ballot.actor.number),
                    value: ballot.value,
                    cast: Int(ballot.cast.milliseconds))))
    }

    /// Has it count a ballot; returns the subject's score.
    func apply(_ turn: BallotBox.Turn) -> Double? {
        let score = sure(
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
        let scores = sure(Votes.Listen.self, .init(), within: ProgramProcess.listenDeadline).scores
        guard scores.count <= 10_000 else {
            end("answered 'Listen' with \(scores.count) scores, where 10000 are allowed")
        }
        return scores.map { score in
            check(score.score, in: "Listen")
            return (AtriumKit.Subject(item: score.item), score.score)
        }
    }

    /// Calls `Stop`, and waits up to a second for the reply.
    func stop() {
        _ = try? process.client.call(Votes.Stop.self, .init(), within: .seconds(1))
        process.client.close()
    }

    // MARK: Calls

    /// Makes a call that the program may refuse, and that changes nothing.
    private func judge<Method: VarlinkMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters
    ) throws(Refusal) {
        guard !missing.contains(method.name) else { return }
        do {
            _ = try process.client.call(method, parameters, within: deadline)
        } catch let error as VarlinkRemoteError {
            guard error.name != VarlinkService.MethodNotImplemented.name else {
                missing.insert(method.name)
                return
            }
            if let refused = error.as(Votes.Refused.self),
                refused.retryAfter.map({ $0.isFinite && $0 >= 0 }) ?? true
            {
                throw Refusal(
                    .refused, String(refused.reason.prefix(1_000)), retryAfter: refused.retryAfter)
            }
            throw nonsense(method.name, "the error \(error)")
        } catch let error as JSONError {
            throw nonsense(method.name, "what it does not return: \(error)")
        } catch {
            end(failure(method.name, error))
        }
    }

    private func nonsense(_ method: String, _ what: String) -> Refusal {
        let reason = sentence("answered '\(Self.word(method))' with \(what.prefix(500))")
        say(reason)
        return Refusal(reason)
    }

    /// Makes a call that must succeed; any fault ends the process.
    private func sure<Method: VarlinkMethod>(
        _ method: Method.Type, _ parameters: Method.Parameters,
        within limit: Duration? = nil
    ) -> Method.Reply {
        do {
            return try process.client.call(method, parameters, within: limit ?? deadline)
        } catch {
            end(failure(method.name, error))
        }
    }

    private func failure(_ method: String, _ error: any Error) -> String {
        Self.failure(process, method, error).reason
    }

    private func check(_ score: Double?, in method: String) {
        guard let score, !score.isFinite else { return }
        end("answered '\(method)' with the score \(score), which is no number")
    }

    /// Prints the reason, which is logged, and ends this process and with it the program.
    private func end(_ reason: String) -> Never {
        say(sentence(reason))
        _exit(70)
    }

    private func say(_ text: String) {
        let line = Array((text + "\n").utf8)
        _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    private func sentence(_ reason: String) -> String {
        Self.sentence(process.path, plugin, reason)
    }

    private static func sentence(_ path: String, _ plugin: String, _ reason: String) -> String {
        "The program \(path) of the plugin \(plugin) \(reason)."
    }

    private static func launchFailure(
        _ path: String, _ plugin: String, _ failure: ProgramFailure
    ) -> LaunchFailure {
        let reason = sentence(path, plugin, failure.reason)
        return failure.mayPass ? .unavailable(reason: reason) : .failed(reason: reason)
    }

    private static func word(_ method: String) -> Substring {
        method.split(separator: ".").last ?? ""
    }

    /// Makes a call of the start, whose faults are thrown.
    private static func ask<Method: VarlinkMethod>(
        _ process: ProgramProcess, _ method: Method.Type, _ parameters: Method.Parameters,
        within time: Duration
    ) throws -> Method.Reply {
        do {
            return try process.client.call(method, parameters, within: time)
        } catch let error as VarlinkRemoteError {
            if let invalid = error.as(Votes.SettingInvalid.self) {
                throw SettingError(invalid.setting, String(invalid.reason.prefix(1_000)))
            }
            throw failure(process, method.name, error)
        } catch {
            throw failure(process, method.name, error)
        }
    }

    /// Describes a program's fault that made a call fail.
    private static func failure(
        _ process: ProgramProcess, _ method: String, _ error: any Error
    ) -> ProgramFailure {
        let method = word(method)
        switch error {
        case let error as VarlinkConnectionError where error.kind == .closed:
            let end = process.end()
            return ProgramFailure(
                "\(end?.words ?? "closed its socket") when it was asked '\(method)'",
                mayPass: end?.isBySignal ?? false)
        case let error as VarlinkConnectionError:
            return ProgramFailure(
                "failed when it was asked '\(method)': \(error)", mayPass: error.kind == .timedOut)
        case let error as VarlinkRemoteError:
            return ProgramFailure("answered '\(method)' with the error \("\(error)".prefix(500))")
        default:
            return ProgramFailure(
                "answered '\(method)' with what it does not return: \("\(error)".prefix(500))")
        }
    }
}

extension Vote {
    fileprivate init(_ ballot: AtriumKit.Ballot) {
        self.init(value: ballot.value, cast: Int(ballot.cast.milliseconds))
    }
}
