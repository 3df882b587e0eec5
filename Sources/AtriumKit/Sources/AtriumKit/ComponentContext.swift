/// The component's names and settings, and the services of its host.
///
/// Used on the serial domain alone, like the component itself.
public final class ComponentContext {
    /// The container's name.
    public let container: String
    /// The component's own name in the container.
    public let component: String
    /// The checked settings, with defaults.
    ///
    /// They change only just before ``Component/settingsDidChange(from:)``.
    public internal(set) var settings: Settings
    /// The fields of the container's items, in the definition's order.
    public let fields: [Field]
    /// The log, for messages to administrators.
    public let logger: ComponentLogger

    let services: any ContextServices
    /// Counts the open timers and watches of ``after(_:_:)``, ``every(_:_:)`` and ``watch(_:_:)``.
    let wakeups = WakeupCount()

    /// Creates the context; called by a host.
    public init(
        container: String, component: String, settings: Settings, fields: [Field],
        services: any ContextServices
    ) {
        self.container = container
        self.component = component
        self.settings = settings
        self.fields = fields
        self.services = services
        self.logger = ComponentLogger { services.log($0, $1) }
    }

    /// Returns the field with this name; nil if the container has none.
    public func field(_ name: String) -> Field? {
        fields.first { $0.name == name }
    }

    /// Returns an item of the container, as its lists have it, for components that need more than its id.
    ///
    /// Returns committed state. At a start the lists are filled beside the other components, so an item may be missing
    /// until then, and always while the component is being made. Use it in decisions, never in ``Component/apply(_:)``.
    /// In a worker each call is a round trip to the daemon, which answers 10,000 a second.
    ///
    /// - Parameter id: the item's id.
    /// - Returns: the item, without the fields derived from votes and comments; nil if no list has it.
    public func item(_ id: String) -> Item? { services.item(id) }

    /// Posts the transient notification `<container>.plugin.<component>.<name>`.
    ///
    /// - Parameters:
    ///   - name: words of `[a-z0-9-]+` with dots between; anything else is logged and dropped.
    ///   - payload: what happened, by name.
    public func publish(_ name: String, _ payload: [String: Value] = [:]) {
        services.publish(name, payload)
    }

    /// Calls the handler on the domain for every notification whose topic matches, until the
    /// component is detached.
    ///
    /// - Parameters:
    ///   - pattern: a topic, with `*` for one word and `>` for the rest.
    ///   - handler: what to call; it may call the delegate.
    public func observe(_ pattern: String, _ handler: @escaping (Notification) -> Void) {
        services.observe(pattern, handler)
    }

    /// Reports a problem of the component's source; nil or an empty text clears it.
    ///
    /// While there is a problem, the container is `degraded`, with the text as the reason; calls are answered as
    /// before. A new or restarted component begins without a problem.
    ///
    /// - Parameter problem: a sentence for administrators that says what is wrong and where; cut after 1,000 bytes.
    public func report(problem: String?) {
        services.report(problem: problem.flatMap { $0.isEmpty ? nil : $0 })
    }

    /// Runs work off the domain, then calls `then` on the domain with its result.
    ///
    /// `then` is not called if the component is detached or the work is cancelled before; the work's task is cancelled,
    /// too.
    ///
    /// - Parameters:
    ///   - work: the work; it may check `Task.isCancelled`.
    ///   - then: takes its result, or its error; it may call the delegate.
    /// - Returns: a handle that cancels the work.
    @discardableResult
    public func background<Result: Sendable>(
        _ work: @escaping @Sendable () async throws -> Result,
        then: @escaping (Swift.Result<Result, any Error>) -> Void
    ) -> Wakeup {
        let wakeup = Wakeup { _ in }
        let end = services.background(work) { outcome in
            wakeup.finish()
            then(
                outcome.flatMap { value in
                    guard let value = value as? Result else {
                        return .failure(Refusal(.refused, "background work returned another type"))
                    }
                    return .success(value)
                })
        }
        wakeup.set(end)
        return wakeup
    }
}

/// A notification, as a component receives it.
public struct Notification: Sendable, Hashable, Codable {
    /// The sequence number among all durable notifications; nil for a transient one.
    public var sequence: Int64?
    /// When it happened.
    public var time: Timestamp
    /// The topic: dotted words.
    public var topic: String
    /// What happened, by name.
    public var payload: [String: Value]

    /// Creates a notification.
    public init(sequence: Int64?, time: Timestamp, topic: String, payload: [String: Value]) {
        self.sequence = sequence
        self.time = time
        self.topic = topic
        self.payload = payload
    }
}

/// Severity of a log message; the host has the same levels.
public enum LogLevel: String, Sendable, Hashable, Codable {
    /// For the plugin's developers.
    case debug
    /// Worth knowing.
    case info
    /// Something is wrong, but the component goes on.
    case warning
    /// Something failed that an administrator must look at.
    case error
}

/// The log of one component or delegate; the host adds its name and its container's.
public struct ComponentLogger {
    let write: (LogLevel, String) -> Void

    /// Logs a message at a level.
    public func log(_ level: LogLevel, _ message: @autoclosure () -> String) {
        write(level, message())
    }
    /// Logs a message at level `debug`.
    public func debug(_ message: @autoclosure () -> String) { log(.debug, message()) }
    /// Logs a message at level `info`.
    public func info(_ message: @autoclosure () -> String) { log(.info, message()) }
    /// Logs a message at level `warning`.
    public func warning(_ message: @autoclosure () -> String) { log(.warning, message()) }
    /// Logs a message at level `error`.
    public func error(_ message: @autoclosure () -> String) { log(.error, message()) }
}

/// The services of a host behind a ``ComponentContext``.
///
/// Plugins never use it directly.
public protocol ContextServices: AnyObject {
    /// Writes a log message under the component's name.
    func log(_ level: LogLevel, _ message: String)
    /// Posts a transient notification under the component's topic.
    func publish(_ name: String, _ payload: [String: Value])
    /// Calls the handler for matching notifications until the component is detached.
    func observe(_ pattern: String, _ handler: @escaping (Notification) -> Void)
    /// Runs work off the domain and returns to it with the result; the returned closure cancels the work.
    func background(
        _ work: @escaping @Sendable () async throws -> any Sendable,
        then: @escaping (Result<any Sendable, any Error>) -> Void
    ) -> () -> Void
    /// Returns an item of the container; nil if there is none.
    func item(_ id: String) -> Item?
    /// Reports a problem of the component's source; nil clears it.
    func report(problem: String?)
    /// Calls the body after a time, or every time with `repeats`; the returned closure cancels the timer.
    func schedule(
        after delay: Duration, repeats: Bool, _ body: @escaping () -> Void
    ) -> () -> Void
    /// Calls the body when a file, or one in a folder, changes; the returned closure ends the watch.
    ///
    /// - Throws: a ``Refusal`` if the path can't be watched.
    func watch(_ path: String, _ body: @escaping () -> Void) throws(Refusal) -> () -> Void
    /// Returns the bytes that the component's predecessor kept, to the first call only; nil by default.
    func takeKept() -> [UInt8]?
    /// Keeps bytes for the component's successor; by default keeps nothing.
    ///
    /// - Throws: a ``Refusal`` if there are more than the host's limit.
    func keep(_ bytes: [UInt8]?) throws(Refusal)
}
