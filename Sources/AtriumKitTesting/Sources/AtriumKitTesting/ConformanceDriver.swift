public import AtriumKit

/// What the conformance suite drives a component through: in process, or in a worker.
///
/// One driver has one component, from ``start(settings:fields:)`` on. The suite calls it from one
/// place, one call at a time.
public protocol ConformanceDriver: Sendable {
    /// Makes the component, restores nothing and attaches it.
    func start(settings: [String: Value], fields: [Field]) async throws -> Kind
    /// Applies records with the delegate silent, then gives all items, tallies or counts; called
    /// again and again, also without changes and after commands, to learn the whole state.
    func restore(_ changes: [Change]) async throws -> [ComponentEvent]
    /// Decides on a command; the component's ``Refusal`` is thrown as it is.
    func decide(_ command: ComponentCommand, _ context: CommandContext) async throws -> Decision
    /// Answers a question; the component's ``Refusal`` is thrown as it is.
    func answer(_ query: ComponentQuery) async throws -> ComponentAnswer
    /// Whether it is a source that is asked.
    func asks() async throws -> Bool
    /// Asks a source; the component's ``Refusal`` is thrown as it is.
    func ask(_ question: ContentQuestion) async throws -> ContentAnswer
    /// Makes the touched records what these changes say, without a notification.
    func undo(_ changes: [Change]) async throws
    /// Passes a filters component the values of the fields that it observes, and which fields have more.
    func report(_ values: [String: [Value]], cut: Set<String>) async throws
    /// The fields that a filters component observes.
    func observedFields() async throws -> [String]
    /// What a votes or a comments component says that it takes.
    func facts() async throws -> ComponentFacts?
    /// What a filters component selects on screens that are opened without a selection.
    func preselection() async throws -> Selection
    /// Gives the component other settings, if it can take them.
    ///
    /// - Returns: whether it did.
    func change(settings: [String: Value]) async throws -> Bool
    /// Makes these the items of the container, which the component may look up; by default there are none.
    func provide(_ items: [Item]) async throws
    /// What the component has logged, each as `warning: …`.
    func logged() async throws -> [String]
    /// Makes the component anew from its records, which it is handed at once where its class takes them so; by default
    /// nothing happens.
    func restartAtOnce() async throws
    /// Says that a file was written, moved or removed; by default nothing, as the component watches it itself.
    func fileChanged(_ path: String) async throws
    /// Lets time pass for the component; by default it passes.
    func advance(by time: Duration) async throws
    /// What the component reported by itself since this was called last; by default nothing is known of it.
    func takeReported() async throws -> [ComponentEvent]
    /// Whether its worker ended by itself, for a new one that may read the source's file; by default it never does.
    func hasLeft() async -> Bool
    /// Gives background work of the component time to end; by default 50 ms.
    func settle() async
    /// Lets the component go.
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
    /// It has not.
    public func hasLeft() async -> Bool { false }
    /// Nothing.
    public func takeReported() async throws -> [ComponentEvent] { [] }
    /// Waits for 50 ms.
    public func settle() async { try? await Task.sleep(for: .milliseconds(50)) }
}

/// Drives a component in this process.
public actor InProcessDriver: ConformanceDriver {
    private let type: any Component.Type
    private var host: MemoryHost?
    /// How many of the host's events were taken.
    private var taken = 0

    /// A driver for components of this class.
    public init(_ type: any Component.Type) { self.type = type }

    /// Makes the component.
    ///
    /// - Throws: what its `init` throws.
    public func start(settings: [String: Value], fields: [Field]) throws -> Kind {
        let host = try MemoryHost(type, settings: settings, fields: fields)
        self.host = host
        return host.kind
    }

    /// Applies records and gives the whole state.
    ///
    /// - Throws: ``NotStarted`` before the start.
    public func restore(_ changes: [Change]) throws -> [ComponentEvent] {
        try started().restore(changes)
    }

    /// Decides on a command.
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

    /// Whether it is a source that is asked.
    ///
    /// - Throws: ``NotStarted`` before the start.
    public func asks() throws -> Bool { try started().asks }

    /// Asks a source, and waits for its background work, or a minute of its timers.
    ///
    /// - Throws: the component's ``Refusal``, or one that says that it did not reply, or twice.
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

    /// What ends the suite, other than what the source refuses.
    private static func broken(_ what: String) -> Refusal {
        Refusal(.refused, what, evidence: ["conformance": what])
    }

    /// Makes the touched records what these changes say.
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

    /// What the component says that it takes.
    ///
    /// - Throws: ``NotStarted`` before the start.
    public func facts() throws -> ComponentFacts? { try started().facts }

    /// What the component selects on screens that are opened without a selection.
    ///
    /// - Throws: ``NotStarted`` before the start.
    public func preselection() throws -> Selection { try started().preselection }

    /// Gives the component other settings, if it can take them.
    ///
    /// - Throws: ``NotStarted`` before the start.
    public func change(settings: [String: Value]) throws -> Bool {
        guard case .canTake(true) = try started().ask(.canTake(settings)) else { return false }
        return try started().change(settings: settings)
    }

    /// Makes these the items of the container.
    ///
    /// - Throws: ``NotStarted`` before the start.
    public func provide(_ items: [Item]) throws {
        try started().services.items = Dictionary(items.map { ($0.id, $0) }) { _, last in last }
    }

    /// What the component has logged.
    ///
    /// - Throws: ``NotStarted`` before the start.
    public func logged() throws -> [String] {
        try started().services.messages.map { "\($0.level.rawValue): \($0.text)" }
    }

    /// Makes the component anew, as ``MemoryHost/restart(atOnce:)`` does.
    ///
    /// - Throws: what its `init` throws.
    public func restartAtOnce() throws { try started().restart(atOnce: true) }

    /// Says that a file was written, moved or removed, and waits for what the component makes of it.
    ///
    /// - Throws: ``NotStarted`` before the start.
    public func fileChanged(_ path: String) async throws {
        try started().touch(path)
        await settle()
    }

    /// Calls what the component has set for the time that passes.
    ///
    /// - Throws: ``NotStarted`` before the start.
    public func advance(by time: Duration) async throws {
        try started().advance(by: time)
        await settle()
    }

    /// What the component reported since this was called last, commands' events included.
    ///
    /// - Throws: ``NotStarted`` before the start.
    public func takeReported() throws -> [ComponentEvent] {
        let events = try started().events
        defer { taken = events.count }
        return Array(events[taken...])
    }

    /// Waits for the component's background work.
    public func settle() async { await host?.settle() }

    /// Lets the component go.
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
    /// What to do.
    public var description: String { "the driver has no component: call start first" }
}
