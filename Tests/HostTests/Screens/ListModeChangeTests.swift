import AtriumKit
import JSONCodec
import Store
import Testing

@testable import Host

/// Definitions that show lists by mode: refused, applied, changed under screens, kept.
@Suite(.timeLimit(.minutes(3))) struct ListModeChangeTests {
    private static func definition(
        _ change: (inout ContainerDefinition) -> Void = { _ in }
    ) -> ContainerDefinition {
        .films.changed {
            $0.components.insert(
                ComponentDefinition(name: "units", plugin: "org.atrium.catalog"), at: 2)
            change(&$0)
        }
    }

    private static let modes = ListModes(contents: ["list"], entered: ["units"])

    private func films(_ modes: ListModes?) async throws -> TestRegistry {
        let host = try await TestRegistry.start()
        try await host.apply(Self.definition { $0.lists = modes })
        try await host.put(.film("heat"))
        let unit = Item(id: "scene", fields: Item.film("scene").fields, parent: "heat")
        _ = try await host.call {
            $0.put("films", component: "units", [ItemDraft(item: unit)], by: .ann, $1)
        }
        return host
    }

    @Test(arguments: [
        (
            ListModes(contents: ["list"], entered: ["scenes"]),
            "entered[0]: there is no component 'scenes'."
        ),
        (
            ListModes(contents: ["list"], searched: ["units", "stars"]),
            "searched[1]: 'stars' is of the kind votes (org.atrium.stars), and only the kind contents "
                + "has a list to show; there is 'list', 'units'."
        ),
        (
            ListModes(contents: ["list"], entered: ["units", "units"]),
            "entered[1]: 'units' is there twice."
        ),
    ])
    func `wrong lists are refused, with their place and what is wrong`(
        _ modes: ListModes, _ reason: String
    ) async throws {
        let host = try await TestRegistry.start()
        for (path, change) in [
            ("", { $0.lists = modes }),
            (
                "scopes[0].",
                {
                    $0.scopes = [
                        ScopeDefinition(
                            name: "now", contents: modes.contents, entered: modes.entered,
                            searched: modes.searched)
                    ]
                }
            ),
        ] as [(String, (inout ContainerDefinition) -> Void)] {
            await expect(.definitionInvalid(container: "films", reason: path + reason)) {
                try await host.apply(Self.definition(change))
            }
        }
        #expect(await host.on { $0.list(hasDetails: true).isEmpty })
        try await host.end()
    }

    @Test func `screens follow an apply that shows other lists where they stand`() async throws {
        let host = try await films(nil)
        let client = try await ScreenClient(host)
        _ = try await host.call { [id = client.id] in $0.enter(id, item: "heat", by: .ann, $1) }
        try await client.catchUp()
        #expect(client.ids("list") == [])
        #expect(client.ids("units") == ["scene"], "a list of its own, at its top")

        let shown = try await host.apply(Self.definition { $0.lists = Self.modes })
        #expect(
            shown.results.first?.changes == ["shows list", "shows units inside an item"])
        let revision = try #require(try await client.pull())
        #expect(revision.commits == 1)
        #expect(client.copy.path == ["heat"])
        #expect(client.copy.lists.mapValues { $0.map(\.id) } == ["units": ["scene"]])
        #expect(client.copy.components.map(\.name) == ["filters", "units", "stars", "talk"])
        _ = try await host.call { [id = client.id] in $0.enter(id, item: "scene", by: .ann, $1) }
        try await client.catchUp()
        #expect(client.copy.path == ["heat", "scene"])

        let changed = try await host.apply(
            Self.definition {
                $0.lists = ListModes(contents: ["units", "list"], searched: ["list"])
            })
        #expect(
            changed.results.first?.changes == [
                "shows units, list", "shows the same inside an item",
                "shows list while searching",
            ])
        let all = try await host.apply(Self.definition())
        #expect(all.results.first?.changes == ["shows all lists"])
        try await client.catchUp()
        #expect(client.copy.path == ["scene"], "its parent is in another list")
        #expect(
            client.copy.components.map(\.name) == ["filters", "list", "units", "stars", "talk"])
        try await host.end()
    }

    @Test func `a scope's lists by mode are posted as they change, and kept over a restart`()
        async throws
    {
        let host = try await films(Self.modes)
        func scopes(_ scope: ScopeDefinition) -> ContainerDefinition {
            Self.definition { $0.scopes = [scope] }
        }
        let added = try await host.apply(
            scopes(ScopeDefinition(name: "now", contents: ["list"], entered: ["units"])))
        #expect(
            added.results.first?.changes == ["scope now: added, shows list; units inside an item"])
        let scope = ScopeDefinition(name: "now", contents: ["list"], searched: ["units"])
        let changed = try await host.apply(scopes(scope))
        #expect(
            changed.results.first?.changes == [
                "scope now: shows the same inside an item",
                "scope now: shows units while searching",
            ])
        let again = try await host.restarted()
        #expect(try await again.status().definition.scopes == [scope])
        let client = try await ScreenClient(again)
        _ = try await again.call { [id = client.id] in $0.search(id, "scene", by: .ann, $1) }
        try await client.catchUp()
        #expect(client.copy.lists.mapValues { $0.map(\.id) } == ["units": ["scene"]])
        try await again.end()
    }

    @Test func `only a definition that says which lists are shown is of the newer version`() throws
    {
        func version(of definition: ContainerDefinition) throws -> Int64? {
            let record = DefinitionRecord(live: .films, applied: definition)
            let bytes = try #require(record.change.value)
            let value = try JSON.decode([String: Value].self, from: bytes)
            #expect(DefinitionRecord(name: "films", value: .object(value)) == record)
            return value["version"]?.int
        }
        #expect(try version(of: Self.definition()) == 1)
        let plain = ScopeDefinition(name: "now", contents: ["list"])
        #expect(try version(of: Self.definition { $0.scopes = [plain] }) == 1)
        #expect(try version(of: Self.definition { $0.lists = Self.modes }) == 3)
        #expect(try version(of: Self.definition { $0.lists = ListModes(contents: ["list"]) }) == 3)
        let byMode = ScopeDefinition(name: "now", contents: ["list"], searched: ["units"])
        #expect(try version(of: Self.definition { $0.scopes = [byMode] }) == 3)
    }

    @Test func `a screen of another process goes on inside the item, along all lists`() async throws
    {
        let host = try await films(Self.modes)
        let client = try await ScreenClient(host)
        let id = client.id
        _ = try await host.call { $0.enter(id, item: "scene", by: .ann, $1) }
        try await client.catchUp()
        let kept = await host.on { $0.keptScreens.all { _ in 1 } }
        let again = try await host.restarted()
        let restored = try await again.call { registry, reply in
            registry.keptScreens.restore(kept, digest: { _ in 1 }) { reply(.success($0)) }
        }
        #expect(restored == 1)
        let request = ScreenRequest(container: "films", resume: .init(screen: id, revision: 0))
        let reader = try await again.call { $0.openScreen(request, by: .ann, wake: {}, $1) }
        let first = try #require(try await again.on { $0.screens.pull(reader) }.get())
        #expect(first.step.view.path == ["heat", "scene"])
        try await again.end()
    }

    @Test func `a detached list is left out of its mode until it is attached again`() async throws {
        let host = try await films(Self.modes)
        let client = try await ScreenClient(host)
        _ = try await host.call { [id = client.id] in $0.enter(id, item: "heat", by: .ann, $1) }
        try await client.catchUp()
        _ = try await host.call { $0.detach("films", "units", purge: false, by: .ann, $1) }
        try await client.catchUp()
        #expect(client.copy.lists.isEmpty)
        #expect(client.copy.path == ["heat"])
        _ = try await host.call {
            $0.attach(
                "films", ComponentDefinition(name: "units", plugin: "org.atrium.catalog"),
                at: nil, by: .ann, $1)
        }
        try await client.catchUp()
        #expect(client.ids("units") == ["scene"])
        try await host.end()
    }

    @Test func `a call without a component reads the list that a screen would show`() async throws {
        let host = try await films(ListModes(contents: ["units"], entered: ["units", "list"]))
        func ids(_ request: ListRequest) async throws -> [String] {
            try await host.call { $0.list("films", request, $1) }.items.map(\.id)
        }
        #expect(try await ids(ListRequest()) == ["scene"])
        #expect(try await ids(ListRequest(component: "list")) == ["heat"])
        #expect(try await ids(ListRequest(parent: "heat")) == ["scene"])
        _ = try await host.call { $0.setHidden("films", "units", true, by: .ann, $1) }
        #expect(try await ids(ListRequest(parent: "heat")) == [], "of the list that is not hidden")
        #expect(try await ids(ListRequest()) == ["scene"], "there is no other")
        _ = try await host.call { $0.setHidden("films", "units", false, by: .ann, $1) }
        try await host.apply(
            Self.definition {
                $0.scopes = [
                    ScopeDefinition(
                        name: "now", contents: ["list"], entered: ["units"], searched: ["units"])
                ]
            })
        #expect(try await ids(ListRequest(scope: "now")) == ["heat"])
        #expect(try await ids(ListRequest(scope: "now", parent: "heat")) == ["scene"])
        #expect(try await ids(ListRequest(scope: "now", search: "scene")) == ["scene"])
        #expect(try await ids(ListRequest(component: "units", scope: "now")) == ["scene"])
        let page = try await host.call {
            $0.filters(
                "films", component: nil, scope: "now", selection: Selection(), search: "scene", $1)
        }
        #expect(page.total == 1)
        try await host.end()
    }
}
