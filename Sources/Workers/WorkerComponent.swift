public import AtriumKit
import Host
import Index
public import Logging
public import NIOCore
public import PluginLoader

/// One component in a worker, for those who are not on the event loop: conformance suites and tests.
///
/// Lives on the event loop. A call to a worker that has ended, or ends meanwhile, throws
/// `PortFailure.died`.
public actor WorkerComponent {
    /// The event loop's.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Why the worker ended, told by the port; one at most.
    public private(set) var deaths: [String] = []
    /// What the component said by itself, as the log would show it.
    public private(set) var messages: [String] = []
    /// What the component told its delegate by itself.
    public private(set) var events: [ComponentEvent] = []

    private nonisolated let executor: any SerialExecutor
    /// How many calls are not answered yet.
    var openCalls: Int { open.count }

    private let plugin: Plugin
    let launcher: WorkerLauncher
    private let owner = Owner()
    private(set) var port: (any ComponentPort)?
    /// Calls without an answer, by number.
    private var open: [Int: (any Error) -> Void] = [:]
    private var calls = 0
    /// Questions without an answer, by number.
    private var asked: [Int: (Result<ContentAnswer, PortFailure>) -> Void] = [:]

    /// A component that is yet to be started.
    ///
    /// - Parameters:
    ///   - plugin: makes it.
    ///   - loop: where it lives.
    ///   - executable: the path of `atrium-worker`.
    ///   - logger: told of the worker's start and end.
    ///   - limits: what the worker may take.
    ///   - mayUseNetwork: whether the worker may speak to the internet.
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

    /// Makes the component, restores nothing and attaches it.
    ///
    /// - Returns: what it does.
    /// - Throws: `LaunchFailure`.
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
                continuation.resume(with: result.map { self.take($0) })
            }
        }
        _ = try await restore([])
        port?.pass(.willAttach)
        port?.pass(.didAttach)
        return kind
    }

    /// Applies records, then gives all items, tallies or counts.
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
        port.tellState(anew: anew) { result in
            switch result {
            case .failure(let failure): done(.failure(failure))
            case .success(let part):
                var state = before
                state.take(part.events)
                if part.isLast { return done(.success(state.whole)) }
                takeState(of: port, anew: false, state, done)
            }
        }
    }

    /// Decides on a command; the component's `Refusal` is thrown as it is.
    public func decide(
        _ command: ComponentCommand, _ context: CommandContext
    ) async throws -> Decision {
        try await call { port, done in port.decide(command, context, done) }
    }

    /// Answers a question; the component's `Refusal` is thrown as it is.
    public func answer(_ query: ComponentQuery) async throws -> ComponentAnswer {
        try await call { port, done in port.answer(query, done) }
    }

    /// Makes the touched records what these changes say, and tells nobody.
    public func undo(_ changes: [Change]) throws { try running().undo(changes) }

    /// Tells a filters component the values of the fields that it observes.
    public func report(_ values: [String: [Value]]) throws { try running().report(values, cut: []) }

    /// Hands over a notification.
    public func deliver(_ notification: Notification) throws {
        try running().deliver(notification)
    }

    /// The fields that a filters component observes.
    public func observedFields() throws -> [String] { try running().observedFields }

    /// Whether it is a source that is asked.
    public func asks() throws -> Bool { try running().asks }

    /// Asks it; the component's `Refusal` is thrown as it is.
    public func ask(_ question: ContentQuestion) async throws -> ContentAnswer {
        try await call { port, done in
            asked[calls] = done
            port.ask(calls, question)
        }
    }

    private func answered(_ number: Int, _ result: Result<ContentAnswer, Refusal>) {
        asked.removeValue(forKey: number)?(result.mapError { .refused($0) })
    }

    /// What a votes or a comments component says that it takes.
    public func facts() throws -> ComponentFacts? { try running().facts }

    /// Lets the component go; calls without an answer fail.
    public func stop() {
        port?.pass(.willDetach)
        port?.pass(.didDetach)
        port?.close()
        lose(because: "The component was stopped.")
    }

    private func take(_ port: any ComponentPort) -> Kind {
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
                case .failure(let failure): continuation.resume(throwing: failure)
                }
            }
        }
    }

    private func lost(_ reason: String) {
        deaths.append(reason)
        lose(because: reason)
    }

    /// No answer comes any more.
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

/// Passes on what a port tells.
private final class Owner: PortOwner {
    var died: (String) -> Void = { _ in }
    var heard: (ComponentMessage) -> Void = { _ in }

    func port(_ port: any ComponentPort, sent message: ComponentMessage) { heard(message) }

    func port(_ port: any ComponentPort, died death: PortDeath) { died(death.reason) }
}
