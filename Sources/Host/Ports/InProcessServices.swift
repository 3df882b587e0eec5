internal import AtriumKit
internal import NIOCore

/// The services of a component in the daemon; collects its messages until the port sends them.
final class InProcessServices: ContextServices {
    /// How many patterns a component may observe.
    static let maxPatterns = 64

    weak var port: InProcessPort?

    private let loop: any EventLoop
    private let watches: FileWatches
    private var messages: [ComponentMessage] = []
    private var bounds = TurnBounds()
    /// Receives each log line at once, for a crash.
    var crashLog: (any CrashLog)?
    private var handlers: [(pattern: TopicPattern, handle: (Notification) -> Void)] = []
    private var work: [UInt64: Work] = [:]
    private var timers: [UInt64: Timer] = [:]
    private var watched: Set<UInt64> = []
    private var lastWork: UInt64 = 0
    /// The bytes that the component's predecessor kept, until the component takes them.
    private var kept: [UInt8]?
    private let mostKept: Int
    private var isClosed = false

    /// Work in the background: what to call with its result, and its task.
    private struct Work {
        let then: (Result<any Sendable, any Error>) -> Void
        let task: Task<Void, Never>
    }

    /// A timer, until it has fired for the last time.
    private struct Timer {
        let interval: TimeAmount
        let repeats: Bool
        let body: () -> Void
        var next: Scheduled<Void>?
    }

    init(loop: any EventLoop, watches: FileWatches, kept: [UInt8]?, mostKept: Int) {
        self.kept = kept
        self.mostKept = mostKept
        self.loop = loop
        self.watches = watches
    }

    /// Removes and returns the component's messages, with a warning if any were dropped.
    func takeMessages() -> [ComponentMessage] {
        defer { messages = [] }
        if let problem = bounds.end() { messages.append(.logs(.warning, problem)) }
        crashLog?.clear()
        return messages
    }

    /// Calls the handlers whose pattern matches the notification's topic.
    func deliver(_ notification: Notification) {
        for (pattern, handle) in handlers where pattern.matches(notification.topic) {
            handle(notification)
        }
    }

    /// Cancels all timers, watches and background work; no handler is called any more.
    func close() {
        isClosed = true
        for work in work.values { work.task.cancel() }
        work = [:]
        for timer in timers.values { timer.next?.cancel() }
        timers = [:]
        for number in watched { watches.remove(number) }
        watched = []
        handlers = []
        messages = []
    }

    func log(_ level: LogLevel, _ message: String) {
        guard bounds.admits(logging: message) else { return }
        crashLog?.append(message)
        report(.logs(level, message))
    }

    func item(_ id: String) -> Item? { port?.item(id) }

    func report(problem: String?) { report(.reports(problem: problem)) }

    /// Queues a source's answer.
    func answer(_ number: Int, _ result: Result<ContentAnswer, Refusal>) {
        report(.answers(number, result))
    }

    func publish(_ name: String, _ payload: [String: Value]) {
        if let problem = Topic.problem(in: name) {
            return log(.warning, "The notification '\(name)' is dropped: \(problem).")
        }
        guard bounds.admits(publishing: payload) else { return }
        report(.publishes(name, payload))
    }

    func observe(_ pattern: String, _ handler: @escaping (Notification) -> Void) {
        do throws(HostError) {
            let parsed = try TopicPattern(pattern)
            guard !isClosed else { return }
            if !handlers.contains(where: { $0.pattern == parsed }) {
                guard Set(handlers.map(\.pattern)).count < Self.maxPatterns else {
                    return log(
                        .warning,
                        "'\(pattern)' is not observed: a component may observe at most "
                            + "\(Self.maxPatterns) patterns.")
                }
                report(.observes(pattern))
            }
            handlers.append((parsed, handler))
        } catch {
            log(.warning, "'\(pattern)' is not observed: \(Self.reason(error)).")
        }
    }

    func background(
        _ work: @escaping @Sendable () async throws -> any Sendable,
        then: @escaping (Result<any Sendable, any Error>) -> Void
    ) -> () -> Void {
        guard !isClosed else { return {} }
        lastWork += 1
        let number = lastWork
        let loop = loop
        let back = NIOLoopBound(Back(services: self), eventLoop: loop)
        let task = Task(executorPreference: QuietExecutor.shared) {
            let result: Result<any Sendable, any Error>
            do {
                result = .success(try await work())
            } catch {
                result = .failure(error)
            }
            loop.execute { back.value.services?.finish(number, result) }
        }
        self.work[number] = Work(then: then, task: task)
        return { [weak self] in self?.work.removeValue(forKey: number)?.task.cancel() }
    }

    /// A weak reference, so that a task or timer does not keep the component alive.
    private struct Back {
        weak var services: InProcessServices?
    }

    private func finish(_ number: UInt64, _ result: Result<any Sendable, any Error>) {
        guard let work = work.removeValue(forKey: number), let port else { return }
        port.call { work.then(result) }
    }

    func takeKept() -> [UInt8]? {
        defer { kept = nil }
        return kept
    }

    func keep(_ bytes: [UInt8]?) throws(Refusal) {
        if let count = bytes?.count, count > mostKept {
            throw Refusal(
                .limitExceeded,
                "It passed \(count) bytes to keep(_:); the limit is \(mostKept) (limits.keptBytes).",
                evidence: ["limit": "keptBytes", "value": "\(mostKept)"])
        }
        report(.keeps(bytes))
    }

    /// Queues a message for the owner.
    func report(_ message: ComponentMessage) {
        if !isClosed { messages.append(message) }
    }

    private static func reason(_ error: HostError) -> String {
        if case .topicInvalid(_, let reason) = error { reason } else { "\(error)" }
    }
}

// MARK: Time and files

extension InProcessServices {
    func schedule(
        after delay: Duration, repeats: Bool, _ body: @escaping () -> Void
    ) -> () -> Void {
        guard !isClosed else { return {} }
        lastWork += 1
        let number = lastWork
        timers[number] = Timer(interval: TimeAmount(delay), repeats: repeats, body: body)
        set(number)
        return { [weak self] in self?.timers.removeValue(forKey: number)?.next?.cancel() }
    }

    private func set(_ number: UInt64) {
        guard let timer = timers[number] else { return }
        let back = NIOLoopBound(Back(services: self), eventLoop: loop)
        timers[number]?.next = loop.scheduleTask(in: timer.interval) {
            back.value.services?.fire(number)
        }
    }

    private func fire(_ number: UInt64) {
        guard let timer = timers[number], let port else { return }
        if !timer.repeats { timers[number] = nil }
        port.wake(timer.body)
        set(number)
    }

    func watch(_ path: String, _ body: @escaping () -> Void) throws(Refusal) -> () -> Void {
        guard !isClosed else { return {} }
        let number = try watches.add(path) { [weak self] problem in
            guard let self, let port else { return }
            if let problem { log(.warning, problem) }
            port.wake(body)
        }
        watched.insert(number)
        return { [weak self] in
            guard let self, watched.remove(number) != nil else { return }
            watches.remove(number)
        }
    }
}
