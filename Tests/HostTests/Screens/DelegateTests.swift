import AtriumKit
import PluginLoader
import TestSupport
import Testing

@testable import Host

/// Decides what screens show, and says so.
private final class Guide: ContainerDelegate {
    private let log: DelegateLog

    override class var settings: [Setting] { DelegateLog.settings }

    required init(context: DelegateContext) throws {
        log = try DelegateLog.named(in: context)
        try super.init(context: context)
    }

    override func screen(
        _ screen: ScreenReference, willShow next: ScreenChoices, after shown: ScreenChoices?
    ) -> ScreenChoices {
        log.add(shown == nil ? "opens" : "asked")
        var next = next
        if shown == nil { next.selection["genre"] = ["crime"] }
        switch next.search {
        case "wrong": next.sort = ["no-such-field"]
        case "far": next.path = ["no-such-item"]
        case "short":
            next.search = "heat"
            container?.message("Searched for heat.", on: screen.id)
        case "the", "the a": container?.message(next.search, on: screen.id)
        case "elsewhere": container?.lead(screen.id, to: "books", item: "dune")
        default: break
        }
        return next
    }

    override func contents(
        _ component: ComponentReference, didSelect item: String, on screen: String,
        by actor: ActorID
    ) {
        container?.change(screen) { $0.focus = item }
    }
}

/// Overrides nothing.
final class PlainDelegate: ContainerDelegate {}

/// Shows nothing whose id begins with an x.
private final class Sieve: ContainerDelegate {
    override func contents(
        _ component: ComponentReference, didChange change: ContentChange
    ) {
        let isShown = { (item: Item) in !item.id.hasPrefix("x") }
        switch change {
        case .insert(let items):
            super.contents(component, didChange: .insert(items.filter(isShown)))
        default: super.contents(component, didChange: change)
        }
    }
}

/// Takes a setting, and no negative one.
private final class Fussy: ContainerDelegate {
    private static let least = Setting.number("least", in: -9...9, "the least").defaulting(to: 0)
    override class var settings: [Setting] { [least.setting] }

    required init(context: DelegateContext) throws {
        guard context.settings[Self.least] >= 0 else {
            throw SettingError("least", "it is negative")
        }
        try super.init(context: context)
    }

    override func votes(
        _ component: ComponentReference, shouldAccept ballot: Ballot
    ) -> Refusal? { Refusal("Nobody votes here.") }
}

/// Delegates from plugins: made, asked, switched, and missed.
@Suite(.timeLimit(.minutes(3))) struct DelegateTests {
    private static let plugins = [
        DelegatePlugin(id: "test.guide", delegate: Guide.self),
        DelegatePlugin(id: "test.sieve", delegate: Sieve.self),
        DelegatePlugin(id: "test.fussy", delegate: Fussy.self),
        DelegatePlugin(id: "test.plain", delegate: PlainDelegate.self),
    ]

    private func films(
        _ delegate: DelegateDefinition?, in directory: TemporaryDirectory? = nil
    ) async throws -> TestRegistry {
        let host = try await TestRegistry.start(in: directory, delegates: Self.plugins)
        try await host.apply(.films.changed { $0.delegate = delegate })
        try await host.put(.film("heat", ["crime"]), .film("alien", ["horror"]))
        return host
    }

    @Test
    func `what it says of one choice is sent with that choice, while others wait for their turn`()
        async throws
    {
        let host = try await films(DelegateLog.make().delegate(of: "test.guide"))
        // Finding this many rows and sending them are two turns of the loop.
        try await host.put((0..<300).map { .film("a\($0)", ["crime"]) })
        let reader = EagerReader(host.registry)
        let id = try await reader.open(host, ScreenRequest(container: "films", limit: 400))
        _ = try await host.callAll(2) { registry, index, reply in
            registry.search(id, index == 0 ? "the" : "the a", by: .ann, reply)
        }
        let said = await host.on { _ in reader.said }
        #expect(said.map(\.message) == ["the", "the a"])
        #expect(said.last?.total == 300, "it comes with the list that it is about")
        try await host.end()
    }

    @Test func `it is asked once at the opening and once for each choice, and its answer is shown`()
        async throws
    {
        let log = DelegateLog.make()
        let host = try await films(log.delegate(of: "test.guide"))
        let client = try await ScreenClient(host)
        try await client.catchUp()
        #expect(client.ids() == ["heat"], "crime is selected at the opening")
        #expect(log.taken() == ["opens"])
        let id = client.id
        _ = try await host.call { $0.clear(id, by: .ann, $1) }
        try await client.catchUp()
        #expect(client.ids() == ["alien", "heat"])
        #expect(log.taken() == ["asked"])
        _ = try await host.call { $0.search(id, "short", by: .ann, $1) }
        let revision = try #require(try await client.pull())
        #expect(revision.message == "Searched for heat.")
        #expect(client.ids() == ["heat"])
        try await host.put(.film("heat", ["crime"], rating: 3))
        let next = try #require(try await client.pull())
        #expect(next.message == nil, "a message is sent once")
        #expect(log.taken() == ["asked"])
        _ = try await host.call { $0.activate(id, item: "heat", by: .ann, $1) }
        try await client.catchUp()
        #expect(client.copy.focus == "heat", "it has changed the screen")
        #expect(log.taken() == [], "its own changes are its own")
        try await host.end()
    }

    @Test func `it leads a screen to another container`() async throws {
        let host = try await films(DelegateLog.make().delegate(of: "test.guide"))
        let client = try await ScreenClient(host)
        try await client.catchUp()
        let id = client.id
        let told = try await host.call { $0.search(id, "elsewhere", by: .ann, $1) }
        let revision = try #require(try await client.pull())
        #expect(revision.revision == told)
        #expect(revision.navigation == NavigationTarget(container: "books", item: "dune"))
        try await host.end()
    }

    @Test(arguments: ["wrong", "far"])
    func `where its answer can't be shown the user's choice stands`(text: String) async throws {
        let host = try await films(DelegateLog.make().delegate(of: "test.guide"))
        let client = try await ScreenClient(host)
        try await client.catchUp()
        let id = client.id
        let told = try await host.call { $0.search(id, text, by: .ann, $1) }
        try await client.catchUp()
        #expect(client.copy.revision == told)
        #expect(client.ids() == [], "nothing has this text")
        try await host.end()
    }

    @Test
    func
        `one whose plugin is gone is not replaced by the default: what it would be asked is refused`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let before = try await films(DelegateDefinition(plugin: "test.fussy"), in: directory)
        await expect(.refused(reason: "Nobody votes here.", retryAfter: nil)) {
            try await before.cast(3, on: "heat")
        }
        try await before.end()
        let host = try await TestRegistry.start(in: directory)
        let status = try #require(
            await host.on {
                $0.containers["films"].map { ContainerStatus(of: $0, hasDetails: true) }
            })
        #expect(status.state == .degraded)
        #expect(status.reason?.contains("There is no plugin 'test.fussy'") == true)
        #expect(try await host.list("films").items.map(\.id) == ["alien", "heat"])
        await expectMissing { try await host.cast(3, on: "heat") }
        await expectMissing { try await host.post("Good.") }
        await expectMissing { _ = try await ScreenClient(host) }
        // Something else may be changed meanwhile, and it comes back with its definition.
        try await host.apply(
            .films.changed {
                $0.title = "More"
                $0.delegate = DelegateDefinition(plugin: "test.fussy")
            })
        await expectMissing { try await host.cast(3, on: "heat") }
        try await host.apply(.films)
        #expect(try await host.cast(3, on: "heat").tally.tally.count == 1)
        try await host.end()
    }

    private func expectMissing(
        _ call: () async throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        do {
            try await call()
            Issue.record("it was not refused", sourceLocation: sourceLocation)
        } catch let error as HostError {
            guard case .componentFailed(let failure) = error, failure.component == "test.fussy"
            else {
                Issue.record("\(error)", sourceLocation: sourceLocation)
                return
            }
            #expect(
                failure.details.contains("There is no plugin"), sourceLocation: sourceLocation)
            #expect(!failure.reason.contains("plugin"), sourceLocation: sourceLocation)
        } catch {
            Issue.record("\(error)", sourceLocation: sourceLocation)
        }
    }

    @Test func `what a definition names that can't be made changes nothing`() async throws {
        let host = try await films(nil)
        let wrong: [(DelegateDefinition, HostError)] = [
            (
                DelegateDefinition(plugin: "test.none"),
                .pluginNotFound("test.none", known: Self.plugins.map(\.id).sorted())
            ),
            (
                DelegateDefinition(plugin: "test.fussy", settings: ["least": -1]),
                .settingInvalid(
                    component: "container.delegate", setting: "least", reason: "it is negative")
            ),
            (
                DelegateDefinition(plugin: "org.atrium.stars"),
                .definitionInvalid(
                    container: "films",
                    reason:
                        "container.delegate: the plugin org.atrium.stars is of the kind 'votes', "
                        + "and makes no delegates.")
            ),
        ]
        for (delegate, error) in wrong {
            await expect(error) {
                try await host.apply(.films.changed { $0.delegate = delegate })
            }
        }
        #expect(try await host.cast(3, on: "heat").tally.tally.count == 1)
        await expect(
            .definitionInvalid(
                container: "films",
                reason: "The plugin test.plain makes delegates, and no components: name it under "
                    + "'delegate'.")
        ) {
            try await host.apply(
                .films.changed {
                    $0.components.append(ComponentDefinition(name: "x", plugin: "test.plain"))
                })
        }
        try await host.end()
    }

    @Test func `switched under an open screen, another shows what the other hid`() async throws {
        let directory = try TemporaryDirectory()
        let host = try await films(DelegateDefinition(plugin: "test.sieve"), in: directory)
        try await host.put(.film("xmen"))
        let client = try await ScreenClient(host)
        try await client.catchUp()
        #expect(client.ids() == ["alien", "heat"])
        try await host.apply(
            .films.changed { $0.delegate = DelegateDefinition(plugin: "test.plain") })
        try await client.catchUp { client.ids() == ["alien", "heat", "xmen"] }
        try await host.apply(
            .films.changed { $0.delegate = DelegateDefinition(plugin: "test.sieve") })
        try await client.catchUp { client.ids() == ["alien", "heat"] }
        try await host.end()
        // A restart fills the list through the delegate, too.
        let again = try await TestRegistry.start(in: directory, delegates: Self.plugins)
        #expect(try await again.list("films").items.map(\.id) == ["alien", "heat"])
        try await again.end()
    }

    @Test func `what is hidden and gone by now keeps nobody from anything`() async throws {
        let log = DelegateLog.make()
        let host = try await films(log.delegate(of: "test.guide"))
        let client = try await ScreenClient(host)
        let id = client.id
        _ = try await host.call { $0.setHidden(id, component: "stars", true, by: .ann, $1) }
        _ = try await host.call { $0.detach("films", "stars", purge: false, by: .ann, $1) }
        _ = try await host.call { $0.search(id, "short", by: .ann, $1) }
        try await client.catchUp()
        #expect(client.ids() == ["heat"], "the delegate's search, and not the user's")
        _ = try await host.call { $0.setHidden(id, component: "stars", false, by: .ann, $1) }
        try await host.end()
    }

    @Test func `changes without end are dropped, and the screen goes on`() async throws {
        let host = try await films(DelegateLog.make().delegate(of: "test.guide"))
        let client = try await ScreenClient(host)
        let id = client.id
        await host.on { registry in
            let handle = registry.containers["films"]?.handle
            func again(_ choices: inout ScreenChoices) {
                choices.search = choices.search == "heat" ? "" : "heat"
                if let handle { handle.change(id.text, again) }
            }
            // Each asks for another: others are served in between.
            handle?.change(id.text, again)
            for _ in 0..<100_000 { handle?.change(id.text) { $0.search = "alien" } }
        }
        #expect(try await host.cast(3, on: "heat").tally.tally.count == 1)
        let told = try await host.call { $0.search(id, "zzz", by: .ann, $1) }
        #expect(told > 0)
        await host.on { registry in
            registry.state.homes["films"]?.end()
        }
        try await host.end()
    }

    @Test func `a component is left out on one screen alone`() async throws {
        let host = try await films(nil)
        let (one, other) = (try await ScreenClient(host), try await ScreenClient(host))
        try await one.catchUp()
        try await other.catchUp()
        let id = one.id
        for component in ["stars", "filters", "list"] {
            _ = try await host.call {
                $0.setHidden(id, component: component, true, by: .ann, $1)
            }
        }
        try await one.catchUp()
        try await other.catchUp()
        #expect(one.copy.components.filter(\.isHidden).map(\.name) == ["filters", "list", "stars"])
        #expect(one.copy.sections == nil && one.copy.tally == nil && one.copy.lists.isEmpty)
        #expect(other.copy.components.allSatisfy { !$0.isHidden })
        #expect(other.ids() == ["alien", "heat"] && other.copy.tally != nil)
        _ = try await host.call { $0.setHidden(id, component: "list", false, by: .ann, $1) }
        try await one.catchUp()
        #expect(one.ids() == ["alien", "heat"])
        await expect(.componentNotFound(container: "films", component: "none")) {
            _ = try await host.call { $0.setHidden(id, component: "none", true, by: .ann, $1) }
        }
        try await host.end()
    }
}
