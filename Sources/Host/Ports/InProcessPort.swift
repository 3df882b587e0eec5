internal import AtriumKit
internal import Index
public import LogMessages
public import NIOCore
public import PluginLoader

/// Makes components in the daemon's own process.
public final class InProcessLauncher: ComponentLauncher {
    private let loop: any EventLoop
    private let turns: TurnNotes
    private let notes: ProcessNotes?
    private let judges: Bool
    private let crashLog: (any CrashLog)?
    /// The files that the components watch.
    private let watches: FileWatches

    /// Makes a launcher.
    ///
    /// - Parameters:
    ///   - loop: the event loop that the components live on.
    ///   - turns: notes which components were called in a turn of the loop.
    ///   - judges: whether to check what components say; false where another process checks it.
    ///   - crashLog: keeps what components log, for a crash; nil: nothing does.
    public convenience init(
        loop: any EventLoop, turns: TurnNotes = TurnNotes(), judges: Bool = true,
        crashLog: (any CrashLog)? = nil
    ) {
        self.init(loop: loop, turns: turns, notes: nil, judges: judges, crashLog: crashLog)
    }

    /// As the public initializer, with notes for a crash or a hang.
    init(
        loop: any EventLoop, turns: TurnNotes, notes: ProcessNotes?, judges: Bool = true,
        crashLog: (any CrashLog)? = nil
    ) {
        self.judges = judges
        self.crashLog = crashLog
        watches = FileWatches(loop: loop)
        self.loop = loop
        self.turns = turns
        self.notes = notes
    }

    /// Makes a component during the call, after loading its library where that is needed.
    @discardableResult
    public func launch(
        _ request: LaunchRequest, owner: any PortOwner,
        _ done: @escaping (Result<any ComponentPort, LaunchFailure>) -> Void
    ) -> LaunchCancellation {
        let services = InProcessServices(
            loop: loop, watches: watches, kept: request.kept, mostKept: request.limits.keptBytes)
        services.crashLog = crashLog
        let number = turns.add(
            TurnNotes.Component(
                container: request.container, name: request.component,
                plugin: request.plugin.id))
        turns.component = number
        let component = InitNote.Component(
            container: request.container, component: request.component,
            plugin: request.plugin.id)
        let text = notes.map { _ in CrashText(component) }
        do {
            let check = judges ? AnswerCheck(request) : nil
            let port = try recording(component, text) {
                let harness = try ComponentHarness(
                    request.plugin.loaded(), container: request.container,
                    component: request.component, settings: request.settings,
                    secrets: request.secrets, fields: request.fields, services: services)
                // The initializer calls the component for its facts, so it is noted, too.
                return InProcessPort(
                    harness, services, owner, check, request.plugin, turns, number,
                    text.flatMap { text in notes.map { ($0.crash, text) } })
            }
            if let problem = check?.problem(in: port.facts) {
                port.close()
                done(.failure(.failed(reason: problem)))
                return {}
            }
            done(.success(port))
            port.notifyOwner()
        } catch {
            services.close()
            turns.remove(number)
            done(.failure(LaunchFailure(error)))
        }
        return {}
    }

    /// Lists the settings of a library that is loaded in this process.
    public func describe(
        _ plugin: Plugin, _ done: @escaping (Result<[SettingDescription], LaunchFailure>) -> Void
    ) {
        guard let settings = plugin.settings else {
            return done(.failure(.failed(reason: "The plugin \(plugin.id) is not loaded here.")))
        }
        done(.success(settings.map { SettingDescription($0) }))
    }

    private func recording<T>(
        _ component: InitNote.Component, _ text: CrashText?, _ make: () throws -> T
    ) rethrows -> T {
        guard let notes else { return try make() }
        return try notes.making.during(component) { try notes.crash.during(text, make) }
    }
}

extension LaunchFailure {
    fileprivate init(_ error: any Error) {
        self =
            switch error {
            case let error as LaunchFailure: error
            case let error as SettingError: .setting(error)
            case let error as Refusal: .failed(reason: error.reason)
            case let error as PluginProblem: .failed(reason: error.reason)
            default: .failed(reason: "\(error)")
            }
    }
}

/// A component in the daemon: its harness, and the messages that wait to be sent to its owner.
final class InProcessPort: ComponentPort, DirectLoad {
    let kind: Kind
    private(set) var facts: ComponentFacts?

    private let harness: ComponentHarness
    private let services: InProcessServices
    /// Checks what the component says; nil: another process does.
    private let check: AnswerCheck?
    private let plugin: Plugin
    private weak var owner: (any PortOwner)?
    private let turns: TurnNotes
    /// The component's number in `turns`.
    private let number: Int
    /// The note for a crash during a call; nil: there is none.
    private let crash: (mark: CrashMark, kept: (CrashNote, CrashText))?
    /// The rest of the state that ``reportState(anew:_:)`` is returning.
    private var state: ComponentState?
    private var isClosed = false
    /// The questions that are not answered yet.
    private var asked = OpenQuestions()
    /// Whether a decision was rejected: further calls get no answer, until the component is made anew.
    private var isFailed = false

    init(
        _ harness: ComponentHarness, _ services: InProcessServices, _ owner: any PortOwner,
        _ check: AnswerCheck?, _ plugin: Plugin, _ turns: TurnNotes, _ number: Int,
        _ crash: (CrashNote, CrashText)?
    ) {
        self.crash = crash.map { ($0.mark($1), ($0, $1)) }
        self.check = check
        self.plugin = plugin
        self.harness = harness
        self.services = services
        self.owner = owner
        self.turns = turns
        self.number = number
        kind = harness.kind
        facts = harness.facts
        services.port = self
    }

    var observedFields: [String] { harness.observedFields }

    var preselection: Selection { harness.preselection }

    func load(_ changes: [Change], _ done: @escaping () -> Void) {
        call { harness.restore(changes) }
        done()
    }

    var directLoad: (any DirectLoad)? { self }

    var listsRecords: Bool { harness.listsRecords }

    func load(_ items: any RestoredItems) {
        call { harness.restore(items) }
    }

    var restoresBallots: Bool { harness.restoresBallots }

    func load(_ ballots: [Ballot]) {
        call { harness.restore(ballots: ballots) }
    }

    var restoresComments: Bool { harness.restoresComments }

    func load(_ comments: [Comment]) {
        call { harness.restore(comments: comments) }
    }

    func expect(_ records: Int) {
        call { harness.reserve(comments: records) }
    }

    func reportState(
        anew: Bool, _ done: @escaping (Result<StatePart, PortFailure>) -> Void
    ) {
        let events = call {
            if anew { state = harness.finishRestore() }
            return state?.next()
        }
        if events == nil { state = nil }
        done(.success(StatePart(events ?? [], isLast: events == nil)))
    }

    func decide(
        _ command: ComponentCommand, _ context: CommandContext,
        _ done: @escaping (Result<Decision, PortFailure>) -> Void
    ) {
        guard !isFailed else { return }
        let result = call {
            Result { () throws(Refusal) in try harness.decide(command, context) }
                .mapError(PortFailure.refused)
        }
        guard case .success(let decision) = result,
            let problem = check?.problem(in: decision, on: command, context)
        else { return done(result) }
        let reason =
            "The plugin \(plugin.id) answered with \(problem). Nothing was changed, and its component is "
            + "restarted."
        done(.failure(.mistrusted(reason: reason)))
        fail(because: reason)
    }

    /// Reports the component's end: it broke a rule, and is made anew.
    private func fail(because reason: String) {
        isFailed = true
        owner?.port(self, died: PortDeath(reason, wasAtRequest: false))
    }

    func answer(
        _ query: ComponentQuery,
        _ done: @escaping (Result<ComponentAnswer, PortFailure>) -> Void
    ) {
        guard !isFailed else { return }
        done(
            call {
                Result { () throws(Refusal) in try harness.answer(query) }
                    .mapError(PortFailure.refused)
            })
    }

    func readImage(_ number: Int, of item: String, field: String) {
        call {
            harness.readImage(of: item, field: field) { [services] result in
                services.report(.image(number, result))
            }
        }
    }

    func undo(_ changes: [Change]) {
        call { harness.undo(changes) }
    }

    func report(_ values: [String: [Value]], cut: Set<String>, _ done: @escaping () -> Void) {
        call { harness.report(values, cut: cut) }
        done()
    }

    func deliver(_ notification: Notification) {
        guard !isClosed else { return }
        call { services.deliver(notification) }
    }

    var asks: Bool { harness.asks }

    func ask(_ number: Int, _ question: ContentQuestion) {
        asked.add(number, question)
        call {
            harness.ask(question) { [weak self] result in self?.answered(number, result) }
        }
    }

    /// Sends the component's answer to the owner, if the question is still open.
    private func answered(_ number: Int, _ result: Result<ContentAnswer, Refusal>) {
        guard !isClosed, let question = asked.take(number) else { return }
        guard let check else { return services.answer(number, result) }
        let (checked, problem) = check.checked(result, to: question)
        if let problem { services.log(.warning, problem) }
        services.answer(number, checked)
    }

    func reload() {
        call { harness.reload() }
    }

    func reportAudience(_ screens: Int) {
        call { harness.reportAudience(screens) }
    }

    func apply(_ settings: [String: Value], _ done: @escaping () -> Void) {
        call { harness.take(settings) }
        facts = harness.facts
        if let problem = check?.problem(in: facts) { return fail(because: problem) }
        done()
    }

    /// Does nothing: a component in the daemon can't be paused.
    func setReadingPaused(_ isPaused: Bool) {}

    func notify(_ phase: LifecyclePhase) {
        call { harness.pass(phase) }
    }

    func close() {
        if !isClosed { turns.remove(number) }
        isClosed = true
        state = nil
        asked = OpenQuestions()
        owner = nil
        services.close()
        if plugin.isShipped { Discard.later([harness]) }
    }

    /// Calls into the component, and sends its messages once it has returned, so that the owner may call it
    /// again.
    func call<T>(_ body: () -> T) -> T {
        turns.component = number
        defer { notifyOwner() }
        guard let mark = crash?.mark else { return body() }
        return mark.during(body)
    }

    /// As ``call(_:)``, for a timer that fired or a file that changed.
    func wake(_ body: () -> Void) {
        turns.work.insert(.timer)
        call(body)
    }

    /// Sends the component's messages and events to the owner.
    func notifyOwner() {
        for message in services.takeMessages() { owner?.port(self, sent: message) }
        let reported = harness.takeEvents()
        if !reported.isEmpty { owner?.port(self, sent: .raised(reported)) }
    }

    /// Finds an item of the component's container.
    func item(_ id: String) -> Item? { owner?.port(self, itemWith: id) }

    func problem(in events: [ComponentEvent]) -> String? { check?.problem(in: events) }
}
