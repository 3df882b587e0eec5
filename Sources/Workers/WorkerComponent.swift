public import AtriumKit
import Host
import Index
public import Logging
public import NIOCore
public import PluginLoader

/// One component in a worker, for callers that are not on the event loop: conformance suites and tests.
///
/// The actor runs on the event loop. A call to a worker that has ended, or ends during the call, throws
/// `PortFailure.died`.
public actor WorkerComponent {
    /// The event loop's executor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Why the worker ended, as its port reported it; at most one reason.
    public private(set) var deaths: [String] = []
    /// The messages that the component sent by itself, as lines for a log.
    public private(set) var messages: [String] = []
    /// The events that the component raised by itself.
    public private(set) var events: [ComponentEvent] = []
    /// The number of them that were taken.
    private var taken = 0

    private nonisolated let executor: any SerialExecutor
    /// The number of calls that are not answered yet.
    var openCalls: Int { open.count }

    private let plugin: Plugin
    let launcher: WorkerLauncher
    private let owner = Owner()
    private(set) var port: (any ComponentPort)?
    /// The failure callbacks of calls that are not answered yet, by number.
    private var open: [Int: (any Error) -> Void] = [:]
    private var calls = 0
    /// The callbacks of questions that are not answered yet, by number.
    private var asked: [Int: (Result<ContentAnswer, PortFailure>) -> Void] = [:]

    /// Makes a component that is not started yet.
    ///
    /// - Parameters:
    ///   - plugin: the plugin that makes it.
    ///   - loop: the event loop that it runs on.
    ///   - executable: the path of `atrium-worker`.
    ///   - logger: logs the worker's start and end.
    ///   - limits: the worker's limits.
    ///   - mayUseNetwork: whether the worker may connect to the internet.
    public init(
        of plugin: Plugin, on loop: any EventLoop, executable: String, logger: Logger,
        limits: WorkerLimits = WorkerLimits(), mayUseNetwork: Bool = false
    ) {
        self.plugin = plugin
        executor = loop.executor
        launcher = WorkerLauncher(
            loop: loop, executable: executable, logger: logger, limits: limits,
            networkPlugins: mayUseNetwork ? [plugin.id] : [])
    }

    /// Makes the component, restores it without records and attaches it; returns its kind.
    public func start(settings: [String: Value], fields: [Field]) async throws -> Kind {
        owner.died = { [weak self] reason in self?.assumeIsolated { $0.lost(reason) } }
        owner.heard = { [weak self] word in self?.assumeIsolated { $0.heard(word) } }
        var request = LaunchRequest(
            plugin: plugin, container: "test", component: "component", settings: settings,
            fields: fields)
        request.readable = plugin.paths.compactMap { settings[$0]?.text }
            .filter { $0.hasPrefix("/") }
        let kind = try await withCheckedThrowingContinuation { continuation in
            launcher.launch(request, owner: owner) { result in
                continuation.resume(with: result.map { self.adopt($0) })
            }
        }
        _ = try await restore([])
        port?.notify(.willAttach)
        port?.notify(.didAttach)
        return kind
    }

    /// Applies records, then returns all items, tallies or counts.
    public func restore(_ changes: [Change]) async throws -> [ComponentEvent] {
        try await call { port, done in
            if !changes.isEmpty { port.load(changes) {} }
            Self.takeState(of: port, anew: true, LoadedState(), done)
        }
    }

    private static func takeState(
        of port: any ComponentPort, anew: Bool, _ before: LoadedState,
        _ done: @escaping (Result<[ComponentEvent], PortFailure>) -> Void
    ) {
        port.reportState(anew: anew) { result in
            switch result {
            case .failure(let failure): done(.failure(failure))
            case .success(let part):
                var state = before
                state.append(part.events)
                if part.isLast { return done(.success(state.whole)) }
                takeState(of: port, anew: false, state, done)
            }
        }
    }

    /// Decides on a command; throws the component's `Refusal` as it is.
    public func decide(
        _ command: ComponentCommand, _ context: CommandContext
    ) async throws -> Decision {
        try await call { port, done in port.decide(command, context, done) }
    }

    /// Answers a query; throws the component's `Refusal` as it is.
    public func answer(_ query: ComponentQuery) async throws -> ComponentAnswer {
        try await call { port, done in port.answer(query, done) }
    }

    /// Restores the touched records to these changes; no event is raised.
    public func undo(_ changes: [Change]) throws { try running().undo(changes) }

    /// Reports the values of the observed fields to a filters component.
    public func report(_ values: [String: [Value]], cut: Set<String> = []) throws {
        try running().report(values, cut: cut) {}
    }

    /// Delivers a notification to the component.
    public func deliver(_ notification: Notification) throws {
        try running().deliver(notification)
    }

    /// The fields that a filters component observes.
    public func observedFields() throws -> [String] { try running().observedFields }

    /// Whether it is a source that answers questions.
    public func asks() throws -> Bool { try running().asks }

    /// Asks a source a question; throws the component's `Refusal` unchanged.
    public func ask(_ question: ContentQuestion) async throws -> ContentAnswer {
        try await call { port, done in
            asked[calls] = done
            port.ask(calls, question)
        }
    }

    private func answered(_ number: Int, _ result: Result<ContentAnswer, Refusal>) {
        asked.removeValue(forKey: number)?(result.mapError { .refused($0) })
    }

    /// Returns the selection of a filters component on screens that are opened without one.
    public func preselection() throws -> Selection { try running().preselection }

    /// Returns the messages that the component has logged, each as `warning: …`.
    public func logged() -> [String] {
        let levels = [LogLevel.debug, .info, .warning, .error].map { "\($0.rawValue): " }
        return messages.filter { message in levels.contains(where: message.hasPrefix) }
    }

    /// Whether the worker ended so that a new one reads the source (EX_TEMPFAIL).
    public func hasLeft() -> Bool { deaths.last?.hasSuffix("ended with status 75.") ?? false }

    /// The events that the component raised by itself since this was called last.
    public func takeReported() -> [ComponentEvent] {
        defer { taken = events.count }
        return Array(events[taken...])
    }

    /// Gives the component new settings, if it can take them; returns whether it did.
    public func change(settings: [String: Value]) async throws -> Bool {
        guard case .canTake(true) = try await answer(.canTake(settings)) else { return false }
        return try await call { port, done in
            port.apply(settings) { done(.success(true)) }
        }
    }

    /// Makes these the items of the container, which the component may look up.
    public func provide(_ items: [Item]) {
        owner.items = Dictionary(items.map { ($0.id, $0) }) { _, last in last }
    }

    /// Returns the facts about the votes or comments that the component accepts; nil for other kinds.
    public func facts() throws -> ComponentFacts? { try running().facts }

    /// Detaches and releases the component; calls that are not answered fail.
    public func stop() {
        port?.notify(.willDetach)
        port?.notify(.didDetach)
        port?.close()
        lose(because: "The component was stopped.")
    }

    private func adopt(_ port: any ComponentPort) -> Kind {
        self.port = port
        return port.kind
    }

    private func running() throws -> any ComponentPort {
        guard let port else {
            throw PortFailure.died(reason: deaths.last ?? "The worker was not started.")
        }
        return port
    }

    private func call<Answer: Sendable>(
        _ body: (any ComponentPort, @escaping (Result<Answer, PortFailure>) -> Void) -> Void
    ) async throws -> Answer {
        let port = try running()
        return try await withCheckedThrowingContinuation { continuation in
            calls += 1
            let number = calls
            open[number] = { continuation.resume(throwing: $0) }
            body(port) { result in
                guard self.open.removeValue(forKey: number) != nil else { return }
                switch result {
                case .success(let answer): continuation.resume(returning: answer)
                case .failure(.refused(let refusal)): continuation.resume(throwing: refusal)
                case .failure(.mistrusted(let reason)):
                    continuation.resume(throwing: Refusal(.refused, reason))
                case .failure(let failure): continuation.resume(throwing: failure)
                }
            }
        }
    }

    private func lost(_ reason: String) {
        deaths.append(reason)
        lose(because: reason)
    }

    /// Fails the calls that are not answered.
    private func lose(because reason: String) {
        port = nil
        let failed = open
        (open, asked) = ([:], [:])
        for fail in failed.values { fail(PortFailure.died(reason: reason)) }
    }

    private func heard(_ message: ComponentMessage) {
        switch message {
        case .raised(let events): self.events += events
        case .publishes(let name, let payload):
            let text = String(decoding: payload.jsonBytes, as: UTF8.self)
            messages.append("publishes \(name) \(text)")
        case .observes(let pattern): messages.append("observes \(pattern)")
        case .logs(let level, let message): messages.append("\(level.rawValue): \(message)")
        case .reports(let problem): messages.append("reports \(problem ?? "nothing")")
        case .keeps(let bytes): messages.append("keeps \(bytes?.count ?? 0) bytes")
        case .answers(let number, let result): answered(number, result)
        case .image(let number, .success(let image)):
            messages.append("image \(number): \(image.type) \(image.base64)")
        case .image(let number, .failure(let refusal)):
            messages.append("no image \(number): \(refusal.reason)")
        }
    }
}

/// Passes a port's messages and its end to closures, and finds items.
private final class Owner: PortOwner {
    var died: (String) -> Void = { _ in }
    var heard: (ComponentMessage) -> Void = { _ in }
    var items: [String: Item] = [:]

    func port(_ port: any ComponentPort, sent message: ComponentMessage) { heard(message) }

    func port(_ port: any ComponentPort, died death: PortDeath) { died(death.reason) }

    func port(_ port: any ComponentPort, itemWith id: String) -> Item? { items[id] }
}
