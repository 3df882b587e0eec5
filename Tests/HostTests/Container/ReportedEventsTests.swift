import AtriumKit
import Index
import NIOCore
import NIOPosix
import PluginLoader
import Synchronization
import TestSupport
import Testing

@testable import Host

/// What a source tells by itself, at any size.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ReportedEventsTests {
    private func start() async throws -> TestRegistry {
        Meter.reset()
        let host = try await TestRegistry.start(
            plugins: [Plugin].builtIn + [.inProcess("test.spring", .contents, Spring.self)],
            delegates: [DelegatePlugin(id: "test.meter", delegate: Meter.self)])
        try await host.apply(
            .films.changed {
                $0.components[1].plugin = "test.spring"
                $0.delegate = DelegateDefinition(plugin: "test.meter")
            })
        return host
    }

    private static func films(_ count: Int, rating: Double = 1) -> [Item] {
        (0..<count).map { .film("film \($0)", rating: rating) }
    }

    private func untilTaken(_ host: TestRegistry) async throws {
        try await until { await host.on { !$0.isTaking } }
    }

    @Test func `a hundred thousand items are taken in a few at a time, and others are served`()
        async throws
    {
        let host = try await start()
        let client = try await ScreenClient(host)
        try await client.catchUp()
        let films = Self.films(100_000)
        let changes = Counts()
        await host.on { registry in
            _ = registry.domain.bus.observe(changes.pattern) { _ in changes.add() }
            registry.tell { $0.tell(.insert(films)) }
        }
        var seen: Set<Int> = []
        try await until {
            seen.insert(try await host.list(limit: 1).total)
            return await host.on { !$0.isTaking }
        }
        #expect(seen.count > 2, "nobody was served meanwhile: \(seen)")
        #expect(try await host.list(limit: 1).total == films.count)
        let told = Meter.taken()
        #expect(told.calls.max() == ReportedEvents.piece)
        #expect(told.calls.reduce(0, +) == films.count)
        #expect(told.turns.reduce(0, +) == films.count)
        #expect(told.turns.max().map { $0 <= 10_000 } == true, "\(told.turns.max() ?? 0) in a turn")
        // Told once of what was told once.
        try await until { changes.count > 0 }
        #expect(changes.count == 1)
        try await until {
            try await client.catchUp()
            return client.copy.totals["list"] == films.count
        }
        try await host.end()
    }

    @Test func `what follows waits for its turn, and what is said of it too`() async throws {
        let host = try await start()
        let films = Self.films(10_000)
        let counts = Mutex<[Int?]>([])
        let isTaking = await host.on { registry in
            _ = registry.domain.bus.observe(Counts.said) { _ in
                let count = registry.list?.count
                counts.withLock { $0.append(count) }
            }
            registry.tell { spring in
                spring.tell(.insert(films))
                spring.tell(.update([.film("film 7", rating: 7)]))
                spring.tell(.remove(films.dropFirst(9_000).map(\.id)))
            }
            // What is published during a call precedes what is reported in it.
            registry.tell { $0.say() }
            registry.tell { $0.tell(.remove(["film 8"])) }
            return registry.isTaking
        }
        #expect(isTaking)
        try await untilTaken(host)
        // Observers are called a turn later: perhaps after the next change that waited.
        try await until { counts.withLock { !$0.isEmpty } }
        let seen = counts.withLock { $0 }
        #expect(seen == [9_000] || seen == [8_999], "\(seen)")
        let list = await host.on { registry in
            (registry.list?.count, registry.rating(of: "film 7"), registry.list?.contains("film 8"))
        }
        #expect(list.0 == 8_999)
        #expect(list.1 == "7")
        #expect(list.2 == false)
        try await host.end()
    }

    @Test func `a commit does not wait for what was reported before it, nor is undone by that`()
        async throws
    {
        let host = try await start()
        let films = Self.films(20_000)
        let last = try #require(films.last?.id)
        async let put: PutResult = host.call { registry, reply in
            registry.tell { $0.tell(.insert(films)) }
            registry.put(
                "films", component: nil, [ItemDraft(item: .film(last, rating: 9))], by: .ann
            ) { result in
                // It is there at once, while most others are not.
                #expect(registry.isTaking)
                #expect(registry.rating(of: last) == "9")
                // Told after it was decided, though it waits as well.
                registry.tell { $0.tell(.update([.film("film 19998", rating: 8)])) }
                reply(result)
            }
        }
        _ = try await put
        try await untilTaken(host)
        let ratings = await host.on { registry in
            (registry.rating(of: last), registry.rating(of: "film 19998"), registry.list?.count)
        }
        #expect(ratings.0 == "9")
        #expect(ratings.1 == "8")
        #expect(ratings.2 == films.count)
        try await host.end()
    }

    @Test func `all items anew are those that the source has, whatever was reported before`()
        async throws
    {
        let host = try await start()
        let (first, second) = (Self.films(3_000), Self.films(2_000, rating: 3))
        await host.on { registry in
            registry.tell { spring in
                spring.tell(.insert(first))
                spring.items = second
                spring.tell(.replaceAll)
                spring.items.append(.film("late", rating: 4))
                spring.tell(.insert([.film("late", rating: 4)]))
            }
        }
        try await until {
            await host.on { !$0.isTaking && $0.containers["films"]?.fillings.isEmpty == true }
        }
        let list = await host.on { registry in
            (registry.list?.count, registry.rating(of: "film 1999"), registry.rating(of: "late"))
        }
        #expect(list.0 == 2_001)
        #expect(list.1 == "3")
        #expect(list.2 == "4")
        try await host.end()
    }

    @Test func `of one that is lost or detached meanwhile nothing more is taken in`() async throws {
        let host = try await start()
        let films = Self.films(20_000)
        await host.on { registry in
            registry.tell { $0.tell(.insert(films)) }
            registry.containers["films"]?.slot("list")?.restart(because: "The test wants it.")
        }
        try await until {
            await host.on { $0.containers["films"]?.slot("list")?.isAttached == true }
        }
        // The one that was made anew has none.
        try await until { try await host.list(limit: 1).total == 0 }
        await host.on { registry in registry.tell { $0.tell(.insert(films)) } }
        let steps = await host.on { registry in
            registry.containers["films"]?.slot("list")?.reports.areWaiting
        }
        #expect(steps == true)
        try await host.apply(.films.changed { $0.components.remove(at: 1) })
        #expect(await host.on { $0.containers["films"]?.slot("list") == nil })
        try await host.end()
    }
}

/// Counts the notifications that items changed.
private final class Counts: Sendable {
    static var said: TopicPattern { pattern("films.plugin.list.said") }
    let pattern = Counts.pattern("films.items.changed")
    private let state = Mutex(0)

    var count: Int { state.withLock { $0 } }

    func add() { state.withLock { $0 += 1 } }

    private static func pattern(_ text: String) -> TopicPattern {
        guard let pattern = try? TopicPattern(text) else { preconditionFailure(text) }
        return pattern
    }
}

extension Registry {
    fileprivate var list: ContentIndex? { containers["films"]?.slot("list")?.list }

    fileprivate var isTaking: Bool {
        containers["films"]?.slot("list")?.reports.areWaiting ?? false
    }

    fileprivate func rating(of item: String) -> String? {
        guard let fields = list?.item(item)?.fields else { return nil }
        let text = String(decoding: fields, as: UTF8.self)
        guard let name = text.firstRange(of: "\"rating\":") else { return nil }
        return String(text[name.upperBound...].prefix { $0.isNumber })
    }

    /// Has the source do something, as if its file had changed.
    fileprivate func tell(_ body: @escaping (Spring) -> Void) {
        Spring.next.withLock { $0 = NIOLoopBound(body, eventLoop: domain.loop) }
        containers["films"]?.slot("list")?.port?.deliver(
            Notification(
                sequence: nil, time: domain.now(), topic: "films.app.tell", payload: [:]))
    }
}

/// A source that tells what a test wants.
private final class Spring: ContentListing {
    static let next = Mutex<NIOLoopBound<(Spring) -> Void>?>(nil)

    weak var delegate: (any ContentListingDelegate)?
    var items: [Item] = []
    private let context: ComponentContext

    init(context: ComponentContext) throws {
        self.context = context
        context.observe("films.app.tell") { [weak self] _ in
            guard let self, let body = Self.next.withLock({ $0 }) else { return }
            body.value(self)
        }
    }

    func tell(_ change: ContentChange) { delegate?.contentListing(self, didChange: change) }

    func say() { context.publish("said", [:]) }

    func apply(_ change: Change) {
        guard let value = change.value, let item = Item(key: change.key, value: value) else {
            return
        }
        tell(.update([item]))
    }

    func put(_ items: [Item], _ context: CommandContext) throws(Refusal) -> ContentDecision {
        ContentDecision(changes: items.map(\.record), updated: items.map(\.id))
    }

    func remove(_ ids: [String], _ context: CommandContext) throws(Refusal) -> [Change] { [] }
}

/// Counts the items that it is told of, by call and by turn of the loop.
private final class Meter: ContainerDelegate {
    private struct Told {
        var calls: [Int] = []
        var turns: [Int] = []
        var isTurn = false
    }

    private static let told = Mutex(Told())

    static func reset() { told.withLock { $0 = Told() } }

    static func taken() -> (calls: [Int], turns: [Int]) {
        told.withLock { ($0.calls, $0.turns) }
    }

    override func contents(_ component: ComponentReference, didChange change: ContentChange) {
        super.contents(component, didChange: change)
        guard case .insert(let items) = change else { return }
        let isFirst = Self.told.withLock { told in
            told.calls.append(items.count)
            if !told.isTurn { told.turns.append(0) }
            told.turns[told.turns.count - 1] += items.count
            defer { told.isTurn = true }
            return !told.isTurn
        }
        // It runs once what is going on now has returned.
        guard isFirst else { return }
        MultiThreadedEventLoopGroup.currentEventLoop?.execute {
            Self.told.withLock { $0.isTurn = false }
        }
    }
}
