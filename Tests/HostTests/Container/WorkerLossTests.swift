import AtriumKit
import NIOCore
import NIOPosix
import PluginLoader
import Store
import StoreFaults
import Synchronization
import Testing

@testable import Host

/// Components that live in the daemon and behave like those in a worker: what they are asked
/// reaches them a turn of the loop later, in order, and they can be lost in between.
final class RemoteLauncher: ComponentLauncher {
    /// What a test does to the components.
    final class Script: Sendable {
        private let poison = Mutex<Set<Double>>([])
        private let deadly = Mutex(false)
        private let wrong = Mutex<Set<String>>([])
        private let pauses = Mutex<[Bool]>([])
        private let queries = Mutex<[String]>([])
        private let state = Mutex(
            (
                losses: 0, failingStarts: 0, starts: 0, parts: 0, restored: 0, refusals: 0,
                settings: 0
            ))

        /// The next so many commands are lost, each with its worker, before they are answered.
        func lose(_ count: Int) { state.withLock { $0.losses = count } }
        /// Votes of these values are lost, each time with their worker.
        func lose(atVotes values: Set<Double>) { poison.withLock { $0 = values } }
        fileprivate func isPoison(_ command: ComponentCommand) -> Bool {
            guard case .castBallot(_, let value) = command else { return false }
            return poison.withLock { $0.contains(value) }
        }
        /// Workers are lost when they are sent the values of fields, or no more.
        func loseAtValues(_ isDeadly: Bool) { deadly.withLock { $0 = isDeadly } }
        fileprivate var losesAtValues: Bool { deadly.withLock { $0 } }
        /// These questions are answered against the rules, each time by the last answer of a worker.
        func answerWrongly(_ queries: Set<String>) { wrong.withLock { $0 = queries } }
        fileprivate func isWrong(_ query: ComponentQuery) -> Bool {
            wrong.withLock { $0.contains(query.name) }
        }
        /// The next so many workers are lost between two parts of what they tell of their state.
        func loseBetweenParts(_ count: Int) { state.withLock { $0.parts = count } }
        /// The next so many workers are lost right after their restore.
        func loseRestored(_ count: Int) { state.withLock { $0.restored = count } }
        /// The next so many questions are refused.
        func refuseAnswers(_ count: Int) { state.withLock { $0.refusals = count } }
        /// The next so many workers are lost when they are given other settings.
        func loseAtSettings(_ count: Int) { state.withLock { $0.settings = count } }
        /// The next so many starts fail.
        func failStarts(_ count: Int) { state.withLock { $0.failingStarts = count } }
        /// Each time that reading a component's messages was paused (true) or resumed.
        var readingPauses: [Bool] { pauses.withLock { $0 } }
        fileprivate func recordPause(_ isPaused: Bool) { pauses.withLock { $0.append(isPaused) } }
        /// The names of the questions that the components were asked, in order.
        var questions: [String] { queries.withLock { $0 } }
        fileprivate func record(_ query: ComponentQuery) {
            queries.withLock { $0.append(query.name) }
        }
        /// How often a component was started.
        var starts: Int { state.withLock { $0.starts } }

        fileprivate func takeLoss() -> Bool {
            state.withLock { state in
                state.losses -= 1
                return state.losses >= 0
            }
        }

        fileprivate func takePart() -> Bool {
            state.withLock { state in
                state.parts -= 1
                return state.parts >= 0
            }
        }

        fileprivate func takeLoaded() -> Bool {
            state.withLock { state in
                state.restored -= 1
                return state.restored >= 0
            }
        }

        fileprivate func takeRefusal() -> Bool {
            state.withLock { state in
                state.refusals -= 1
                return state.refusals >= 0
            }
        }

        fileprivate func takeSettings() -> Bool {
            state.withLock { state in
                state.settings -= 1
                return state.settings >= 0
            }
        }

        fileprivate func takeStart() -> Bool {
            state.withLock { state in
                state.starts += 1
                state.failingStarts -= 1
                return state.failingStarts < 0
            }
        }
    }

    private let script: Script
    init(_ script: Script) { self.script = script }

    func launch(
        _ request: LaunchRequest, owner: any PortOwner,
        _ done: @escaping (Result<any ComponentPort, LaunchFailure>) -> Void
    ) -> LaunchCancellation {
        guard let loop = MultiThreadedEventLoopGroup.currentEventLoop else { return {} }
        guard script.takeStart() else {
            done(.failure(.unavailable(reason: "It ended at once.")))
            return {}
        }
        return InProcessLauncher(loop: loop).launch(request, owner: owner) { [script] result in
            done(result.map { RemotePort($0, loop, owner, script) })
        }
    }

    func describe(
        _ plugin: Plugin, _ done: @escaping (Result<[SettingDescription], LaunchFailure>) -> Void
    ) { plugin.describe(done) }
}

private final class RemotePort: ComponentPort {
    private let inner: any ComponentPort
    private let loop: any EventLoop
    private let script: RemoteLauncher.Script
    private weak var owner: (any PortOwner)?
    private var isLost = false

    init(
        _ inner: any ComponentPort, _ loop: any EventLoop, _ owner: any PortOwner,
        _ script: RemoteLauncher.Script
    ) {
        self.inner = inner
        self.loop = loop
        self.owner = owner
        self.script = script
    }

    var kind: Kind { inner.kind }
    private(set) lazy var observedFields: [String] = inner.observedFields
    private(set) lazy var preselection: Selection = inner.preselection
    private(set) lazy var facts: ComponentFacts? = inner.facts
    private(set) lazy var asks: Bool = inner.asks

    private func later(_ body: @escaping () -> Void) {
        let body = NIOLoopBound({ [self] in if !isLost { body() } }, eventLoop: loop)
        loop.execute { body.value() }
    }

    func load(_ changes: [Change], _ done: @escaping () -> Void) {
        later { self.inner.load(changes) { self.later(done) } }
    }
    var directLoad: (any DirectLoad)? { nil }
    func reportState(
        anew: Bool, _ done: @escaping (Result<StatePart, PortFailure>) -> Void
    ) {
        later { [self] in
            inner.reportState(anew: anew) { [self] result in
                later { done(result) }
                let isLast = (try? result.get())?.isLast ?? true
                guard isLast ? script.takeLoaded() : script.takePart() else { return }
                later { [self] in
                    isLost = true
                    owner?.port(self, died: PortDeath("It was killed."))
                }
            }
        }
    }
    func decide(
        _ command: ComponentCommand, _ context: CommandContext,
        _ done: @escaping (Result<Decision, PortFailure>) -> Void
    ) {
        later { [self] in
            inner.decide(command, context) { [self] result in
                // It has decided and applied: the answer is lost on the way.
                guard !script.isPoison(command) else {
                    // What it answered before has left.
                    return later { [self] in
                        isLost = true
                        owner?.port(self, died: PortDeath("It was killed."))
                    }
                }
                guard !script.takeLoss() else {
                    isLost = true
                    owner?.port(self, died: PortDeath("It was killed."))
                    return
                }
                later { done(result) }
            }
        }
    }
    func answer(
        _ query: ComponentQuery, _ done: @escaping (Result<ComponentAnswer, PortFailure>) -> Void
    ) {
        script.record(query)
        later { [self] in
            guard !script.takeRefusal() else {
                return done(.failure(.refused(Refusal("Too much."))))
            }
            guard !script.isWrong(query) else {
                done(.failure(.mistrusted(reason: "It answered with nonsense.")))
                isLost = true
                owner?.port(self, died: PortDeath("It was killed.", wasAtRequest: false))
                return
            }
            inner.answer(query) { result in self.later { done(result) } }
        }
    }
    func apply(_ settings: [String: Value], _ done: @escaping () -> Void) {
        later { [self] in
            guard !script.takeSettings() else {
                isLost = true
                owner?.port(self, died: PortDeath("It was killed.", wasAtRequest: false))
                return
            }
            inner.apply(settings) { [self] in
                later { [self] in
                    (observedFields, preselection) = (inner.observedFields, inner.preselection)
                    (facts, asks) = (inner.facts, inner.asks)
                    done()
                }
            }
        }
    }
    func undo(_ changes: [Change]) { later { self.inner.undo(changes) } }
    func report(_ values: [String: [Value]], cut: Set<String>, _ done: @escaping () -> Void) {
        later { [self] in
            guard !script.losesAtValues else {
                isLost = true
                let death = PortDeath("It was killed.", wasAtRequest: false, wasAtValues: true)
                owner?.port(self, died: death)
                return
            }
            inner.report(values, cut: cut) { self.later(done) }
        }
    }
    func deliver(_ notification: AtriumKit.Notification) {
        later { self.inner.deliver(notification) }
    }
    func readImage(_ number: Int, of item: String, field: String) {
        later { self.inner.readImage(number, of: item, field: field) }
    }
    func ask(_ number: Int, _ question: ContentQuestion) {
        later { self.inner.ask(number, question) }
    }
    func problem(in events: [ComponentEvent]) -> String? { nil }
    func reload() { later { self.inner.reload() } }
    func reportAudience(_ screens: Int) { later { self.inner.reportAudience(screens) } }
    func setReadingPaused(_ isPaused: Bool) {
        script.recordPause(isPaused)
        inner.setReadingPaused(isPaused)
    }
    func notify(_ phase: LifecyclePhase) { later { self.inner.notify(phase) } }
    func close() {
        isLost = true
        inner.close()
    }
}

@Suite(.timeLimit(.minutes(3))) struct WorkerLossTests {
    private func films(_ script: RemoteLauncher.Script) async throws -> TestRegistry {
        let host = try await TestRegistry.start(workers: RemoteLauncher(script))
        try await host.apply(
            .films.changed { definition in
                for index in definition.components.indices {
                    definition.components[index].isolation = .process
                }
            })
        try await host.put(.film("heat"), .film("alien", ["horror"]))
        return host
    }

    @Test func `components in workers answer everything as those in the daemon do`() async throws {
        let host = try await films(RemoteLauncher.Script())
        try await host.cast(4, on: "heat")
        try await host.post("Slow.", on: "heat")
        let page = try await host.list(
            "films", Selection(["genre": ["drama"]]), facets: true, actor: "unix:1000")
        #expect(page.items.map(\.id) == ["heat"])
        #expect(page.items[0].votes?.mine == 4)
        #expect(page.sections?[0].filters.map(\.id) == ["drama", "horror"])
        #expect(try await host.thread(of: "heat").total == 1)
        #expect(try await host.remove("heat", purge: true).removed == 1)
        #expect(await host.on { $0.status(hasDetails: true).workers } == 4)
        try await host.end()
    }

    @Test func `a worker is not read while many of its reports are delivered`() async throws {
        let script = RemoteLauncher.Script()
        let host = try await films(script)
        let before = script.readingPauses.count
        await host.on { registry in
            let reports = (0..<1_000).map { ComponentEvent.tally(.item("film\($0)"), Tally()) }
            registry.containers["films"]?.slot("stars")?.reports.deliver(reports)
        }
        while script.readingPauses.count < before + 2 { await Task.yield() }
        #expect(script.readingPauses.dropFirst(before) == [true, false])
        try await host.end()
    }

    @Test func `a command whose worker is lost is sent once more, and counts once`() async throws {
        let script = RemoteLauncher.Script()
        let host = try await films(script)
        try await host.cast(4, on: "heat")
        script.lose(1)
        let vote = try await host.cast(2, on: "heat", by: .bob)
        #expect(vote.tally.tally == Tally(count: 2, score: 3, histogram: ["4": 1, "2": 1]))
        #expect(script.starts == 5)
        #expect(try await host.tally(of: "heat", actor: "unix:1000").tally.mine == 4)
        try await host.end()
    }

    @Test func `commands behind the lost one wait for the new worker`() async throws {
        let script = RemoteLauncher.Script()
        let host = try await films(script)
        script.lose(1)
        let results = try await host.castAll(10)
        #expect(results.compactMap { try? $0.get().tally.tally.count } == Array(1...10))
        try await host.end()
    }

    @Test func `a command at which the worker is lost twice is refused, others go on`()
        async throws
    {
        let script = RemoteLauncher.Script()
        let host = try await films(script)
        script.lose(2)
        let results = try await host.castAll(3)
        guard case .failure(.componentFailed(let failure)) = results[0], failure.isOfCall else {
            Issue.record("\(results[0])")
            return
        }
        #expect(failure.details.contains("castBallot of the container"))
        #expect(results.compactMap { try? $0.get().tally.tally.count } == [1, 2])
        try await host.end()
    }

    @Test func `a component whose starts keep failing is failed, with the reason`() async throws {
        let script = RemoteLauncher.Script()
        var limits = HostLimits()
        limits.restarts = 2
        let host = try await TestRegistry.start(
            limits: limits, workers: RemoteLauncher(script))
        try await host.apply(.films.changed { $0.components[2].isolation = .process })
        script.lose(1)
        script.failStarts(10)
        await #expect {
            try await host.cast(4)
        } throws: {
            guard let absence = ($0 as? HostError)?.absence else { return false }
            return absence.component == "stars" && absence.details.contains("ended at once")
        }
        let status = try await host.status()
        #expect(status.components[2].state == .failed)
        #expect(status.state == .degraded)
        let reason = try #require(status.components[2].reason)
        #expect(
            status.reason
                == "the component \(status.components[2].definition.name) failed: \(reason)")
        #expect(try await host.put(.film("heat")).inserted == 1)
        try await host.end()
    }

    @Test(.timeLimit(.minutes(1)))
    func `a read that names an actor is refused while the votes component can't answer`()
        async throws
    {
        let script = RemoteLauncher.Script()
        var limits = HostLimits()
        limits.restarts = 0
        let host = try await TestRegistry.start(limits: limits, workers: RemoteLauncher(script))
        try await host.apply(.films.changed { $0.components[2].isolation = .process })
        try await host.put(.film("heat"))
        try await host.cast(4, on: "heat")
        script.lose(1)
        script.failStarts(10)
        await #expect(throws: HostError.self) { try await host.cast(5, on: "heat") }
        func isRefusal(_ error: any Error) -> Bool {
            (error as? HostError)?.absence?.component == "stars"
        }
        await #expect {
            try await host.list(actor: "unix:1000")
        } throws: {
            isRefusal($0)
        }
        await #expect {
            try await host.tally(of: "heat", actor: "unix:1000")
        } throws: {
            isRefusal($0)
        }
        await #expect {
            try await host.call { registry, reply in
                registry.get("films", component: nil, item: "heat", actor: "unix:1000", reply)
            }
        } throws: {
            isRefusal($0)
        }
        // Who asks for nobody's ballots, or those of one who never voted, is answered.
        #expect(try await host.list().items.count == 1)
        #expect(try await host.list(actor: "unix:7").items.count == 1)
        try await host.end()
    }

    @Test(.timeLimit(.minutes(1)))
    func `a worker that is lost between its restore and its attachment is started again`()
        async throws
    {
        let script = RemoteLauncher.Script()
        let host = try await films(script)
        script.loseRestored(1)
        _ = try await host.call { registry, reply in
            registry.attach(
                "films",
                ComponentDefinition(
                    name: "more", plugin: "org.atrium.stars", isolation: .process),
                at: nil, by: .ann, reply)
        }
        let vote = try await host.call {
            $0.cast(
                SubjectAddress(container: "films", component: "more"), value: 4, by: .ann, $1)
        }
        #expect(vote.tally.tally.count == 1)
        try await host.end()
    }

    @Test(.timeLimit(.minutes(1)))
    func `a component is detached once it has answered its last question`() async throws {
        let host = try await films(RemoteLauncher.Script())
        try await host.cast(4)
        let results = try await host.callAll(2) { registry, index, reply in
            if index == 0 {
                registry.tally(SubjectAddress(container: "films"), actor: "unix:1000") {
                    reply($0.map(\.sequence))
                }
            } else {
                registry.detach("films", "stars", purge: false, by: .ann, reply)
            }
        }
        let read = try results[0].get()
        #expect(try results[1].get() == read + 1)
        try await host.end()
    }

    @Test(.timeLimit(.minutes(1)))
    func `a component that fails for good does not keep its successor waiting`() async throws {
        let script = RemoteLauncher.Script()
        var limits = HostLimits()
        limits.restarts = 0
        let host = try await TestRegistry.start(
            limits: limits, workers: RemoteLauncher(script))
        try await host.apply(.films.changed { $0.components[2].isolation = .process })
        script.lose(1)
        let results = try await host.callAll(2) { registry, index, reply in
            if index == 0 {
                registry.cast(SubjectAddress(container: "films"), value: 4, by: .ann) {
                    reply($0.map(\.sequence))
                }
            } else {
                registry.structure.apply([.films], dryRun: false, prune: false, by: .ann) {
                    reply($0.map(\.sequence))
                }
            }
        }
        #expect(throws: HostError.self) { try results[0].get() }
        #expect(throws: Never.self) { try results[1].get() }
        #expect(try await host.cast(4).tally.tally.count == 1)
        try await host.end()
    }

    @Test func `decisions on their way when an entry fails are refused and undone`() async throws {
        let host = try await films(RemoteLauncher.Script())
        _ = try await host.cast(2, by: Caller(actor: "unix:7"))
        let fault = try host.refuseEntries()
        let results = try await host.callAll(50) { registry, index, reply in
            registry.cast(
                SubjectAddress(container: "films"), value: 4,
                by: Caller(actor: "unix:\(index)"), reply)
        }
        #expect(results.allSatisfy { (try? $0.get()) == nil })
        try fault.heal()
        // Waits until all is undone: somebody whom nothing names would be answered at once.
        #expect(try await host.tally(actor: "unix:7").tally.mine == 2)
        #expect(try await host.cast(4).tally.tally.count == 2)
        try await host.end()
    }
}
