/// What a component gets from its host: who it is, its settings, and what it may ask.
///
/// Used on the serial domain alone, like the component itself.
public final class ComponentContext {
    /// The container's name.
    public let container: String
    /// The component's own name in the container.
    public let component: String
    /// Its settings, checked, defaults filled in; others only before ``Component/settingsDidChange(from:)``.
    public internal(set) var settings: Settings
    /// The fields of the container's items, in the definition's order.
    public let fields: [Field]
    /// Where it writes what an administrator should know.
    public let logger: ComponentLogger

    let services: any ContextServices
    /// What is set of ``after(_:_:)``, ``every(_:_:)`` and ``watch(_:_:)``.
    let wakeups = WakeupCount()

    /// Made by a host.
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

    /// The field with this name, nil when the container has none.
    public func field(_ name: String) -> Field? {
        fields.first { $0.name == name }
    }

    /// An item of the container, as its lists have it: for a component that decides by more than the id.
    ///
    /// A change shows once it is committed. At a start the lists are filled beside the other components, so an item may be
    /// missing until then; it is while the component is being made. So it is for decisions, and not for
    /// ``Component/apply(_:)``. In a worker each call is a round trip to the daemon, which answers 10,000 a second.
    ///
    /// - Parameter id: the item's id.
    /// - Returns: the item, without what votes and comments add to it; nil: no list has it.
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

    /// Says that something is wrong with its source, or, with nil or an empty text, that nothing is any more.
    ///
    /// While a problem stands, the container is `degraded`, with the text as the reason; calls are
    /// answered as before. One that is made anew begins without a problem.
    ///
    /// - Parameter problem: a sentence for administrators, that says what is wrong and where; cut after
    ///   1,000 bytes.
    public func report(problem: String?) {
        services.report(problem: problem.flatMap { $0.isEmpty ? nil : $0 })
    }

    /// Runs work off the domain, then calls `then` on the domain with its result.
    ///
    /// `then` is not called once the component is detached, or the work is cancelled: then the work's task is, too.
    ///
    /// - Parameters:
    ///   - work: what to do; it may look at `Task.isCancelled`.
    ///   - then: takes its result, or its error; it may call the delegate.
    /// - Returns: what cancels it.
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

/// What happened: a notification as a component sees it.
public struct Notification: Sendable, Hashable, Codable {
    /// Its place in the order of all durable ones; nil for a transient one.
    public var sequence: Int64?
    /// When it happened.
    public var time: Timestamp
    /// What it is about: dotted words.
    public var topic: String
    /// What happened, by name.
    public var payload: [String: Value]

    /// A notification.
    public init(sequence: Int64?, time: Timestamp, topic: String, payload: [String: Value]) {
        self.sequence = sequence
        self.time = time
        self.topic = topic
        self.payload = payload
    }
}

/// How bad a log message is; the levels that the host knows too.
public enum LogLevel: String, Sendable, Hashable, Codable {
    /// For whoever debugs the plugin.
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

    /// Writes a message.
    public func log(_ level: LogLevel, _ message: @autoclosure () -> String) {
        write(level, message())
    }
    /// Writes a message for whoever debugs the plugin.
    public func debug(_ message: @autoclosure () -> String) { log(.debug, message()) }
    /// Writes what is worth knowing.
    public func info(_ message: @autoclosure () -> String) { log(.info, message()) }
    /// Writes what is wrong.
    public func warning(_ message: @autoclosure () -> String) { log(.warning, message()) }
    /// Writes what failed.
    public func error(_ message: @autoclosure () -> String) { log(.error, message()) }
}

/// What a host implements so that a ``ComponentContext`` works.
///
/// Plugins never see it.
public protocol ContextServices: AnyObject {
    /// Writes a log message under the component's name.
    func log(_ level: LogLevel, _ message: String)
    /// Posts a transient notification under the component's topic.
    func publish(_ name: String, _ payload: [String: Value])
    /// Listens until the component is detached.
    func observe(_ pattern: String, _ handler: @escaping (Notification) -> Void)
    /// Runs work elsewhere and comes back to the domain; what is returned cancels it.
    func background(
        _ work: @escaping @Sendable () async throws -> any Sendable,
        then: @escaping (Result<any Sendable, any Error>) -> Void
    ) -> () -> Void
    /// An item of the container; nil: there is none.
    func item(_ id: String) -> Item?
    /// Says what is wrong with the component's source; nil: nothing is.
    func report(problem: String?)
    /// Calls the body after a time, and with `repeats` again and again; what is returned ends that.
    func schedule(
        after delay: Duration, repeats: Bool, _ body: @escaping () -> Void
    ) -> () -> Void
    /// Calls the body when a file, or one in a folder, changes; what is returned ends that.
    ///
    /// - Throws: a ``Refusal`` where it can't be watched.
    func watch(_ path: String, _ body: @escaping () -> Void) throws(Refusal) -> () -> Void
    /// Gives what the component's predecessor had kept, to the first call alone; by default nothing.
    func takeKept() -> [UInt8]?
    /// Keeps bytes for the component's successor; by default nothing is kept.
    ///
    /// - Throws: a ``Refusal`` for more than are kept.
    func keep(_ bytes: [UInt8]?) throws(Refusal)
}
