import AtriumKit
import Testing

@testable import Host

/// Scopes that come, change and go, and the screens that are in them.
@Suite(.timeLimit(.minutes(3))) struct ScopeChangeTests {
    private static let definition: ContainerDefinition = {
        var definition = ContainerDefinition.films
        definition.components.insert(
            ComponentDefinition(name: "archive", plugin: "org.atrium.catalog"), at: 2)
        definition.scopes = [
            ScopeDefinition(name: "now", contents: ["list"]),
            ScopeDefinition(name: "past", title: "Before", contents: ["archive"], activate: "seen"),
        ]
        return definition
    }()

    private func films() async throws -> TestRegistry {
        let host = try await TestRegistry.start()
        try await host.apply(Self.definition)
        try await host.put(.film("heat"))
        let old = [ItemDraft(item: .film("laura"))]
        _ = try await host.call { $0.put("films", component: "archive", old, by: .ann, $1) }
        return host
    }

    @Test func `a screen whose scope is taken away goes on in the first, at its top`() async throws
    {
        let host = try await films()
        let client = try await ScreenClient(
            host, ScreenRequest(container: "films", scope: "past"))
        let id = client.id
        _ = try await host.call { $0.enter(id, item: "laura", by: .ann, $1) }
        try await client.catchUp()
        #expect(client.copy.path == ["laura"])
        let revision = client.copy.revision

        try await host.apply(Self.definition.changed { $0.scopes.removeLast() })
        try await client.catchUp()
        #expect(client.copy.scope == "now")
        #expect(client.copy.path == [])
        #expect(client.copy.lists.mapValues { $0.map(\.id) } == ["list": ["heat"]])
        #expect(client.copy.revision == revision + 1, "one revision for one commit")

        try await host.apply(Self.definition)
        try await client.catchUp()
        #expect(client.copy.scope == "now", "it does not jump back")

        try await host.apply(Self.definition.changed { $0.scopes = [] })
        try await client.catchUp()
        #expect(client.copy.scope == "")
        #expect(
            client.copy.lists.mapValues { $0.map(\.id) } == [
                "list": ["heat"], "archive": ["laura"],
            ])
        let other = try await ScreenClient(host)
        try await other.catchUp()
        #expect(other.copy.scope == "")

        try await host.apply(Self.definition)
        try await client.catchUp()
        #expect(client.copy.scope == "now")
        #expect(client.copy.lists.keys.sorted() == ["list"])
        try await host.end()
    }

    @Test func `a scope shows what is left of it, and what is attached again`() async throws {
        let host = try await films()
        let client = try await ScreenClient(
            host, ScreenRequest(container: "films", scope: "past"))
        try await client.catchUp()
        _ = try await host.call { $0.detach("films", "archive", purge: false, by: .ann, $1) }
        try await client.catchUp()
        #expect(client.copy.scope == "past")
        #expect(client.copy.components.map(\.name) == ["filters", "stars", "talk"])
        #expect(client.copy.lists.isEmpty)
        await expect(.componentNotFound(container: "films", component: "archive")) {
            try await host.call { $0.list("films", ListRequest(scope: "past"), $1) }
        }
        // What was detached by hand stays detached when the file says something new elsewhere.
        let applied = try await host.apply(Self.definition.changed { $0.title = "Films" })
        #expect(applied.results.first?.changes == ["title: 'Films'"])

        await expect(
            .definitionInvalid(
                container: "films",
                reason: "scopes[1].contents[0]: 'archive' is of the kind votes (org.atrium.stars), "
                    + "and only the kind contents has a list to show; there is 'list'.")
        ) {
            try await host.call {
                $0.attach(
                    "films", ComponentDefinition(name: "archive", plugin: "org.atrium.stars"),
                    at: nil, by: .ann, $1)
            }
        }
        _ = try await host.call {
            $0.attach(
                "films", ComponentDefinition(name: "archive", plugin: "org.atrium.catalog"),
                at: nil, by: .ann, $1)
        }
        try await client.catchUp()
        #expect(client.ids("archive") == ["laura"])
        try await host.end()
    }

    @Test(arguments: [
        ([ScopeDefinition(name: "Now", contents: ["list"])], "scopes[0]: the name 'Now' is not of"),
        (
            [
                ScopeDefinition(name: "now", contents: ["list"]),
                ScopeDefinition(name: "now", contents: ["list"]),
            ], "scopes[1]: there are two scopes named 'now'."
        ),
        (
            [ScopeDefinition(name: "now", contents: [])],
            "scopes[0]: the scope 'now' shows no component; name at least one under 'contents'."
        ),
        (
            [ScopeDefinition(name: "now", contents: ["list", "list"])],
            "scopes[0].contents[1]: 'list' is there twice."
        ),
        (
            [ScopeDefinition(name: "now", contents: ["lists"])],
            "scopes[0].contents[0]: there is no component 'lists'."
        ),
        (
            [ScopeDefinition(name: "now", contents: ["list", "stars"])],
            "scopes[0].contents[1]: 'stars' is of the kind votes (org.atrium.stars), and only "
                + "the kind contents has a list to show; there is 'list'."
        ),
    ])
    func `a wrong scope is refused, with its place and what is wrong`(
        _ scopes: [ScopeDefinition], _ reason: String
    ) async throws {
        let host = try await TestRegistry.start()
        await #expect {
            try await host.apply(ContainerDefinition.films.changed { $0.scopes = scopes })
        } throws: {
            guard case .definitionInvalid("films", let said) = $0 as? HostError else {
                return false
            }
            return said.hasPrefix(reason)
        }
        #expect(await host.on { $0.list(hasDetails: true).isEmpty })
        try await host.end()
    }

    @Test func `applying says what changed in scopes, and a restart keeps them`() async throws {
        let host = try await films()
        let changed = Self.definition.changed {
            $0.scopes = [
                ScopeDefinition(name: "all", contents: ["archive", "list"]),
                ScopeDefinition(name: "past", title: "Once", contents: ["archive"]),
            ]
        }
        let done = try await host.apply(changed)
        #expect(
            done.results.first?.changes == [
                "scope all: added, shows archive, list", "scope past: title 'Once'",
                "scope past: activate none", "scope now: removed",
            ])
        let turned = try await host.apply(changed.changed { $0.scopes.reverse() })
        #expect(turned.results.first?.changes == ["scopes: in the order past, all"])
        let none = try await host.apply(changed.changed { $0.scopes.reverse() }, dryRun: true)
        #expect(none.results.first?.action == .unchanged)
        let again = try await host.restarted()
        let kept = try await again.status().definition
        #expect(kept.scopes == changed.scopes.reversed())
        let client = try await ScreenClient(again)
        try await client.catchUp()
        #expect(client.copy.scope == "past")
        try await again.end()
    }

    @Test func `screens of another process go on in their scope, or in the first if it is gone`()
        async throws
    {
        let host = try await films()
        let past = try await ScreenClient(host, ScreenRequest(container: "films", scope: "past"))
        let id = past.id
        _ = try await host.call { $0.enter(id, item: "laura", by: .ann, $1) }
        try await past.catchUp()
        let kept = await host.on { $0.keptScreens.all { _ in 1 } }
        #expect(kept.map(\.scope) == ["past"])

        var again = try await host.restarted()
        for scopes in [Self.definition.scopes, [Self.definition.scopes[0]]] {
            try await again.apply(Self.definition.changed { $0.scopes = scopes })
            #expect(
                try await again.call { registry, reply in
                    registry.keptScreens.restore(kept, digest: { _ in 1 }) { reply(.success($0)) }
                } == 1)
            let request = ScreenRequest(
                container: "films", resume: .init(screen: id, revision: 0))
            let reader = try await again.call { $0.openScreen(request, by: .ann, wake: {}, $1) }
            let first = try #require(try await again.on { $0.screens.pull(reader) }.get())
            #expect(first.screen == id)
            #expect(first.step.view.scope == scopes.last?.name)
            #expect(first.step.view.path == (scopes.count == 2 ? ["laura"] : []))
            again = try await again.restarted()
        }
        try await again.end()
    }
}
