public import AtriumKit

/// The interface through which the conformance suite drives a component, in process or in a worker.
///
/// A driver has one component, from ``start(settings:fields:)`` on. The suite makes one call at a time.
public protocol ConformanceDriver: Sendable {
    /// Creates the component without records and attaches it.
    func start(settings: [String: Value], fields: [Field]) async throws -> Kind
    /// Applies records with the delegate silent, then returns all items, tallies or counts.
    ///
    /// Called repeatedly, also without changes and after commands, to read the whole state.
    func restore(_ changes: [Change]) async throws -> [ComponentEvent]
    /// Runs a command and returns the decision; throws the component's ``Refusal`` unchanged.
    func decide(_ command: ComponentCommand, _ context: CommandContext) async throws -> Decision
    /// Answers a question; throws the component's ``Refusal`` unchanged.
    func answer(_ query: ComponentQuery) async throws -> ComponentAnswer
    /// Whether the component is a source that is queried.
    func asks() async throws -> Bool
    /// Queries a source; throws the component's ``Refusal`` unchanged.
    func ask(_ question: ContentQuestion) async throws -> ContentAnswer
    /// Sets the touched records to these values, without a notification.
    func undo(_ changes: [Change]) async throws
    /// Passes a filters component the values of the fields that it observes, and the fields that have more.
    func report(_ values: [String: [Value]], cut: Set<String>) async throws
    /// The fields that a filters component observes.
    func observedFields() async throws -> [String]
    /// The facts about the votes or comments that the component accepts.
    func facts() async throws -> ComponentFacts?
    /// The selection of a filters component on screens that are opened without one.
    func preselection() async throws -> Selection
    /// Gives the component new settings, if it can adopt them.
    ///
    /// - Returns: true if it did.
    func change(settings: [String: Value]) async throws -> Bool
    /// Sets the items of the container, which the component may look up; by default there are none.
    func provide(_ items: [Item]) async throws
    /// Returns the messages that the component logged, each as `warning: …`.
    func logged() async throws -> [String]
    /// Restarts the component from its records, passed all at once if its class supports that; by default does nothing.
    func restartAtOnce() async throws
    /// Reports that a file was written, moved or removed; by default does nothing, because the component watches it
    /// itself.
    func fileChanged(_ path: String) async throws
    /// Lets time pass for the component; by default waits.
    func advance(by time: Duration) async throws
    /// Returns the events that the component reported by itself since the last call; by default none.
    func takeReported() async throws -> [ComponentEvent]
    /// Whether its worker ended by itself, so that a new one may read the source's file; by default false.
    func hasLeft() async -> Bool
    /// Waits for background work of the component; by default 50 ms.
    func settle() async
    /// Stops the component.
    func stop() async
}

extension ConformanceDriver {
    /// Does nothing.
    public func provide(_ items: [Item]) async throws {}
    /// Does nothing.
    public func restartAtOnce() async throws {}
    /// Does nothing.
    public func fileChanged(_ path: String) async throws {}
    /// Waits.
    public func advance(by time: Duration) async throws { try await Task.sleep(for: time) }
    /// Returns false.
    public func hasLeft() async -> Bool { false }
    /// Returns no events.
    public func takeReported() async throws -> [ComponentEvent] { [] }
    /// Waits for 50 ms.
    public func settle() async { try? await Task.sleep(for: .milliseconds(50)) }
}

/// Drives a component in this process.
public actor InProcessDriver: ConformanceDriver {
    private let type: any Component.Type
    private var host: MemoryHost?
    /// The number of the host's events that ``takeReported()`` has returned.
    private var taken = 0

    /// Creates a driver for components of this class.
    public init(_ type: any Component.Type) { self.type = type }

    /// Creates the component.
    ///
    /// - Throws: the errors of its `init`.
    public func start(settings: [String: Value], fields: [Field]) throws -> Kind {
        let host = try MemoryHost(type, settings: settings, fields: fields)
        self.host = host
        return host.kind
    }

    /// Applies records and returns the whole state.
    ///
    /// - Throws: ``NotStarted`` before the start.
    public func restore(_ changes: [Change]) throws -> [ComponentEvent] {
        try started().restore(changes)
    }

    /// Runs a command and returns the decision.
    ///
    /// - Throws: the component's ``Refusal``.
    public func decide(
        _ command: ComponentCommand, _ context: CommandContext
    ) throws -> Decision {
        try started().run(command, context)
    }

    /// Answers a question.
    ///
    /// - Throws: the component's ``Refusal``.
    public func answer(_ query: ComponentQuery) throws -> ComponentAnswer {
        try started().ask(query)
    }

    /// Whether the component is a source that is queried.
    ///
    /// - Throws: ``NotStarted`` before the start.
    public func asks() throws -> Bool { try started().asks }

    /// Queries a source, and waits for its background work, or for up to a minute of its timers.
    ///
    /// - Throws: the component's ``Refusal``, or one if it did not reply, or replied twice.
    public func ask(_ question: ContentQuestion) async throws -> ContentAnswer {
        let host = try started()
        let asked = host.ask(question)
        for _ in 0..<60 where asked.replies.isEmpty {
            await host.settle()
            if asked.replies.isEmpty { host.advance(by: .seconds(1)) }
        }
        guard let reply = asked.replies.first else {
            throw Self.broken("it did not reply to \(question) within a minute")
        }
        guard asked.replies.count == 1 else {
            throw Self.broken("it replied \(asked.replies.count) times to \(question)")
        }
        return try reply.get()
    }

    /// Creates an error that ends the suite, unlike a refusal of the source.
    private static func broken(_ what: String) -> Refusal {
        Refusal(.refused, what, evidence: ["conformance": what])
    }

    /// Sets the touched records to these values.
    ///
    /// - Throws: ``NotStarted`` before the start.
    public func undo(_ changes: [Change]) throws { try started().undo(changes) }

    /// Passes the component the values of the fields that it observes.
    ///
    /// - Throws: ``NotStarted`` before the start.
    public func report(_ values: [String: [Value]], cut: Set<String>) throws {
        try started().report(values, cut: cut)
    }

    /// The fields that the component observes.
    ///
    /// - Throws: ``NotStarted`` before the start.
    public func observedFields() throws -> [String] { try started().observedFields }

    /// The facts about the votes or comments that the component accepts.
    ///
    /// - Throws: ``NotStarted`` before the start.
    public func facts() throws -> ComponentFacts? { try started().facts }

    /// The selection of the component on screens that are opened without one.
    ///
    /// - Throws: ``NotStarted`` before the start.
    public func preselection() throws -> Selection { try started().preselection }

    /// Gives the component new settings, if it can adopt them.
    ///
    /// - Throws: ``NotStarted`` before the start.
    public func change(settings: [String: Value]) throws -> Bool {
        guard case .canTake(true) = try started().ask(.canTake(settings)) else { return false }
        return try started().change(settings: settings)
    }

    /// Sets the items of the container.
    ///
    /// - Throws: ``NotStarted`` before the start.
    public func provide(_ items: [Item]) throws {
        try started().services.items = Dictionary(items.map { ($0.id, $0) }) { _, last in last }
    }

    /// Returns the messages that the component logged.
    ///
    /// - Throws: ``NotStarted`` before the start.
    public func logged() throws -> [String] {
        try started().services.messages.map { "\($0.level.rawValue): \($0.text)" }
    }

    /// Restarts the component, as ``MemoryHost/restart(atOnce:)`` does.
    ///
    /// - Throws: the errors of its `init`.
    public func restartAtOnce() throws { try started().restart(atOnce: true) }

    /// Reports that a file was written, moved or removed, and waits for the component's background work.
    ///
    /// - Throws: ``NotStarted`` before the start.
    public func fileChanged(_ path: String) async throws {
        try started().touch(path)
        await settle()
    }

    /// Lets time pass: fires the component's timers.
    ///
    /// - Throws: ``NotStarted`` before the start.
    public func advance(by time: Duration) async throws {
        try started().advance(by: time)
        await settle()
    }

    /// Returns the events that the component reported since the last call, including those of commands.
    ///
    /// - Throws: ``NotStarted`` before the start.
    public func takeReported() throws -> [ComponentEvent] {
        let events = try started().events
        defer { taken = events.count }
        return Array(events[taken...])
    }

    /// Waits for the component's background work.
    public func settle() async { await host?.settle() }

    /// Stops the component.
    public func stop() {
        host?.detach()
        host = nil
    }

    private func started() throws -> MemoryHost {
        guard let host else { throw NotStarted() }
        return host
    }
}

/// A driver was used before its start, or after its end.
public struct NotStarted: Error, CustomStringConvertible {
    /// The reason and the remedy.
    public var description: String { "the driver has no component: call start first" }
}
