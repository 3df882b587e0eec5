import AtriumKit
import NIOCore
import NIOPosix
import PluginLoader
import Store
import Synchronization
import TestSupport
import Testing

@testable import Host

/// Components that take records over when the test says so.
private final class SlowLauncher: ComponentLauncher {
    /// What the components have, and what they wait with.
    final class Script: Sendable {
        private typealias Taken = NIOLoopBound<() -> Void>

        private let state = Mutex((given: [Int](), held: [Taken](), most: 0))

        /// How many records each slice had.
        var given: [Int] { state.withLock { $0.given } }

        /// How many slices were with a component at once.
        var most: Int { state.withLock { $0.most } }

        /// Lets what a component has count as taken; on the loop.
        ///
        /// - Returns: whether there was any.
        func take() -> Bool {
            let held = state.withLock { state in
                defer { state.held = [] }
                return state.held
            }
            for taken in held { taken.value() }
            return !held.isEmpty
        }

        fileprivate func hold(_ count: Int, _ done: @escaping () -> Void, _ loop: any EventLoop) {
            let bound = NIOLoopBound(done, eventLoop: loop)
            state.withLock { state in
                state.given.append(count)
                state.held.append(bound)
                state.most = max(state.most, state.held.count)
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
        return InProcessLauncher(loop: loop).launch(request, owner: owner) { [script] result in
            done(result.map { SlowPort($0, loop, script) })
        }
    }

    func describe(
        _ plugin: Plugin, _ done: @escaping (Result<[SettingDescription], LaunchFailure>) -> Void
    ) { plugin.describe(done) }
}

private final class SlowPort: ComponentPort {
    private let inner: any ComponentPort
    private let loop: any EventLoop
    private let script: SlowLauncher.Script

    init(_ inner: any ComponentPort, _ loop: any EventLoop, _ script: SlowLauncher.Script) {
        (self.inner, self.loop, self.script) = (inner, loop, script)
    }

    var kind: Kind { inner.kind }
    var observedFields: [String] { inner.observedFields }
    var preselection: Selection { inner.preselection }
    var facts: ComponentFacts? { inner.facts }
    var asks: Bool { inner.asks }
    var directLoad: (any DirectLoad)? { nil }

    func load(_ changes: [Change], _ done: @escaping () -> Void) {
        inner.load(changes) { self.script.hold(changes.count, done, self.loop) }
    }
    func reportState(
        anew: Bool, _ done: @escaping (Result<StatePart, PortFailure>) -> Void
    ) { inner.reportState(anew: anew, done) }
    func decide(
        _ command: ComponentCommand, _ context: CommandContext,
        _ done: @escaping (Result<Decision, PortFailure>) -> Void
    ) { inner.decide(command, context, done) }
    func answer(
        _ query: ComponentQuery, _ done: @escaping (Result<ComponentAnswer, PortFailure>) -> Void
    ) { inner.answer(query, done) }
    func undo(_ changes: [Change]) { inner.undo(changes) }
    func report(_ values: [String: [Value]], cut: Set<String>, _ done: @escaping () -> Void) {
        inner.report(values, cut: cut, done)
    }
    func deliver(_ notification: AtriumKit.Notification) { inner.deliver(notification) }
    func readImage(_ number: Int, of item: String, field: String) {
        inner.readImage(number, of: item, field: field)
    }
    func ask(_ number: Int, _ question: ContentQuestion) { inner.ask(number, question) }
    func apply(_ settings: [String: Value], _ done: @escaping () -> Void) {
        inner.apply(settings, done)
    }
    func problem(in events: [ComponentEvent]) -> String? { inner.problem(in: events) }
    func reload() { inner.reload() }
    func reportAudience(_ screens: Int) { inner.reportAudience(screens) }
    func setReadingPaused(_ isPaused: Bool) { inner.setReadingPaused(isPaused) }
    func notify(_ phase: LifecyclePhase) { inner.notify(phase) }
    func close() { inner.close() }
}

/// Records on their way into a component.
@Suite(.timeLimit(.minutes(3))) struct SlicedLoadTests {
    private static let votes = 4_000

    @Test func `a component gets a few slices at a time, and others read meanwhile`() async throws {
        let definition = ContainerDefinition.films.changed { $0.components[2].isolation = .process }
        let first = try await TestRegistry.start()
        try await first.apply(.films)
        _ = try await first.castAll(Self.votes)
        try await first.stop()

        let script = SlowLauncher.Script()
        let host = try await TestRegistry.start(
            in: first.directory, workers: SlowLauncher(script), loads: false)
        // Waits until the stars are there, whose worker has not begun yet.
        async let applied = host.apply(definition)
        try await until { script.given.count == SlicedLoad.window }
        // What is read for others comes between: nobody waits for the component.
        _ = try await host.call { (registry, reply: @escaping Reply<Int>) in
            registry.domain.read { store in
                try store.records([RecordKey(container: "films", component: "list", key: "a")])
                    .count
            } then: {
                reply($0.mapError { _ in HostError.screenNotFound("") })
            }
        }
        #expect(script.given.count == SlicedLoad.window)
        let taking = Task {
            while !Task.isCancelled {
                _ = await host.on { _ in script.take() }
                await Task.yield()
            }
        }
        _ = try await applied
        taking.cancel()
        #expect(script.most == SlicedLoad.window)
        #expect(script.given.reduce(0, +) == Self.votes)
        #expect(script.given.max() == LoadSlice.length)
        #expect(try await host.tally().tally.tally.count == Self.votes)
        try await host.end()
    }

    @Test func `slices are bounded by bytes, and read on from where they ended`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        let text = String(repeating: "x", count: 100 << 10)
        for number in 0..<8 {
            try await host.put(
                Item(id: "item \(number)", fields: ["title": .text("\(number) \(text)")]))
        }
        var (keys, turns): ([String], Int) = ([], 0)
        var place = LoadSlice.Place(key: nil, isEnd: false)
        while !place.isEnd {
            place = try LoadSlice.read(
                "films", "list", kind: .contents, form: nil, after: place, atMost: 1,
                in: host.store
            ) { slice in
                #expect(slice.changes.count <= 3, "three of them are more than a slice may have")
                keys += slice.changes.map(\.key)
            }
            turns += 1
        }
        #expect(place.tally.difference == nil)
        #expect(keys == (0..<8).map { "item \($0)" })
        #expect(turns == 3)
        try await host.end()
    }
}
