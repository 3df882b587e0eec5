public import AtriumKit

/// The services of a ``MemoryHost`` for its component, with a record of their use.
public final class MemoryServices: ContextServices {
    /// A message that the component logged.
    public struct Message: Sendable, Hashable {
        /// The severity.
        public var level: LogLevel
        /// The text.
        public var text: String
    }

    /// A notification that the component posted.
    public struct Published: Sendable, Hashable {
        /// `<container>.plugin.<component>.<name>`.
        public var topic: String
        /// The payload, by name.
        public var payload: [String: Value]
    }

    /// The problem of its source that the component reported; nil: none.
    public private(set) var problem: String?

    private struct Timer {
        var number: Int
        var due: Duration
        var interval: Duration?
        let body: () -> Void
    }

    private struct Work {
        let number: Int
        let run: @Sendable () async throws -> any Sendable
        let then: (Result<any Sendable, any Error>) -> Void
    }

    /// The container's name.
    public let container: String
    /// The component's name.
    public let component: String
    /// The messages that the component logged, in order.
    public private(set) var messages: [Message] = []
    /// The notifications that the component published, in order.
    public private(set) var published: [Published] = []

    /// The bytes that the component kept last, for the next one.
    public private(set) var kept: [UInt8]?
    /// The maximum number of bytes that are kept.
    public var mostKept = 16 << 20

    /// The items of the container, by id, which the component may look up; at first none.
    public var items: [String: Item] = [:]

    /// Whether ``takeKept()`` has returned the bytes.
    private var isKeptTaken = false
    private var observers: [(pattern: String, handler: (Notification) -> Void)] = []
    private var pending: [Work] = []
    private var works = 0
    private var timers: [Timer] = []
    private var watches: [(number: Int, path: String, body: () -> Void)] = []
    private var lastNumber = 0
    /// The time that has passed.
    private(set) var now = Duration.zero

    init(container: String, component: String, kept: [UInt8]?) {
        self.kept = kept
        self.container = container
        self.component = component
    }

    /// Records the message.
    public func log(_ level: LogLevel, _ message: String) {
        messages.append(Message(level: level, text: message))
    }

    /// Records the notification; one whose name is not dotted words is logged and dropped.
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

    /// Keeps the work until the test calls `settle`.
    public func background(
        _ work: @escaping @Sendable () async throws -> any Sendable,
        then: @escaping (Result<any Sendable, any Error>) -> Void
    ) -> () -> Void {
        works += 1
        let number = works
        pending.append(Work(number: number, run: work, then: then))
        return { [weak self] in self?.pending.removeAll { $0.number == number } }
    }

    /// The item with this id among ``items``.
    public func item(_ id: String) -> Item? { items[id] }

    /// Records the problem.
    public func report(problem: String?) { self.problem = problem }

    /// Returns the bytes that were kept for the component, once.
    public func takeKept() -> [UInt8]? {
        defer { isKeptTaken = true }
        return isKeptTaken ? nil : kept
    }

    /// Keeps bytes for the next component.
    public func keep(_ bytes: [UInt8]?) throws(Refusal) {
        if let count = bytes?.count, count > mostKept {
            throw Refusal(
                .limitExceeded,
                "The component '\(component)' passed \(count) bytes to keep(_:); the limit is \(mostKept) (keptBytes).",
                evidence: ["limit": "keptBytes", "value": "\(mostKept)"])
        }
        kept = bytes
    }

    /// Keeps the timer until its time has passed.
    public func schedule(
        after delay: Duration, repeats: Bool, _ body: @escaping () -> Void
    ) -> () -> Void {
        lastNumber += 1
        let number = lastNumber
        timers.append(
            Timer(number: number, due: now + delay, interval: repeats ? delay : nil, body: body))
        return { [weak self] in self?.timers.removeAll { $0.number == number } }
    }

    /// Keeps the watch; no file is read.
    public func watch(_ path: String, _ body: @escaping () -> Void) -> () -> Void {
        lastNumber += 1
        let number = lastNumber
        watches.append((number, path, body))
        return { [weak self] in self?.watches.removeAll { $0.number == number } }
    }

    /// Fires the timer that is due first, if it is due by then; false if none is.
    func fireNext(before end: Duration) -> Bool {
        guard let next = timers.min(by: { ($0.due, $0.number) < ($1.due, $1.number) }),
            next.due <= end
        else {
            now = end
            return false
        }
        now = next.due
        for index in timers.indices.reversed() where timers[index].number == next.number {
            if let interval = next.interval {
                timers[index].due += interval
            } else {
                timers.remove(at: index)
            }
        }
        next.body()
        return true
    }

    func touch(_ path: String) {
        let folder = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
        for watch in watches where watch.path == path || watch.path == folder { watch.body() }
    }

    func deliver(_ notification: Notification) {
        for observer in observers where matches(observer.pattern, notification.topic) {
            observer.handler(notification)
        }
    }

    /// Runs the oldest piece of work and passes its result on; false if there is none.
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

    /// Removes all handlers of a component that was stopped.
    func forgetComponent() {
        observers = []
        pending = []
        timers = []
        watches = []
        problem = nil
        isKeptTaken = false
    }
}

private func isWord(_ word: Substring) -> Bool {
    !word.isEmpty
        && word.utf8.allSatisfy {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "-")
        }
}

/// Whether a topic matches a pattern: `*` stands for one word, `>` for the rest, which is at least one word.
private func matches(_ pattern: String, _ topic: String) -> Bool {
    var words = topic.split(separator: ".")[...]
    for part in pattern.split(separator: ".") {
        if part == ">" { return !words.isEmpty }
        guard let word = words.popFirst(), part == "*" || part == word else { return false }
    }
    return words.isEmpty
}
