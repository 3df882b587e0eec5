import AtriumKit
import PluginLoader
import StoreFaults
import Synchronization
import TestSupport
import Testing

@testable import Host

/// Queues of calls that wait, each filled by one user while another one calls, too.
@Suite(.timeLimit(.minutes(2))) struct WaitPermitTests {
    /// Of 10 places one user has 5: as many as are left for others.
    private static let limits = {
        var limits = HostLimits()
        limits.waitingCalls = 10
        return limits
    }()
    private static let anns = 20
    private static let own = 5
    private static let heat = SubjectAddress(container: "films", item: "heat")

    /// Who makes a call: the last is another's.
    private static func caller(_ index: Int) -> Caller { index < anns ? .ann : .bob }

    /// Looks whether of one user's calls some were taken, and the other's was.
    private func expect<T>(
        _ answers: [Result<T, HostError>], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for (index, answer) in answers.enumerated() {
            let isTaken = index < Self.own || index == Self.anns
            let reason: String? =
                switch answer {
                case .failure(.componentUnavailable(_, let reason, _)): reason
                case .failure(.storeUnavailable(let reason, _)): reason
                default: nil
                }
            #expect((reason == nil) == isTaken, "\(index)", sourceLocation: sourceLocation)
            guard let reason else { continue }
            #expect(
                reason.contains("already has 5 calls waiting;")
                    && reason.contains("of 10 (waitingCalls). Await replies"),
                sourceLocation: sourceLocation)
        }
    }

    // MARK: The rule

    @Test func `a user has as many places as are free, and nobody more than there are`() throws {
        let places = WaitPermits()
        var held: [WaitPermits.Permit] = []
        func take(_ user: String, _ most: Int = 10) -> Bool {
            guard let place = try? places.acquire(for: user, of: most) else { return false }
            held.append(place)
            return true
        }
        #expect((0..<10).filter { _ in take("ann") }.count == 5)
        #expect((0..<10).filter { _ in take("bob") }.count == 3)
        #expect(take("cem") && take("dea") && !take("eve"), "all ten are taken")
        #expect(places.count == 10)
        #expect(throws: WaitPermits.Full.self) { try places.acquire(for: "eve", of: 10) }
        #expect(take("eve", .max), "where nobody is refused")
        held.removeAll()
        #expect(places.count == 0 && take("ann"))
    }

    // MARK: A component

    @Test func `commands that wait for a component`() async throws {
        let host = try await films()
        let writer = try host.heldWriter()
        async let vote = host.cast(4, on: "heat")
        await host.reach(writer)
        async let results = host.callAll(Self.anns + 2) {
            (registry, index, reply: @escaping Reply<Int64>) in
            guard index > 0 else {
                // Its gate is closed until what is being written is on disk.
                return registry.containers["films"]?.gates.close(["stars"]) {
                    registry.containers["films"]?.gates.open(["stars"])
                    reply(.success(0))
                } ?? ()
            }
            registry.cast(Self.heat, value: Double(1 + index % 5), by: Self.caller(index - 1)) {
                reply($0.map(\.sequence))
            }
        }
        while await host.on({ $0.containers["films"]?.slot("stars")?.requests.waitingCount }) != 6 {
            await Task.yield()
        }
        try writer.release()
        let answers = try await results.dropFirst()
        expect(Array(answers))
        let sequences = answers.compactMap { try? $0.get() }
        #expect(sequences == sequences.sorted() && Set(sequences).count == 6, "in their order")
        _ = try await vote
        #expect(try await host.castAll(1).allSatisfy { (try? $0.get()) != nil })
        try await host.end()
    }

    @Test func `reads that wait for a component`() async throws {
        let host = try await films()
        let writer = try host.heldWriter()
        async let vote = host.cast(4, on: "heat")
        await host.reach(writer)
        async let results = host.callAll(Self.anns + 1) {
            (registry, index, reply: @escaping Reply<BallotPage>) in
            registry.containers["films"]?.votes.ballots(
                on: "heat", in: nil, limit: 10, cursor: nil, by: Self.caller(index).user, reply)
        }
        while await host.on({ $0.containers["films"]?.slot("stars")?.requests.waitingCount }) != 6 {
            await Task.yield()
        }
        try writer.release()
        expect(try await results)
        _ = try await vote
        try await host.end()
    }

    @Test func `pictures that wait for a source`() async throws {
        let host = try await films(
            plugins: [.inProcess("test.still", .contents, StillGallery.self)]
        ) {
            $0.fields.append(Field(name: "cover", type: .image))
            $0.components[1].plugin = "test.still"
        }
        async let results = host.callAll(Self.anns + 1) {
            (registry, index, reply: @escaping Reply<ItemImage>) in
            registry.containers["films"]?.contents.image(
                of: "still", in: nil, field: "cover", by: Self.caller(index).user, reply)
            if index == Self.anns { StillGallery.gate.continuation.finish() }
        }
        expect(try await results)
        try await host.end()
    }

    @Test(arguments: [true, false])
    func `pages that wait for a source that is asked`(equal: Bool) async throws {
        let oracle = try await OracleHost.start(Oracle.films(holds: true)) {
            $0 = Self.limits
            $0.typingPause = .milliseconds(10)
        }
        async let results = oracle.host.callAll(Self.anns + 1) {
            (registry, index, reply: @escaping Reply<ListPage>) in
            let request = ListRequest(
                search: equal ? "all" : "s\(index)", user: Self.caller(index).user)
            registry.list("films", request, reply)
        }
        let searches = equal ? ["all"] : (0..<Self.own).map { "s\($0)" } + ["s\(Self.anns)"]
        try await until { oracle.asked.count == searches.count }
        for search in searches { try await oracle.reply(["a"], to: search) }
        expect(try await results)
        try await oracle.host.end()
    }

    // MARK: A container

    @Test func `calls that wait for a container that is being loaded`() async throws {
        let first = try await films()
        try await first.stop()
        let script = HeldLauncher.Script()
        var limits = Self.limits
        limits.startPatience = .seconds(3_600)
        let host = try await TestRegistry.start(
            in: first.directory, limits: limits, workers: HeldLauncher(script), loads: false)
        async let results = host.callAll(Self.anns + 1) {
            (registry, index, reply: @escaping Reply<Bool>) in
            registry.find("films", of: Self.caller(index).user) { reply($0.map { _ in true }) }
            if index == Self.anns { script.release() }
        }
        expect(try await results)
        try await host.end()
    }

    @Test func `calls that wait for definitions`() async throws {
        let host = try await films()
        // What lists all containers takes the same places, and is answered at once without one.
        let answered = Mutex(0)
        let results = try await host.callAll(Self.anns + 1) {
            (registry, index, reply: @escaping Reply<Bool>) in
            if index == 0 { registry.expected.begin() }
            registry.find("new", of: Self.caller(index).user) { found in
                guard case .failure(.containerNotFound) = found else {
                    return reply(found.map { _ in false })
                }
                reply(.success(true))
            }
            registry.expected.whenOver(of: Self.caller(index).user) {
                answered.withLock { $0 += 1 }
            }
            guard index == Self.anns else { return }
            #expect(answered.withLock { $0 } > 0)
            registry.expected.end()
        }
        // Those are answered in the same turn of the loop, after these.
        await host.on { _ in }
        #expect(answered.withLock { $0 } == Self.anns + 1)
        let taken = results.indices.filter { (try? results[$0].get()) == true }
        #expect(taken.contains(Self.anns) && taken.count < Self.anns, "\(taken)")
        try await host.end()
    }

    /// The film club, with few places; its list is in a worker where the test makes these.
    private func films(
        plugins: [Plugin] = [], _ change: (inout ContainerDefinition) -> Void = { _ in }
    ) async throws -> TestRegistry {
        let host = try await TestRegistry.start(
            plugins: .builtIn + plugins, limits: Self.limits,
            workers: HeldLauncher(HeldLauncher.Script(isHeld: false)))
        try await host.apply(
            .films.changed {
                if plugins.isEmpty { $0.components[1].isolation = .process }
                change(&$0)
            })
        guard plugins.isEmpty else {
            try await until { (try? await host.list().items.count) == 1 }
            return host
        }
        try await host.put(.film("heat"))
        return host
    }
}

/// A source whose pictures are read once the gate opens.
private final class StillGallery: ImageProviding {
    static let gate = AsyncStream<Void>.makeStream()

    weak var delegate: (any ContentListingDelegate)?
    let items = [Item(id: "still", fields: ["title": "Still", "cover": "source:one"])]

    init(context: ComponentContext) {}

    func image(of id: String, field: String) -> ImageWork? {
        {
            for await _ in Self.gate.stream {}
            return Array("GIF89a".utf8)
        }
    }

    func apply(_ change: Change) {}
    func put(_ items: [Item], _ context: CommandContext) throws(Refusal) -> ContentDecision {
        ContentDecision()
    }
    func remove(_ ids: [String], _ context: CommandContext) throws(Refusal) -> [Change] { [] }
}
