import AtriumKit
import AtriumKitTesting
import Glibc
import Host
import Index
import Synchronization
import Workers

/// The calls that a suite makes: which one is open, and since when.
///
/// A crash of this process, a call that does not return and the end of a worker are then reported with the call's number.
final class SuiteCalls: Sendable {
    private struct Open {
        let text: String
        let since: ContinuousClock.Instant
    }

    private struct State {
        /// What is run: the suite, or an example.
        var what = ""
        var count = 0
        var open: Open?
    }

    private let state = Mutex(State())
    /// How long a call may take.
    let limit: Duration

    init(limit: Duration) { self.limit = limit }

    /// Begins anew: `what` is run, in a process.
    func begin(_ what: String) {
        state.withLock { $0 = State(what: what) }
    }

    /// Makes a call; it is the open one until it returns.
    ///
    /// - Parameters:
    ///   - text: the call, for people.
    ///   - isTimed: whether it has to return within the limit.
    ///   - body: makes it.
    /// - Returns: what it returns.
    /// - Throws: what it throws; of a worker that ended or could not start, with the call.
    func make<Result>(
        _ text: @autoclosure () -> String, isTimed: Bool = true,
        _ body: () async throws -> Result
    ) async throws -> Result {
        let text = text()
        let call = state.withLock { state in
            state.count += 1
            let call = "\(state.what), call \(state.count), \(text.prefix(300))"
            if isTimed { state.open = Open(text: call, since: .now) }
            return call
        }
        EndOfProcess.setNext(call)
        defer { state.withLock { $0.open = nil } }
        do {
            return try await body()
        } catch PortFailure.died(let reason) {
            throw EndedWorker(description: "\(call): \(reason)")
        } catch LaunchFailure.failed(let reason) {
            throw EndedWorker(description: "\(call): \(reason)")
        } catch LaunchFailure.unavailable(let reason) {
            throw EndedWorker(description: "\(call): \(reason)")
        }
    }

    /// The call that takes longer than the limit; nil: none does.
    var overdue: String? {
        state.withLock { state in
            state.open.flatMap { $0.since.duration(to: .now) > limit ? $0.text : nil }
        }
    }

    /// The call that is open, or was made last.
    var last: String {
        state.withLock { state in state.open?.text ?? "\(state.what), call \(state.count)" }
    }
}

/// A worker ended in the middle of a call, or could not start its component.
struct EndedWorker: Error, CustomStringConvertible {
    let description: String
}

/// Passes a suite's calls on, each noted.
struct WatchedDriver: ConformanceDriver {
    let driver: any ConformanceDriver
    let calls: SuiteCalls

    func start(settings: [String: Value], fields: [Field]) async throws -> Kind {
        try await calls.make("start with \(Value.object(settings).briefText)", isTimed: false) {
            try await driver.start(settings: settings, fields: fields)
        }
    }

    func restore(_ changes: [Change]) async throws -> [ComponentEvent] {
        try await calls.make(
            changes.isEmpty ? "report the state" : "restore \(changes.count) records"
        ) { try await driver.restore(changes) }
    }

    func decide(
        _ command: ComponentCommand, _ context: CommandContext
    ) async throws -> Decision {
        try await calls.make("\(command) by \(context.actor)") {
            try await driver.decide(command, context)
        }
    }

    func answer(_ query: ComponentQuery) async throws -> ComponentAnswer {
        try await calls.make("\(query)") { try await driver.answer(query) }
    }

    func asks() async throws -> Bool { try await driver.asks() }

    func ask(_ question: ContentQuestion) async throws -> ContentAnswer {
        try await calls.make("\(question)", isTimed: false) { try await driver.ask(question) }
    }

    func undo(_ changes: [Change]) async throws {
        try await calls.make("apply \(changes.count) records") { try await driver.undo(changes) }
    }

    func report(_ values: [String: [Value]], cut: Set<String>) async throws {
        try await calls.make("report the values of \(values.keys.sorted())") {
            try await driver.report(values, cut: cut)
        }
    }

    func observedFields() async throws -> [String] { try await driver.observedFields() }
    func facts() async throws -> ComponentFacts? { try await driver.facts() }
    func preselection() async throws -> Selection { try await driver.preselection() }

    func change(settings: [String: Value]) async throws -> Bool {
        try await calls.make("take \(Value.object(settings).briefText)") {
            try await driver.change(settings: settings)
        }
    }

    func provide(_ items: [Item]) async throws { try await driver.provide(items) }
    func logged() async throws -> [String] { try await driver.logged() }

    func restartAtOnce() async throws {
        try await calls.make("restart", isTimed: false) { try await driver.restartAtOnce() }
    }

    func fileChanged(_ path: String) async throws {
        try await calls.make("look at \(path)") { try await driver.fileChanged(path) }
    }

    func advance(by time: Duration) async throws {
        try await calls.make("let \(time) pass", isTimed: false) {
            try await driver.advance(by: time)
        }
    }

    func takeReported() async throws -> [ComponentEvent] { try await driver.takeReported() }
    func hasLeft() async -> Bool { await driver.hasLeft() }
    func settle() async { await driver.settle() }
    func stop() async { await driver.stop() }
}

extension Value {
    fileprivate var briefText: String {
        String(String(decoding: jsonBytes, as: UTF8.self).prefix(200))
    }
}

/// What is printed if the plugin ends this process, by a crash or by `exit`: the call that was made.
enum EndOfProcess {
    private static let call = Mutex<String?>(nil)

    /// Reports ends of this process from now on, until ``finish()``.
    static func install() {
        CrashHandler.install()
        setNext("before the first call")
        atexit { EndOfProcess.report() }
    }

    /// Sets what is done next, which a report of an end of this process names.
    static func setNext(_ text: String) {
        call.withLock { $0 = text }
        CrashHandler.forget()
        CrashHandler.append("failed: \(text.replacing("\n", with: " ")): it crashed here")
    }

    /// From now on an end of this process is no failure.
    static func finish() {
        call.withLock { $0 = nil }
        CrashHandler.forget()
    }

    private static func report() {
        guard let call = call.withLock(\.self) else { return }
        print("failed: \(call): it ended this process")
        fflush(nil)
        _exit(1)
    }
}
