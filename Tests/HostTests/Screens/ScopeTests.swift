import AtriumKit
import PluginLoader
import Store
import Testing

@testable import Host

/// What its delegate was told, with whose delegate it is.
private final class ListeningDelegate: ContainerDelegate {
    private let name: String
    private let log: DelegateLog

    override class var settings: [Setting] { DelegateLog.settings }

    required init(context: DelegateContext) throws {
        name = context.scope ?? "container"
        log = try DelegateLog.named(in: context)
        try super.init(context: context)
    }

    override func filters(
        _ component: ComponentReference, didSelect filter: String, in section: String,
        now selection: Selection, on screen: String
    ) {
        log.add("\(name): \(filter) selected")
    }

    override func screen(
        _ screen: ScreenReference, willShow next: ScreenChoices, after shown: ScreenChoices?
    ) -> ScreenChoices {
        // Old films are all shown, whatever is selected.
        guard name == "past" else { return next }
        var next = next
        next.selection = Selection()
        return next
    }

    override func contents(
        _ component: ComponentReference, didSelect item: String, on screen: String,
        by actor: ActorID
    ) {
        log.add("\(name): \(item) chosen from \(component.name)")
    }

    override func votes(
        _ component: ComponentReference, didChange tally: Tally, of subject: Subject
    ) {
        log.add("\(name): \(tally.count) votes")
        super.votes(component, didChange: tally, of: subject)
    }
}

/// Scopes: what each shows, who is told, and what becomes of screens when they change.
@Suite(.timeLimit(.minutes(3))) struct ScopeTests {
    private static let definition: ContainerDefinition = {
        var definition = ContainerDefinition.films
        definition.components.insert(
            ComponentDefinition(name: "archive", plugin: "org.atrium.catalog"), at: 2)
        definition.scopes = [
            ScopeDefinition(name: "now", contents: ["list"]),
            ScopeDefinition(
                name: "past", title: "Shown before", contents: ["archive"], activate: "recalled"),
            ScopeDefinition(name: "all", contents: ["archive", "list"]),
        ]
        return definition
    }()

    /// The films, with a delegate for the container and one for each scope that write to a log.
    private func listened(_ log: DelegateLog?) -> ContainerDefinition {
        let delegate = log?.delegate(of: "test.listening")
        return Self.definition.changed {
            $0.delegate = delegate
            for place in $0.scopes.indices { $0.scopes[place].delegate = delegate }
        }
    }

    private func films(log: DelegateLog? = nil) async throws -> TestRegistry {
        let host = try await TestRegistry.start(
            delegates: [DelegatePlugin(id: "test.listening", delegate: ListeningDelegate.self)])
        try await host.apply(listened(log))
        try await host.put(.film("heat", ["crime"]), .film("alien", ["horror"]))
        let old = ["laura", "metropolis"].map { ItemDraft(item: .film($0, ["crime"])) }
        _ = try await host.call { $0.put("films", component: "archive", old, by: .ann, $1) }
        return host
    }

    private func go(_ client: ScreenClient, to scope: String) async throws -> ScreenRevision {
        let id = client.id
        let told = try await client.host.call { $0.setScope(id, to: scope, by: .ann, $1) }
        let revision = try #require(try await client.pull())
        #expect(revision.revision == told)
        #expect(try await client.pull() == nil)
        return revision
    }

    private func names(_ client: ScreenClient) -> [String] { client.copy.components.map(\.name) }

    @Test func `a screen opens in the first scope, and shows the lists of the one it goes to`()
        async throws
    {
        let host = try await films()
        let client = try await ScreenClient(host)
        try await client.catchUp()
        #expect(client.copy.scope == "now")
        #expect(names(client) == ["filters", "list", "stars", "talk"])
        #expect(client.copy.lists.mapValues { $0.map(\.id) } == ["list": ["alien", "heat"]])

        let past = try await go(client, to: "past")
        #expect(past.step.view.scope == "past")
        #expect(names(client) == ["filters", "archive", "stars", "talk"])
        #expect(
            client.copy.lists.mapValues { $0.map(\.id) } == ["archive": ["laura", "metropolis"]])
        #expect(past.commits == 0)

        let all = try await go(client, to: "all")
        #expect(names(client) == ["filters", "archive", "list", "stars", "talk"])
        #expect(all.step.lists.map(\.component) == ["list"], "what both show is not sent again")
        #expect(client.ids() == ["alien", "heat"])
        let id = client.id
        let same = try await host.call { $0.setScope(id, to: "all", by: .ann, $1) }
        #expect(same == client.copy.revision)
        #expect(try await client.pull() == nil)
        try await host.end()
    }

    @Test
    func `selection, search, sort, limits and focus stay in another scope, the place does not`()
        async throws
    {
        let host = try await films()
        let client = try await ScreenClient(
            host,
            ScreenRequest(
                container: "films", scope: "now", selection: Selection(["genre": ["crime"]]),
                search: "the", sort: ["-title"], limit: 1))
        let id = client.id
        _ = try await host.call { $0.focus(id, item: "heat", by: .ann, $1) }
        _ = try await host.call { $0.enter(id, item: "heat", by: .ann, $1) }
        try await client.catchUp()
        #expect(client.copy.path == ["heat"])
        try await host.cast(5, on: "heat")

        let past = try await go(client, to: "past")
        #expect(past.step.view.path == [])
        #expect(client.ids("archive") == ["metropolis"])
        #expect(client.copy.totals["archive"] == 2)
        #expect(client.copy.tally?.tally.count == 1)
        let genre = client.copy.sections?.first { $0.id == "genre" }
        #expect(genre?.filters.filter(\.selected).map(\.id) == ["crime"])
        #expect(genre?.filters.first { $0.id == "crime" }?.count == 2, "of the scope's first list")
        #expect(genre?.filters.first { $0.id == "horror" }?.count == 0)
        try await host.end()
    }

    @Test func `an unknown scope is refused, and what there is is named`() async throws {
        let host = try await films()
        let known = ["now", "past", "all"]
        await expect(.scopeNotFound("then", known: known)) {
            _ = try await ScreenClient(host, ScreenRequest(container: "films", scope: "then"))
        }
        #expect(await host.on { $0.status(hasDetails: true).screens } == 0)
        let client = try await ScreenClient(host)
        try await client.catchUp()
        let id = client.id
        await expect(.scopeNotFound("then", known: known)) {
            try await host.call { $0.setScope(id, to: "then", by: .ann, $1) }
        }
        await expect(.screenNotFound(id.text)) {
            try await host.call { $0.setScope(id, to: "past", by: .bob, $1) }
        }
        #expect(try await client.pull() == nil)
        try await host.apply(.films)
        await expect(.scopeNotFound("past", known: [])) {
            try await host.call { $0.setScope(id, to: "past", by: .ann, $1) }
        }
        try await host.end()
    }

    @Test func `each scope's delegate is called for its screens, the container's for all else`()
        async throws
    {
        let log = DelegateLog.make()
        let host = try await films(log: log)
        let client = try await ScreenClient(host)
        let id = client.id
        func select(_ filter: String) async throws {
            _ = try await host.call {
                $0.select(id, section: "genre", filter: filter, by: .ann, $1)
            }
            try await client.catchUp()
        }
        try await select("crime")
        #expect(client.ids() == ["heat"])
        _ = try await host.call { $0.activate(id, item: "heat", by: .ann, $1) }
        try await host.cast(5, on: "heat")
        #expect(
            log.taken() == [
                "now: crime selected", "now: heat chosen from list", "container: 1 votes",
            ])
        _ = try await host.call { $0.clear(id, by: .ann, $1) }
        try await client.catchUp()
        _ = try await go(client, to: "past")
        try await select("horror")
        #expect(client.ids("archive") == ["laura", "metropolis"], "its delegate shows them all")
        _ = try await host.call { $0.activate(id, item: "laura", by: .ann, $1) }
        #expect(log.taken() == ["past: horror selected", "past: laura chosen from archive"])
        try await host.end()
    }

    @Test func `a scope that stays keeps its delegate, whatever else the definition changes`()
        async throws
    {
        let log = DelegateLog.make()
        let host = try await films(log: log)
        func delegates() async -> [String: ObjectIdentifier] {
            await host.on { registry in
                guard let films = registry.containers["films"] else { return [:] }
                let named = films.definition.scopes.compactMap { scope in
                    (try? films.delegates.delegate(in: scope.name).get()).map {
                        (scope.name, ObjectIdentifier($0))
                    }
                }
                return Dictionary(named) { first, _ in first }
            }
        }
        let before = await delegates()
        #expect(Set(before.keys) == ["now", "past", "all"])
        #expect(Set(before.values).count == 3)
        try await host.apply(
            listened(log).changed {
                $0.scopes[1].title = "Before"
                $0.scopes.remove(at: 2)
                $0.scopes.append(ScopeDefinition(name: "new", contents: ["list"]))
            })
        let after = await delegates()
        #expect(Set(after.keys) == ["now", "past", "new"])
        #expect(after["past"] == before["past"])
        // It names none, and has the container's.
        let own = await host.on { $0.containers["films"].map { ObjectIdentifier($0.delegate) } }
        #expect(after["new"] == own)
        try await host.end()
    }

    @Test func `an item is chosen under the scope's own name, and only where it is shown`()
        async throws
    {
        let host = try await films()
        try await host.apply(Self.definition.changed { $0.activate = "picked" })
        let client = try await ScreenClient(host)
        let id = client.id
        _ = try await host.call { $0.activate(id, item: "heat", by: .ann, $1) }
        #expect(try host.topics().last == "films.items.picked")
        await expect(.itemNotFound(container: "films", item: "laura")) {
            try await host.call { $0.activate(id, item: "laura", by: .ann, $1) }
        }
        await expect(.itemNotFound(container: "films", item: "laura")) {
            try await host.call { $0.enter(id, item: "laura", by: .ann, $1) }
        }
        _ = try await host.call { $0.setScope(id, to: "past", by: .ann, $1) }
        _ = try await host.call { $0.activate(id, item: "laura", by: .ann, $1) }
        let told = try #require(
            try host.store.notifications(after: 0, limit: 100).notifications.last)
        #expect(told.topic == "films.items.recalled")
        #expect(
            String(decoding: told.payload, as: UTF8.self)
                == #"{"component":"archive","item":"laura","scope":"past"}"#)
        try await host.end()
    }

    @Test func `lists and filters are those of the scope that a call names`() async throws {
        let host = try await films()
        func list(_ scope: String?, _ component: String? = nil) async throws -> [String] {
            try await host.call {
                $0.list("films", ListRequest(component: component, scope: scope), $1)
            }.items.map(\.id)
        }
        #expect(try await list(nil) == ["alien", "heat"])
        #expect(try await list("past") == ["laura", "metropolis"])
        #expect(try await list("all") == ["laura", "metropolis"])
        #expect(try await list("all", "list") == ["alien", "heat"])
        await expect(
            .componentNotInScope(component: "list", scope: "past", shown: ["archive"])
        ) { try await list("past", "list") }
        await expect(.scopeNotFound("then", known: ["now", "past", "all"])) {
            try await list("then")
        }
        let page = try await host.call {
            $0.filters(
                "films", component: nil, scope: "past", selection: Selection(), search: nil, $1)
        }
        #expect(page.total == 2)
        #expect(page.sections[0].filters.first { $0.id == "crime" }?.count == 2)
        await expect(.scopeNotFound("then", known: ["now", "past", "all"])) {
            try await host.call {
                $0.filters(
                    "films", component: nil, scope: "then", selection: Selection(), search: nil,
                    $1)
            }
        }
        try await host.end()
    }
}
