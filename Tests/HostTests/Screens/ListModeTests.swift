import AtriumKit
import PluginLoader
import TestSupport
import Testing

@testable import Host

/// Goes where the search says.
private final class Signpost: ContainerDelegate {
    override func screen(
        _ screen: ScreenReference, willShow next: ScreenChoices, after shown: ScreenChoices?
    ) -> ScreenChoices {
        var next = next
        if next.search == "home" { (next.search, next.path) = ("", ["acme"]) }
        return next
    }

    override func contents(
        _ component: ComponentReference, didSelect item: String, on screen: String,
        by actor: ActorID
    ) {
        container?.message("from \(component.name)", on: screen)
    }
}

/// Lists by mode: at the top, inside an item, and while something is searched.
@Suite(.timeLimit(.minutes(3))) struct ListModeTests {
    private static let modes = ListModes(
        contents: ["firms"], entered: ["units"], searched: ["everything"])

    /// Firms, with units under them or under one another, and a list of all that is only searched.
    private func firms(
        _ modes: ListModes? = Self.modes, delegate: DelegateDefinition? = nil
    ) async throws -> TestRegistry {
        let host = try await TestRegistry.start(
            delegates: [DelegatePlugin(id: "test.signpost", delegate: Signpost.self)])
        try await host.apply(Self.definition(modes, delegate: delegate))
        try await host.put(.film("acme"), .film("bolt"), under: nil, in: "firms")
        try await host.put(.film("sales"), .film("lab", ["crime"]), under: "acme", in: "units")
        try await host.put(.film("optics"), under: "lab", in: "units")
        try await host.put(.film("sales"), .film("lab"), under: "acme", in: "everything")
        return host
    }

    private static func definition(
        _ modes: ListModes?, delegate: DelegateDefinition? = nil
    ) -> ContainerDefinition {
        ContainerDefinition.films.changed {
            $0.components.remove(at: 1)
            let lists = ["firms", "units", "everything"].map {
                ComponentDefinition(name: $0, plugin: "org.atrium.catalog")
            }
            $0.components.insert(contentsOf: lists, at: 1)
            $0.lists = modes
            $0.delegate = delegate
        }
    }

    /// Does something on a screen, which shows it in one revision.
    private func one(
        _ client: ScreenClient,
        _ act: @escaping @Sendable (Registry, ScreenID, @escaping Reply<Int>) -> Void
    ) async throws -> ScreenRevision {
        let id = client.id
        let told = try await client.host.call { act($0, id, $1) }
        let revision = try #require(try await client.pull())
        #expect(revision.revision == told)
        #expect(try await client.pull() == nil)
        return revision
    }

    private func shown(_ client: ScreenClient) -> [String: [String]] {
        client.copy.lists.mapValues { $0.map(\.id) }
    }

    @Test func `lists are switched in one revision by what is entered, left and searched`()
        async throws
    {
        let host = try await firms()
        let client = try await ScreenClient(host)
        try await client.catchUp()
        #expect(shown(client) == ["firms": ["acme", "bolt"]])
        #expect(client.copy.components.map(\.name) == ["filters", "firms", "stars", "talk"])

        let inside = try await one(client) { $0.enter($1, item: "acme", by: .ann, $2) }
        #expect(inside.step.view.path == ["acme"])
        #expect(shown(client) == ["units": ["lab", "sales"]])
        #expect(client.copy.components.map(\.name) == ["filters", "units", "stars", "talk"])
        let genre = client.copy.sections?.first { $0.id == "genre" }
        #expect(genre?.filters.first { $0.id == "crime" }?.count == 1, "of the list that is shown")

        _ = try await one(client) { $0.search($1, "sales", by: .ann, $2) }
        #expect(shown(client) == ["units": ["sales"]], "inside an item a search narrows")
        _ = try await one(client) { $0.back($1, by: .ann, $2) }
        #expect(shown(client) == ["everything": ["sales"]])
        _ = try await one(client) { $0.search($1, "", by: .ann, $2) }
        #expect(shown(client) == ["firms": ["acme", "bolt"]])
        try await host.end()
    }

    @Test func `one who enters what was searched stands where it lies, and goes back from there`()
        async throws
    {
        let host = try await firms()
        let client = try await ScreenClient(host)
        _ = try await host.call { [id = client.id] in $0.search(id, "lab", by: .ann, $1) }
        try await client.catchUp()
        #expect(shown(client) == ["everything": ["lab"]])
        _ = try await one(client) { $0.enter($1, item: "lab", by: .ann, $2) }
        #expect(client.copy.path == ["acme", "lab"])
        _ = try await one(client) { $0.search($1, "", by: .ann, $2) }
        #expect(shown(client) == ["units": ["optics"]])
        _ = try await one(client) { $0.back($1, by: .ann, $2) }
        #expect(client.copy.path == ["acme"])
        #expect(shown(client) == ["units": ["lab", "sales"]])
        _ = try await one(client) { $0.enter($1, item: "optics", by: .ann, $2) }
        #expect(client.copy.path == ["acme", "lab", "optics"])
        try await host.end()
    }

    @Test func `whoever stands in an item goes along with it, also to another list's item`()
        async throws
    {
        let host = try await firms()
        let client = try await ScreenClient(host)
        _ = try await host.call { [id = client.id] in $0.enter(id, item: "lab", by: .ann, $1) }
        try await client.catchUp()
        #expect(client.copy.path == ["acme", "lab"])
        try await host.put(.film("lab"), under: "bolt", in: "units")
        #expect(try await client.pull()?.step.view.path == ["bolt", "lab"])
        try await host.put(.film("lab"), under: "carbo", in: "units")
        #expect(try await client.pull()?.step.view.path == ["lab"], "its parent is nowhere")
        // Nobody shows the list that it comes in.
        try await host.put(.film("carbo"), under: nil, in: "firms")
        #expect(try await client.pull()?.step.view.path == ["carbo", "lab"])
        try await host.put(.film("acme"), under: nil, in: "firms")
        #expect(try await client.pull() == nil)
        try await host.remove("carbo", from: "firms")
        #expect(try await client.pull()?.step.view.path == ["lab"])
        try await host.put(.film("optics"), .film("lens"), under: "lab", in: "units")
        let grown = try #require(try await client.pull())
        #expect(grown.step.lists.map(\.component) == ["units"])
        #expect(shown(client) == ["units": ["lens", "optics"]])
        try await host.end()
    }

    @Test func `what is removed is left, with the lists of where that leads, in one revision`()
        async throws
    {
        let host = try await firms()
        let client = try await ScreenClient(host)
        _ = try await host.call { [id = client.id] in $0.enter(id, item: "acme", by: .ann, $1) }
        _ = try await host.call { [id = client.id] in $0.focus(id, item: "acme", by: .ann, $1) }
        try await client.catchUp()
        try await host.remove("acme", from: "firms")
        let left = try #require(try await client.pull())
        #expect(left.commits == 1)
        #expect(left.step.view.path == [])
        #expect(left.step.focus.item == "")
        #expect(shown(client) == ["firms": ["bolt"]])
        #expect(try await client.pull() == nil)
        // What is in another list of the scope is not gone.
        _ = try await host.call { [id = client.id] in $0.enter(id, item: "sales", by: .ann, $1) }
        try await client.catchUp()
        try await host.remove("sales", from: "units")
        #expect(try await client.pull() == nil)
        #expect(client.copy.path == ["sales"])
        try await host.remove("sales", from: "everything")
        try await client.catchUp()
        #expect(client.copy.path == [])
        try await host.end()
    }

    @Test func `votes, comments and focus are those of the item, whichever list shows it`()
        async throws
    {
        let host = try await firms()
        let client = try await ScreenClient(
            host, ScreenRequest(container: "films", search: "lab", actor: Caller.ann.actor))
        try await client.catchUp()
        _ = try await host.cast(5, on: "lab")
        try await client.catchUp()
        #expect(client.copy.lists["everything"]?.first?.votes?.mine == 5)
        _ = try await one(client) { $0.focus($1, item: "lab", by: .ann, $2) }
        #expect(client.copy.tally?.mine == 5)
        _ = try await one(client) { $0.search($1, "", by: .ann, $2) }
        _ = try await one(client) { $0.enter($1, item: "acme", by: .ann, $2) }
        #expect(client.copy.lists["units"]?.first { $0.id == "lab" }?.votes?.mine == 5)
        #expect(client.copy.focus == "lab")
        try await host.end()
    }

    @Test func `an item is chosen from the list that shows it, and a delegate leads by one change`()
        async throws
    {
        let delegate = DelegateDefinition(plugin: "test.signpost")
        let host = try await firms(delegate: delegate)
        let client = try await ScreenClient(host)
        try await client.catchUp()
        for (search, item, list) in [
            ("lab", "lab", "everything"), ("home", "lab", "units"), (nil, "acme", "firms"),
        ] {
            if let search { _ = try await one(client) { $0.search($1, search, by: .ann, $2) } }
            _ = try await host.call { [id = client.id] in
                $0.activate(id, item: item, by: .ann, $1)
            }
            #expect(try await client.pull()?.message == "from \(list)")
        }
        #expect(client.copy.path == ["acme"])
        #expect(shown(client) == ["units": ["lab", "sales"]])
        try await host.end()
    }

    @Test func `a missing mode shows what stands at the top; inside an item its children alone`()
        async throws
    {
        let host = try await firms(ListModes(contents: ["firms", "units"], searched: ["units"]))
        let client = try await ScreenClient(host)
        try await client.catchUp()
        #expect(shown(client) == ["firms": ["acme", "bolt"], "units": ["lab", "sales"]])
        _ = try await one(client) { $0.enter($1, item: "acme", by: .ann, $2) }
        #expect(shown(client) == ["firms": [], "units": ["lab", "sales"]])
        _ = try await one(client) { $0.back($1, by: .ann, $2) }
        let searched = try await one(client) { $0.search($1, "optics", by: .ann, $2) }
        #expect(searched.step.lists.map(\.component) == ["units"])
        #expect(shown(client) == ["units": ["optics"]])
        try await host.end()
    }

    @Test func `from items of two lists that lie under one another one goes back to the top`()
        async throws
    {
        let host = try await firms()
        try await host.put(.film("acme"), under: "lab", in: "firms")
        let client = try await ScreenClient(host)
        try await client.catchUp()
        _ = try await one(client) { $0.enter($1, item: "lab", by: .ann, $2) }
        #expect(client.copy.path == ["lab"])
        _ = try await one(client) { $0.back($1, by: .ann, $2) }
        #expect(client.copy.path == [])
        try await host.end()
    }

    @Test func `whoever stands in such an item goes along once any of them is outermost again`()
        async throws
    {
        let host = try await firms()
        try await host.put(.film("lab"), under: "bolt", in: "units")
        try await host.put(.film("bolt"), under: "acme", in: "firms")
        try await host.put(.film("acme"), under: "lab", in: "firms")
        let client = try await ScreenClient(host)
        try await client.catchUp()
        _ = try await one(client) { $0.enter($1, item: "lab", by: .ann, $2) }
        #expect(client.copy.path == ["lab"])
        // Neither the item nor what it lies under: what that lies under.
        try await host.put(.film("acme"), under: nil, in: "firms")
        #expect(try await client.pull()?.step.view.path == ["acme", "bolt", "lab"])
        try await host.put(.film("acme"), under: "lab", in: "firms")
        #expect(try await client.pull()?.step.view.path == ["lab"])
        try await host.end()
    }
}

extension TestRegistry {
    /// Puts items into a list of the firms.
    fileprivate func put(
        _ items: Item..., under parent: String?, in list: String
    ) async throws {
        let drafts = items.map { item in
            ItemDraft(item: Item(id: item.id, fields: item.fields, parent: parent))
        }
        _ = try await call { $0.put("films", component: list, drafts, by: .ann, $1) }
    }

    fileprivate func remove(_ item: String, from list: String) async throws {
        _ = try await call {
            $0.remove("films", component: list, [item], purge: false, by: .ann, $1)
        }
    }
}
