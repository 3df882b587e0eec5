internal import AtriumKit
internal import Glibc
internal import Host
internal import Interfaces
internal import JSONCodec
internal import NIOCore
internal import PluginLoader
internal import Varlink

/// The worker's side of the conversation: makes and calls one component as the daemon requests.
///
/// The component has the same port as one in the daemon. The messages that the port sends to its owner go to
/// the stream. Use it on the worker's event loop only.
final class WorkerSession {
    private let code: PluginCode
    private let id: String
    /// The identity of the code that the daemon holds; nil: any code at the path is run.
    private let identity: String?
    private let loop: any EventLoop
    private let end: () -> Void

    private var port: (any ComponentPort)?
    private lazy var questions = WorkerHostClient(WorkerProgram.questions)
    /// The parts of the restored component's state that were not returned yet.
    private var unsent = EventParts([], of: .message)
    /// The values of fields that were reported so far, until the last part arrives.
    private var reported: [String: [Value]] = [:]
    private var stream: VarlinkCall<Worker.Attach.Reply>?
    /// The bytes that the predecessor kept, as far as they have arrived.
    private var kept: [UInt8]?
    /// The calls that wait for their turn.
    private var waiting = CircularBuffer<(id: Int, call: WorkerCall)>()
    private var isTurnComing = false
    /// Replies from before the daemon attached; the two connections may be read in any order.
    private var unsaid: [Worker.Attach.Reply] = []

    init(
        code: PluginCode, id: String, identity: String?, loop: any EventLoop,
        end: @escaping () -> Void
    ) {
        self.code = code
        self.id = id
        self.identity = identity
        self.loop = loop
        self.end = end
    }

    /// Whether the daemon has attached to the stream.
    var isAttached: Bool { stream != nil }

    /// Sends all replies on this stream from now on; the worker ends when the stream closes.
    func attach(_ call: VarlinkCall<Worker.Attach.Reply>) {
        guard call.wantsMore else { return call.fail(VarlinkService.ExpectedMore()) }
        stream = call
        let session = NIOLoopBound(self, eventLoop: loop)
        call.onClose { session.value.end() }
        for reply in unsaid { call.replyContinues(reply) }
        unsaid = []
    }

    /// Queues a call; each turn of the loop runs one call and answers it.
    ///
    /// So an answer is sent before the next call begins. If the next call crashes or hangs, no earlier call seems
    /// unanswered, and the daemon blames the right one.
    func enqueue(_ id: Int, _ call: WorkerCall) {
        waiting.append((id, call))
        comeAgain()
    }

    private func comeAgain() {
        guard !isTurnComing, !waiting.isEmpty else { return }
        isTurnComing = true
        let session = NIOLoopBound(self, eventLoop: loop)
        loop.execute { session.value.takeTurn() }
    }

    private func takeTurn() {
        isTurnComing = false
        guard let (id, call) = waiting.popFirst() else { return }
        run(id, call)
        // Sent now, since the next call may never return to the loop.
        stream?.sendNow()
        comeAgain()
    }

    private func run(_ id: Int, _ call: WorkerCall) {
        switch call {
        case .keptPart(let bytes):
            if kept == nil { kept = bytes } else { kept?.append(contentsOf: bytes) }
            answer(id, .done)
        case .start(let start): self.start(id, start)
        case .close:
            port?.close()
            port = nil
            end()
        default:
            guard let port else { return answer(id, .refused(notStarted)) }
            run(id, call, on: port)
        }
    }

    private func run(_ id: Int, _ call: WorkerCall, on port: any ComponentPort) {
        switch call {
        case .keptPart, .start, .close: return
        case .restore(let changes):
            return port.load(changes) { self.answer(id, .done) }
        case .finishRestore:
            unsent = EventParts(of: .message, State(port).next)
            return answer(id, nextPart())
        case .giveMore: return answer(id, nextPart())
        case .decide(let command, let context):
            return port.decide(command, context) {
                self.answer(id, $0.map(WorkerAnswer.decided))
            }
        case .answer(let query):
            return port.answer(query) { self.answer(id, $0.map(WorkerAnswer.answered)) }
        case .readImage(let number, let item, let field):
            port.readImage(number, of: item, field: field)
        case .undo(let changes): port.undo(changes)
        case .reportPart(let values): appendReported(values)
        case .report(let values, let cut):
            appendReported(values)
            let values = reported
            reported = [:]
            return port.report(values, cut: cut) { self.answer(id, .done) }
        case .deliver(let notification): port.deliver(notification)
        case .ask(let number, let question): port.ask(number, question)
        case .reload: port.reload()
        case .audience(let screens): port.reportAudience(screens)
        case .pass(let phase): port.notify(phase)
        case .take(let settings):
            return port.apply(settings) { self.answer(id, Self.started(port)) }
        }
        answer(id, .done)
    }

    private static func started(_ port: any ComponentPort) -> WorkerAnswer {
        .started(
            port.kind, observedFields: port.observedFields, preselection: port.preselection,
            facts: port.facts, asks: port.asks)
    }

    private func appendReported(_ values: [String: [Value]]) {
        for (field, values) in values { reported[field, default: []] += values }
    }

    private func nextPart() -> WorkerAnswer {
        let part = unsent.next()
        return .restored(part, isLast: unsent.isOver)
    }

    private func start(_ id: Int, _ start: WorkerStart) {
        let code: PluginCode
        do throws(LaunchFailure) {
            code = try heldCode()
        } catch {
            return answer(id, .notStarted(error))
        }
        var plugin = PluginLoader.Plugin(
            id: self.id, version: "", kind: start.kind, title: "", code: code,
            isolation: .process)
        if case .program(let path) = code {
            do throws(LaunchFailure) {
                plugin.component = try Program.start(
                    path, kind: start.kind, plugin: self.id,
                    callTime: .milliseconds(start.callMilliseconds))
            } catch {
                return answer(id, .notStarted(error))
            }
        }
        var limits = HostLimits()
        limits.keptBytes = start.keptBytes
        var request = LaunchRequest(
            plugin: plugin, container: start.container, component: start.component,
            settings: start.settings, secrets: start.secrets, fields: start.fields,
            limits: limits)
        request.kept = kept
        kept = nil
        if let error = unreadablePath(of: plugin, start.settings) {
            return answer(id, .notStarted(.setting(error)))
        }
        InProcessLauncher(loop: loop, judges: false, crashLog: CrashWords()).launch(
            request, owner: self
        ) { result in
            switch result {
            case .success(let port):
                if let failure = self.swap(of: code) {
                    port.close()
                    return self.answer(id, .notStarted(failure))
                }
                self.port = port
                self.answer(id, Self.started(port))
            case .failure(let failure): self.answer(id, .notStarted(failure))
            }
        }
    }

    /// The code that the daemon holds, wherever it is by now.
    private func heldCode() throws(LaunchFailure) -> PluginCode {
        guard let identity else { return code }
        do throws(PluginProblem) {
            let found = try HeldCode.found(
                code, identity: identity, descriptor: WorkerProgram.library, plugin: id)
            if found != code {
                // The daemon logs it.
                print(
                    "\(code.path) was replaced since the plugin was loaded: this worker runs the loaded "
                        + "version. 'atriumctl plugin reload \(id)' loads the new one.")
            }
            return found
        } catch {
            throw .failed(reason: error.reason)
        }
    }

    /// The failure if the code at the path was replaced while it was being loaded; nil: it was not.
    private func swap(of code: PluginCode) -> LaunchFailure? {
        guard let identity, code == self.code, HeldCode.identity(of: code) != identity else {
            return nil
        }
        return .unavailable(reason: "\(code.path) was replaced while it was being loaded.")
    }

    /// Finds a path in the settings that this process may not read; the plugin's manifest lists those that it may.
    private func unreadablePath(
        of plugin: PluginLoader.Plugin, _ settings: [String: Value]
    ) -> SettingError? {
        // If the library can't be loaded, the launcher reports it.
        let declared = (try? plugin.loaded())?.settings ?? []
        for setting in declared where setting.type == .path {
            let given = settings[setting.name]?.text
            guard let path = given ?? setting.defaultValue?.text else { continue }
            let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
            if descriptor >= 0 { Glibc.close(descriptor) }
            guard descriptor < 0, errno == EACCES else { continue }
            let byDefault =
                "\(path), which it is by default, can't be read: a worker reads what a definition "
                + "names, so write '\(setting.name)' into the component's settings"
            let named =
                "\(path) can't be read: the daemon's user needs the right to, and the plugin's "
                + "manifest has to name '\(setting.name)' under \"paths\"" + Self.wall(path)
            return SettingError(setting.name, given == nil ? byDefault : named)
        }
        return nil
    }

    /// Names a restriction of the service that keeps a path from being read, if that can be determined.
    private static func wall(_ path: String) -> String {
        let homes = ["/home", "/root", "/run/user"]
        let isClosed = homes.contains {
            path.hasPrefix($0 + "/") && access($0, X_OK) != 0 && errno == EACCES
        }
        guard isClosed else { return "" }
        return
            "; the unit hides home directories (ProtectHome=): install share/atrium/drop-ins/home.conf"
    }

    private var notStarted: Refusal {
        Refusal(.refused, "The worker has no component: 'start' was not called or failed.")
    }

    // MARK: Sending

    private func answer(_ id: Int, _ result: Result<WorkerAnswer, PortFailure>) {
        switch result {
        case .success(let answer): self.answer(id, answer)
        case .failure(.refused(let refusal)): answer(id, .refused(refusal))
        case .failure(.mistrusted(let reason)), .failure(.died(let reason)):
            answer(id, .refused(Refusal(.refused, reason)))
        }
    }

    private func answer(_ id: Int, _ answer: WorkerAnswer) {
        let message = Wire.encode(answer)
        let size = message.bytes.count
        guard size <= answer.mostBytes else { return self.answer(id, .tooLong(bytes: size)) }
        send(message, id: id)
    }

    /// Sends a message of the component, unless it is too large: then returns its number of bytes.
    private func send(_ message: ComponentMessage) -> Int? {
        let text = Wire.encode(WorkerMessage(message))
        let size = text.bytes.count
        guard size <= WorkerInbox.most else { return size }
        send(text, id: nil)
        return nil
    }

    private func complain(_ what: String, _ size: Int) {
        _ = send(
            .logs(
                .error,
                "\(what) of \(size) bytes is dropped, where \(WorkerInbox.most) are allowed: "
                    + "report less at a time."))
    }

    private func send(_ message: JSONObject, id: Int?) {
        for reply in Worker.Attach.Reply.carrying(message, id: id) {
            if let stream { stream.replyContinues(reply) } else { unsaid.append(reply) }
        }
    }

    /// Sends changes of items in parts, so that the daemon serves others between them.
    private func raise(_ events: [ComponentEvent], inPartsOf bytes: Int) {
        var parts = EventParts(events, of: .bytes(bytes))
        while !parts.isOver {
            let part = parts.next()
            guard let size = send(.raised(part)) else { continue }
            // Escaped as JSON, a text may become six times as long. A part of one byte is a single item.
            guard bytes > 1 else {
                complain("A change", size)
                continue
            }
            raise(part, inPartsOf: max(bytes / 8, 1))
        }
    }
}

/// Keeps the component's log messages for the handler of crashes.
private struct CrashWords: CrashLog {
    func append(_ message: String) { CrashHandler.append(LineBudget.cut(message)) }

    func clear() { CrashHandler.forget() }
}

/// Reads the component's state piece by piece; the port is in this process and calls back during the call.
private final class State {
    private let port: any ComponentPort
    private var isBegun = false

    init(_ port: any ComponentPort) { self.port = port }

    /// Returns the next piece; nil: there is none.
    func next() -> [ComponentEvent]? {
        var reported: StatePart?
        port.reportState(anew: !isBegun) { reported = try? $0.get() }
        isBegun = true
        guard let reported, !reported.isLast else { return nil }
        return reported.events
    }
}

extension WorkerAnswer {
    /// The most bytes that the answer may have as a message.
    ///
    /// An answer to a query is passed on to a client, whose messages have a lower limit.
    fileprivate var mostBytes: Int {
        if case .answered = self { WorkerPort.answerBytes } else { WorkerInbox.most }
    }
}

extension WorkerSession: PortOwner {
    func port(_ port: any ComponentPort, sent message: ComponentMessage) {
        switch message {
        case .raised(let events): raise(events, inPartsOf: StateBudget.part)
        case .publishes(let name, _):
            if let size = send(message) { complain("The notification '\(name)'", size) }
        case .observes, .image: _ = send(message)
        case .keeps: if let size = send(message) { complain("What it has kept", size) }
        case .logs(let level, let text): _ = send(.logs(level, LineBudget.cut(text)))
        case .reports(let problem):
            _ = send(.reports(problem: problem.map { LineBudget.cut($0) }))
        case .answers(let number, _):
            guard let size = send(message) else { return }
            let reason =
                "An answer of \(size) bytes can't be sent, where \(WorkerInbox.most) are allowed."
            _ = send(.answers(number, .failure(Refusal(reason))))
        }
    }

    func port(_ port: any ComponentPort, itemWith id: String) -> AtriumKit.Item? {
        questions.item(id)
    }

    /// Never called: a component in this process ends only together with the process.
    func port(_ port: any ComponentPort, died death: PortDeath) {}
}
