import AtriumKit
import Index
import PluginLoader
import TestSupport
import Testing

@testable import Host

/// A list that does what notifications of the container's tell it.
private final class Feed: ContentListing {
    private static let loads = Setting.boolean(
        "isLoading", "Whether it begins so."
    ).defaulting(to: false)
    static var settings: [Setting] { [loads.setting] }

    weak var delegate: (any ContentListingDelegate)?
    private(set) var items: [Item] = []
    private(set) var isLoading: Bool
    private let context: ComponentContext
    private var timer: Wakeup?

    init(context: ComponentContext) throws {
        self.context = context
        isLoading = context.settings[Self.loads]
        context.observe("films.app.*") { [weak self] in self?.hear($0) }
    }

    private func hear(_ notification: Notification) {
        switch notification.topic {
        case "films.app.items":
            isLoading = false
            items = named(notification)
            delegate?.contentListing(self, didChange: .replaceAll)
        case "films.app.loading":
            isLoading = true
            delegate?.contentListing(self, didChange: .replaceAll)
        case "films.app.problem": context.report(problem: notification.payload["text"]?.text)
        case "films.app.change":
            delegate?.contentListing(self, didChange: .insert(named(notification)))
        case "films.app.removal":
            delegate?.contentListing(
                self, didChange: .remove(named(notification).map(\.id)))
        case "films.app.timers": setTimers()
        default: break
        }
    }

    private func named(_ notification: Notification) -> [Item] {
        (notification.payload["ids"]?.list ?? []).compactMap(\.text).map {
            // What is written x/y lies under x, and x! has no title.
            let parts = $0.split(separator: "/").map(String.init)
            return Item(
                id: parts.last ?? "", fields: $0.hasSuffix("!") ? [:] : ["title": .text($0)],
                parent: parts.count > 1 ? parts[0] : nil)
        }
    }

    private func setTimers() {
        do {
            timer = try context.every(.milliseconds(100)) { [weak self] in self?.tick() }
            try context.after(.milliseconds(100)) { [weak self] in self?.add("once") }
            try context.after(.milliseconds(1)) {}
        } catch {
            add(error.reason.contains("100 ms at least") ? "refused" : error.reason)
        }
    }

    private func tick() {
        add("tick-\(items.count)")
        if items.count >= 4 { timer?.cancel() }
    }

    private func add(_ id: String) {
        let item = Item(id: id, fields: ["title": .text(id)])
        items.append(item)
        delegate?.contentListing(self, didChange: .insert([item]))
    }

    func reload() { add("reload-\(items.count)") }
    func didChangeAudience(_ screens: Int) { context.logger.info("audience \(screens)") }
    func apply(_ change: Change) {}
    func put(_ items: [Item], _ context: CommandContext) throws(Refusal) -> ContentDecision {
        ContentDecision()
    }
    func remove(_ ids: [String], _ context: CommandContext) throws(Refusal) -> [Change] { [] }
}

/// Components whose items come from elsewhere.
@Suite(.timeLimit(.minutes(3))) struct SourceTests {
    private static let plugins =
        [Plugin].builtIn + [
            .inProcess("test.feed", .contents, Feed.self)
        ]

    private static func films(isLoading: Bool = false) -> ContainerDefinition {
        .films.changed {
            $0.components[1].plugin = "test.feed"
            $0.components[1].settings = ["isLoading": .bool(isLoading)]
        }
    }

    private static func film(_ id: String, under parent: String) -> Item {
        Item(id: id, fields: Item.film(id).fields, parent: parent)
    }

    private func start(
        in directory: TemporaryDirectory? = nil, log: CapturedLog = CapturedLog()
    ) async throws -> TestRegistry {
        var limits = HostLimits()
        limits.startPatience = .milliseconds(10)
        return try await TestRegistry.start(
            in: directory, plugins: Self.plugins, limits: limits, logger: log.logger)
    }

    private func tell(
        _ host: TestRegistry, _ what: String, _ payload: [String: Value] = [:]
    ) async throws {
        let bytes = payload.jsonBytes
        _ = try await host.call { (registry, reply: @escaping Reply<Int64?>) in
            registry.publish(
                "films.app.\(what)", payload: bytes, durable: false, by: .ann, reply)
        }
    }

    private func ids(_ host: TestRegistry) async throws -> [String] {
        try await host.list().items.map(\.id)
    }

    @Test func `timers go off once, or again and again until they are cancelled`() async throws {
        let host = try await start()
        try await host.apply(Self.films())
        try await tell(host, "timers")
        try await until { try await ids(host).count >= 4 }
        let all = Set(try await ids(host))
        #expect(all.isSuperset(of: ["once", "refused"]), "\(all)")
        #expect(all.count == 4)
        try await host.end()
    }

    @Test func `a problem makes the container degraded until it is over, and the list stays`()
        async throws
    {
        let host = try await start()
        try await host.apply(Self.films())
        try await tell(host, "items", ["ids": ["a", "b"]])
        try await until { try await ids(host) == ["a", "b"] }
        try await tell(host, "problem", ["text": "The file is broken."])
        try await until { try await host.status().state == .degraded }
        #expect(try await host.status().reason?.contains("The file is broken.") == true)
        #expect(try await ids(host) == ["a", "b"])
        try await tell(host, "problem")
        try await until { try await host.status().state == .ready }
        try await host.end()
    }

    @Test func `a list that is loading is not shown as empty`() async throws {
        let host = try await start()
        try await host.apply(Self.films(isLoading: true))
        #expect(try await host.status().components[1].state == .loading)
        await #expect(throws: HostError.self) { try await ids(host) }
        await #expect(throws: HostError.self) { try await host.cast(4, on: "a") }
        try await tell(host, "items", ["ids": []])
        try await until { try await host.status().components[1].state == .attached }
        #expect(try await ids(host) == [])
        try await host.end()
    }

    @Test func `a source that is loading again when it is asked keeps its list`() async throws {
        let host = try await start()
        try await host.apply(Self.films())
        try await tell(host, "items", ["ids": ["a", "b"]])
        try await until { try await ids(host) == ["a", "b"] }
        try await tell(host, "loading")
        try await tell(host, "problem", ["text": "It takes long."])
        try await until { try await host.status().state == .degraded }
        try await until { await host.on { $0.containers["films"]?.fillings.isEmpty == true } }
        #expect(try await ids(host) == ["a", "b"])
        try await tell(host, "items", ["ids": ["c"]])
        try await until { try await ids(host) == ["c"] }
        try await host.end()
    }

    @Test func `items that don't fit are named until the source has others`() async throws {
        let host = try await start()
        try await host.apply(Self.films())
        try await tell(host, "items", ["ids": ["a", "b!"]])
        try await until { try await host.status().state == .degraded }
        let reason = try #require(try await host.status().reason)
        #expect(reason.contains("has 1 item that can't be shown as it is. Item 'b!'"), "\(reason)")
        #expect(try await ids(host) == ["a"])
        try await tell(host, "items", ["ids": ["a"]])
        try await until { try await host.status().state == .ready }
        try await host.end()
    }

    @Test func `items that don't fit are named when the source reports just them, too`()
        async throws
    {
        let host = try await start()
        try await host.apply(Self.films())
        try await tell(host, "items", ["ids": ["a"]])
        try await until { (try? await ids(host)) == ["a"] }
        try await tell(host, "change", ["ids": ["b!", "c", "d!"]])
        try await until { try await host.status().state == .degraded }
        let reason = try #require(try await host.status().reason)
        #expect(
            reason.contains("has 2 items that can't be shown as they are now. Item 'b!'"),
            "\(reason)")
        #expect(try await ids(host) == ["a", "c"])
        try await tell(host, "removal", ["ids": ["b!"]])
        try await until { try await host.status().reason?.contains("'d!'") == true }
        try await tell(host, "items", ["ids": ["a"]])
        try await until { try await host.status().state == .ready }
        try await host.end()
    }

    @Test func `a screen that is resumed stands where it stood while its list is loading`()
        async throws
    {
        let first = try await start()
        try await first.apply(Self.films(isLoading: true))
        try await tell(first, "items", ["ids": ["x", "x/y", "z"]])
        try await until { (try? await ids(first).contains("z")) == true }
        let client = try await ScreenClient(first)
        let id = client.id
        _ = try await first.call { $0.enter(id, item: "x", by: .ann, $1) }
        _ = try await first.call { $0.focus(id, item: "y", by: .ann, $1) }
        try await client.catchUp { client.copy.path == ["x"] && client.ids() == ["y"] }
        let kept = await first.on { $0.keptScreens.all { _ in 1 } }
        try await first.stop()

        let host = try await start(in: first.directory)
        let count = try await host.call { (registry, reply: @escaping Reply<Int>) in
            registry.keptScreens.restore(kept, digest: { _ in 1 }) { reply(.success($0)) }
        }
        #expect(count == 1)
        let stands = { () async -> Bool in
            await host.on {
                let choices = $0.state.screens[id]?.choices
                return choices?.view.path.map(\.item) == ["x"] && choices?.subject.item == "y"
            }
        }
        #expect(await stands())
        try await tell(host, "items", ["ids": ["x", "x/y", "x/w"]])
        try await until { (try? await ids(host)) != nil }
        #expect(await stands())
        try await tell(host, "items", ["ids": ["z"]])
        try await until { await !stands() }
        try await host.end()
    }

    @Test func `a list that never loads keeps nobody in an item of another list`() async throws {
        let host = try await start()
        try await host.apply(
            .films.changed {
                $0.components.insert(
                    ComponentDefinition(
                        name: "feed", plugin: "test.feed", settings: ["isLoading": true]),
                    at: 2)
                $0.lists = ListModes(contents: ["list"], entered: ["list", "feed"])
            })
        try await host.put(.film("heat"), .film("alien"), Self.film("scene", under: "heat"))
        let client = try await ScreenClient(host)
        let id = client.id
        _ = try await host.call { $0.enter(id, item: "scene", by: .ann, $1) }
        try await client.catchUp()
        #expect(client.copy.path == ["heat", "scene"])
        try await host.put(Self.film("scene", under: "alien"))
        try await client.catchUp()
        #expect(client.copy.path == ["alien", "scene"])
        try await host.remove("scene")
        try await client.catchUp()
        #expect(client.copy.path == ["alien"])
        try await host.remove("alien")
        try await client.catchUp()
        #expect(client.copy.path == [])
        #expect(try await host.status().components[2].state == .loading)
        try await host.end()
    }

    @Test func `whoever stands in an item waits inside what it lay under while that is loading`()
        async throws
    {
        let host = try await start()
        try await host.apply(
            .films.changed {
                $0.components.insert(
                    ComponentDefinition(
                        name: "feed", plugin: "test.feed", settings: ["isLoading": true]),
                    at: 2)
                $0.lists = ListModes(contents: ["feed"], entered: ["list"])
            })
        try await host.put(Self.film("heat", under: "x"), Self.film("scene", under: "heat"))
        try await tell(host, "items", ["ids": ["x"]])
        let client = try await ScreenClient(host)
        let id = client.id
        try await until { await host.on { $0.containers["films"]?.has("x") ?? false } }
        _ = try await host.call { $0.enter(id, item: "heat", by: .ann, $1) }
        try await client.catchUp()
        #expect(client.copy.path == ["x", "heat"])
        let kept = await host.on { $0.keptScreens.all { _ in 1 } }
        try await host.stop()
        let next = try await start(in: host.directory)
        _ = try await next.call { (registry, reply: @escaping Reply<Int>) in
            registry.keptScreens.restore(kept, digest: { _ in 1 }) { reply(.success($0)) }
        }
        let path = { () async -> [String]? in
            await next.on { $0.state.screens[id]?.choices.view.path.map(\.item) }
        }
        #expect(await path() == ["x", "heat"])
        try await next.put(Self.film("heat", under: "x"), .film("new"))
        #expect(await path() == ["x", "heat"])
        try await tell(next, "items", ["ids": ["y"]])
        try await until { await path() == ["heat"] }
        try await next.end()
    }

    @Test func `a source looks again at most once a second, whoever asks`() async throws {
        let host = try await start()
        try await host.apply(Self.films())
        let asked = await host.on { registry in
            Result { () throws(HostError) in
                let container = registry.containers["films"]
                for _ in 0..<3 {
                    container?.handle.publish("reload", [:])
                    try container?.contents.reload("list")
                }
            }
        }
        try asked.get()
        #expect(try await ids(host) == ["reload-0"])
        try await until { try await ids(host) == ["reload-0", "reload-1"] }
        try await host.end()
    }

    @Test func `a source knows how many screens show it`() async throws {
        let log = CapturedLog()
        let host = try await start(log: log)
        try await host.apply(Self.films())
        let client = try await ScreenClient(host)
        try await until { log.lines.contains { $0.contains("audience 1") } }
        let id = client.id
        _ = try await host.call { $0.setHidden(id, component: "list", true, by: .ann, $1) }
        try await until { log.lines.contains { $0.contains("audience 0") } }
        try await host.end()
    }
}
