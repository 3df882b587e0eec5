import AtriumKit
import Index
import NIOCore
import NIOPosix
import PluginLoader
import Synchronization
import TestSupport
import Testing

@testable import Host

/// All items of a source on their way into its list, in pieces.
@Suite(.serialized, .timeLimit(.minutes(3))) struct ListFillingTests {
    private static let films = (0..<300).map { Item.film("f\($0)") }

    private static let waves = [Plugin].builtIn + [.inProcess("waves", .contents, Waves.self)]

    private func start(_ delegate: ContainerDelegate.Type) async throws -> TestRegistry {
        let host = try await TestRegistry.start(
            plugins: Self.waves,
            delegates: [DelegatePlugin(id: "test.delegate", delegate: delegate)])
        try await host.apply(
            .films.changed {
                $0.components[1].plugin = "waves"
                $0.delegate = DelegateDefinition(plugin: "test.delegate")
            })
        return host
    }

    /// Waits until no items are on their way into the list.
    private func untilFilled(_ host: TestRegistry) async throws {
        try await until { await host.on { $0.filling == nil } }
    }

    @Test func `items that are all other ones are asked for in pieces, and shown together`()
        async throws
    {
        let host = try await start(Counter.self)
        let client = try await ScreenClient(host)
        try await client.catchUp()
        #expect(client.ids().allSatisfy { $0.hasPrefix("wave 1") })
        let steps = await host.on { $0.domain.slices.steps }
        _ = Counter.taken()
        await host.on { $0.reportAllAnew() }
        try await until {
            let page = try await host.list(limit: 200)
            let first = try #require(page.items.first?.id)
            #expect(page.total == Waves.count)
            #expect(page.items.allSatisfy { $0.id.hasPrefix(first.prefix(6)) }, "some of each")
            return first.hasPrefix("wave 2")
        }
        let pieces = Counter.taken()
        #expect(pieces.reduce(0, +) == Waves.count)
        #expect(pieces.max() == ListFilling.piece)
        #expect(await host.on { $0.domain.slices.steps } - steps >= Waves.count / ListFilling.piece)
        try await client.catchUp()
        #expect(client.ids().allSatisfy { $0.hasPrefix("wave 2") })
        try await host.end()
    }

    @Test func `what changes meanwhile is shown at once, and afterwards too`() async throws {
        let host = try await start(Counter.self)
        let (own, gone) = ("wave 2, 0007", "wave 2, 0008")
        let isUnderWay = await host.on { registry in
            registry.reportAllAnew()
            registry.tell(.insert([.film("new"), .film(own, rating: 7)]))
            registry.tell(.remove([gone]))
            return registry.filling != nil
        }
        #expect(isUnderWay)
        #expect(try await host.list(search: "new").total == 1)
        try await untilFilled(host)
        let list = await host.on { registry in
            let list = registry.containers["films"]?.slot("list")?.list
            return (
                list?.count, list?.contains("new"), list?.contains(gone),
                list?.item(own).map { String(decoding: $0.fields, as: UTF8.self) }
            )
        }
        #expect(list.0 == Waves.count)
        #expect(list.1 == true)
        #expect(list.2 == false)
        #expect(list.3?.contains("7") == true)
        try await host.end()
    }

    @Test func `reported again while it is asked, it is asked once more`() async throws {
        let host = try await start(Counter.self)
        await host.on { registry in
            for _ in 0..<5 { registry.reportAllAnew() }
        }
        try await until {
            try await host.list(limit: 1).items.first?.id.hasPrefix("wave 3") == true
        }
        try await untilFilled(host)
        #expect(try await host.list(limit: 1).items.first?.id.hasPrefix("wave 3") == true)
        try await host.end()
    }

    @Test func `a worker that is lost between two parts is asked again once it is back`()
        async throws
    {
        let script = RemoteLauncher.Script()
        let host = try await TestRegistry.start(
            plugins: Self.waves, workers: RemoteLauncher(script))
        try await host.apply(
            .films.changed {
                $0.components[1].plugin = "waves"
                $0.components[1].isolation = .process
            })
        script.loseBetweenParts(1)
        await host.on { $0.reportAllAnew() }
        try await until {
            await host.on {
                script.starts == 2 && $0.containers["films"]?.slot("list")?.isAttached == true
            }
        }
        #expect(await host.on { $0.filling == nil })
        #expect(try await host.list(limit: 1).items.first?.id.hasPrefix("wave 1") == true)
        await host.on { $0.reportAllAnew() }
        try await until {
            try await host.list(limit: 1).items.first?.id.hasPrefix("wave 2") == true
        }
        try await host.end()
    }

    @Test func `filters receive the values of items that are all other ones`() async throws {
        let host = try await start(Counter.self)
        #expect(try await genres(host) == ["g1"])
        await host.on { $0.reportAllAnew() }
        try await until {
            try await host.list(limit: 1).items.first?.id.hasPrefix("wave 2") == true
        }
        #expect(try await genres(host) == ["g2"])
        try await host.end()
    }

    private func genres(_ host: TestRegistry) async throws -> [String]? {
        try await host.list(facets: true, limit: 1).sections?.first?.filters.map(\.id)
    }

    @Test func `at a start a delegate is called in pieces, and the list that was read is kept`()
        async throws
    {
        let plugins = [DelegatePlugin(id: "test.delegate", delegate: Counter.self)]
        let first = try await TestRegistry.start(delegates: plugins)
        try await first.apply(
            .films.changed { $0.delegate = DelegateDefinition(plugin: "test.delegate") })
        try await first.put(Self.films)
        let last = try await first.put(.film("f9", rating: 1)).sequence
        try await first.stop()
        _ = Counter.taken()
        let host = try await TestRegistry.start(in: first.directory, delegates: plugins)
        #expect(try await host.list(limit: 1).total == 300)
        let pieces = Counter.taken()
        #expect(pieces.reduce(0, +) == 300)
        #expect(pieces.max() == ListFilling.piece)
        // One that was made anew would have all items of now.
        let revision = await host.on {
            $0.containers["films"]?.slot("list")?.list?.revision(of: "f9")
        }
        #expect(revision == last)
        try await host.end()
    }

    @Test func `a delegate that leaves out a late one has all others listed`() async throws {
        let plugins = [DelegatePlugin(id: "test.delegate", delegate: Leaving.self)]
        let first = try await TestRegistry.start(delegates: plugins)
        try await first.apply(
            .films.changed { $0.delegate = DelegateDefinition(plugin: "test.delegate") })
        try await first.put(Self.films + [.film("x")])
        try await first.stop()
        let host = try await TestRegistry.start(in: first.directory, delegates: plugins)
        let page = try await host.list(limit: 500)
        #expect(Set(page.items.map(\.id)) == Set(Self.films.map(\.id)))
        try await host.end()
    }

    @Test func `what a delegate adds, changes and takes away while it is called is in the list`()
        async throws
    {
        let host = try await restarted(Editing.self)
        let page = try await host.list(limit: 500)
        #expect(Set(page.items.map(\.id)) == Set(Self.films.map(\.id) + ["own"]))
        for (id, rating) in [("f7", "1.5"), ("f8", "2.5")] {
            let fields = page.items.first { $0.id == id }?.fields ?? []
            #expect(String(decoding: fields, as: UTF8.self).contains(rating))
        }
        try await host.end()
    }

    @Test func `what a delegate takes away between two pieces is not in the list`() async throws {
        let host = try await restarted(Late.self)
        try await until { try await host.list(limit: 500).total == Self.films.count }
        try await host.end()
    }

    /// A daemon that is started again, whose delegate is told of the films and of one that it takes away.
    private func restarted(_ delegate: ContainerDelegate.Type) async throws -> TestRegistry {
        let plugins = [DelegatePlugin(id: "test.delegate", delegate: delegate)]
        let first = try await TestRegistry.start(delegates: plugins)
        try await first.apply(
            .films.changed { $0.delegate = DelegateDefinition(plugin: "test.delegate") })
        try await first.put([.film("a")] + Self.films)
        try await first.stop()
        return try await TestRegistry.start(in: first.directory, delegates: plugins)
    }

    @Test func `with other fields items are never missed while the delegate is called with them`()
        async throws
    {
        let host = try await start(Counter.self)
        let other = try await host.status().definition.changed {
            $0.fields.append(Field(name: "year", type: .integer))
        }
        async let applied = host.apply(other)
        var totals: Set<Int> = []
        try await until {
            if let total = try? await host.list(limit: 1).total { totals.insert(total) }
            let status = try await host.status()
            return status.definition.fields.count == other.fields.count && status.state == .ready
        }
        _ = try await applied
        #expect(totals.isSubset(of: [Waves.count]))
        #expect(try await host.list(limit: 1).total == Waves.count)
        try await host.end()
    }
}

extension Registry {
    /// The list's component tells something by itself.
    fileprivate func tell(_ change: ContentChange) {
        guard let container = containers["films"], let slot = container.slot("list") else { return }
        container.deliverUnasked([.contents(change)], from: slot)
    }

    fileprivate func reportAllAnew() { tell(.replaceAll) }

    /// The list's items on their way into it; nil: none are.
    fileprivate var filling: ListFilling? {
        containers["films"]?.fillings["list"]
    }
}

/// Has other items each time it is asked for them.
private final class Waves: ContentListing {
    static let count = 6_000
    weak var delegate: (any ContentListingDelegate)?
    private var wave = 0
    var readOnlyReason: String? { "It has its own." }

    init(context: ComponentContext) {}

    var items: some Sequence<Item> {
        wave += 1
        return (0..<Self.count).lazy.map { [wave] number in
            let digits = String(number + 10_000).dropFirst()
            return .film("wave \(wave), \(digits)", ["g\(wave)"])
        }
    }

    func apply(_ change: Change) {}

    func put(_ items: [Item], _ context: CommandContext) throws(Refusal) -> ContentDecision {
        ContentDecision()
    }

    func remove(_ ids: [String], _ context: CommandContext) throws(Refusal) -> [Change] { [] }
}

/// Notes how many items it is told of at a time, and passes them on.
private final class Counter: ContainerDelegate {
    private static let told = Mutex<[Int]>([])

    static func taken() -> [Int] {
        told.withLock { told in
            defer { told = [] }
            return told
        }
    }

    override func contents(_ component: ComponentReference, didChange change: ContentChange) {
        if case .insert(let items) = change { Self.told.withLock { $0.append(items.count) } }
        super.contents(component, didChange: change)
    }
}

/// Passes all on, then takes the film "a" away, changes others and adds one of its own.
private final class Editing: ContainerDelegate {
    override func contents(_ component: ComponentReference, didChange change: ContentChange) {
        super.contents(component, didChange: change)
        switch change {
        case .replaceAll: super.contents(component, didChange: .insert([.film("own")]))
        case .insert(let items):
            let ids = items.map(\.id)
            if ids.contains("a") { super.contents(component, didChange: .remove(["a"])) }
            if ids.contains("f7") {
                super.contents(component, didChange: .remove(["f7"]))
                super.contents(component, didChange: .insert([.film("f7", rating: 1.5)]))
            }
            if ids.contains("f8") {
                super.contents(component, didChange: .update([.film("f8", rating: 2.5)]))
            }
        default: break
        }
    }
}

/// Takes the film "a" away a turn after it was told of it.
private final class Late: ContainerDelegate {
    override func contents(_ component: ComponentReference, didChange change: ContentChange) {
        super.contents(component, didChange: change)
        guard case .insert(let items) = change, items.contains(where: { $0.id == "a" }),
            let loop = MultiThreadedEventLoopGroup.currentEventLoop
        else { return }
        let takeAway = NIOLoopBound(
            { [weak self] in
                guard let self else { return }
                container?.updateList(of: component, with: .remove(["a"]))
            }, eventLoop: loop)
        loop.execute { takeAway.value() }
        // It is so slow that the next piece comes later.
        let end = NIODeadline.now() + Slices.length
        while NIODeadline.now() < end {}
    }
}

/// Shows nothing whose id begins with an x.
private final class Leaving: ContainerDelegate {
    override func contents(_ component: ComponentReference, didChange change: ContentChange) {
        guard case .insert(let items) = change else {
            return super.contents(component, didChange: change)
        }
        super.contents(component, didChange: .insert(items.filter { !$0.id.hasPrefix("x") }))
    }
}
