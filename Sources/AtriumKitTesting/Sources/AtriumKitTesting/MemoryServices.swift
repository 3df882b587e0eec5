public import AtriumKit

/// What a ``MemoryHost`` offers its component through the context, and what came of it.
public final class MemoryServices: ContextServices {
    /// A message that the component logged.
    public struct Message: Sendable, Hashable {
        /// How bad it is.
        public var level: LogLevel
        /// What it says.
        public var text: String
    }

    /// A notification that the component posted.
    public struct Published: Sendable, Hashable {
        /// `<container>.plugin.<component>.<name>`.
        public var topic: String
        /// What happened.
        public var payload: [String: Value]
    }

    private struct Work {
        let run: @Sendable () async throws -> any Sendable
        let then: (Result<any Sendable, any Error>) -> Void
    }

    /// The container's name.
    public let container: String
    /// The component's name.
    public let component: String
    /// What the component logged, in order.
    public private(set) var messages: [Message] = []
    /// What the component published, in order.
    public private(set) var published: [Published] = []

    private var observers: [(pattern: String, handler: (Notification) -> Void)] = []
    private var pending: [Work] = []

    init(container: String, component: String) {
        self.container = container
        self.component = component
    }

    /// Keeps the message.
    public func log(_ level: LogLevel, _ message: String) {
        messages.append(Message(level: level, text: message))
    }

    /// Keeps the notification; one whose name is no dotted words is logged and dropped.
    public func publish(_ name: String, _ payload: [String: Value]) {
        let words = name.split(separator: ".", omittingEmptySubsequences: false)
        guard words.allSatisfy(isWord) else {
            return log(.warning, "'\(name)' is no name of a notification; it is dropped.")
        }
        published.append(
            Published(topic: "\(container).plugin.\(component).\(name)", payload: payload))
    }

    /// Keeps the handler until the component is detached.
    public func observe(_ pattern: String, _ handler: @escaping (Notification) -> Void) {
        observers.append((pattern, handler))
    }

    /// Keeps the work until the host is told to settle.
    public func background(
        _ work: @escaping @Sendable () async throws -> any Sendable,
        then: @escaping (Result<any Sendable, any Error>) -> Void
    ) {
        pending.append(Work(run: work, then: then))
    }

    func deliver(_ notification: Notification) {
        for observer in observers where matches(observer.pattern, notification.topic) {
            observer.handler(notification)
        }
    }

    /// Runs the oldest piece of work and hands its outcome over; false when there was none.
    nonisolated(nonsending) func finishOne() async -> Bool {
        guard !pending.isEmpty else { return false }
        let work = pending.removeFirst()
        do {
            work.then(.success(try await work.run()))
        } catch {
            work.then(.failure(error))
        }
        return true
    }

    /// Nothing reaches a component that was let go.
    func forgetComponent() {
        observers = []
        pending = []
    }
}

private func isWord(_ word: Substring) -> Bool {
    !word.isEmpty
        && word.utf8.allSatisfy {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "-")
        }
}

/// Whether a topic matches a pattern: `*` stands for one word, `>` for the rest, of one word at
/// least.
private func matches(_ pattern: String, _ topic: String) -> Bool {
    var words = topic.split(separator: ".")[...]
    for part in pattern.split(separator: ".") {
        if part == ">" { return !words.isEmpty }
        guard let word = words.popFirst(), part == "*" || part == word else { return false }
    }
    return words.isEmpty
}
