import AtriumKit
import Testing

@testable import Host

/// Where screens stand in trees of items.
@Suite struct ScreenPlaceTests {
    private func films() async throws -> TestRegistry {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put(.film("heat", ["crime"]), .film("alien", ["horror"]))
        return host
    }

    @Test func `one enters an item along what it lies under, wherever it was found`() async throws {
        let host = try await films()
        try await host.put(.film("heat-2", under: "heat"), .film("heat-3", under: "heat-2"))
        let client = try await ScreenClient(host)
        let id = client.id
        for (item, path) in [
            ("heat-3", ["heat", "heat-2", "heat-3"]), ("alien", ["alien"]),
            ("heat-2", ["heat", "heat-2"]), ("heat", ["heat"]), ("heat-2", ["heat", "heat-2"]),
        ] {
            _ = try await host.call { $0.enter(id, item: item, by: .ann, $1) }
            try await client.catchUp()
            #expect(client.copy.path == path)
        }
        _ = try await host.call { $0.back(id, by: .ann, $1) }
        try await client.catchUp()
        #expect(client.copy.path == ["heat"])
        #expect(client.ids() == ["heat-2"])
        try await host.put(.film("heat-2", under: "alien"))
        _ = try await host.call { $0.enter(id, item: "heat-3", by: .ann, $1) }
        try await client.catchUp()
        #expect(client.copy.path == ["alien", "heat-2", "heat-3"])
        try await host.put(.film("heat-2", under: "heat"))
        #expect(try await client.pull()?.step.view.path == ["heat", "heat-2", "heat-3"])
        _ = try await host.call { $0.setHidden("films", "list", true, by: .ann, $1) }
        _ = try await host.call { $0.enter(id, item: "alien", by: .ann, $1) }
        try await client.catchUp()
        #expect(client.copy.path == ["alien"], "as what is hidden can be focused on")
        try await host.end()
    }

    @Test func `what is removed is left in the revision of the commit that removes it`()
        async throws
    {
        let host = try await films()
        try await host.cast(4)
        try await host.put(.film("heat-2", under: "heat"), .film("heat-3", under: "heat-2"))
        let client = try await ScreenClient(host)
        let id = client.id
        _ = try await host.call { $0.enter(id, item: "heat-2", by: .ann, $1) }
        _ = try await host.call { $0.focus(id, item: "heat-2", by: .ann, $1) }
        try await client.catchUp()
        #expect(client.copy.focus == "heat-2")
        #expect(client.copy.tally?.tally.count == 0)
        _ = try await host.call {
            $0.remove("films", component: nil, ["heat-2"], purge: false, by: .ann, $1)
        }
        let left = try #require(try await client.pull())
        #expect(left.commits == 1)
        #expect(client.copy.path == ["heat"])
        #expect(client.ids() == [])
        #expect(client.copy.focus == "")
        #expect(client.copy.tally?.tally.count == 1, "of the container")
        #expect(try await client.pull() == nil)
        try await host.put(.film("heat-2", under: "heat"))
        try await client.catchUp()
        #expect(client.copy.path == ["heat"], "nobody is taken along where they have left")
        #expect(client.ids() == ["heat-2"])
        _ = try await host.call { $0.enter(id, item: "heat-3", by: .ann, $1) }
        try await client.catchUp()
        _ = try await host.call {
            $0.remove(
                "films", component: nil, ["heat-3", "heat-2", "heat"], purge: false, by: .ann, $1)
        }
        _ = try #require(try await client.pull())
        #expect(client.copy.path == [])
        #expect(client.ids() == ["alien"])
        #expect(try await client.pull() == nil)
        try await host.end()
    }

    @Test func `hundreds of screens leave an item in slices, and each in one revision`()
        async throws
    {
        let host = try await films()
        try await host.put(.film("heat-2", under: "heat"))
        let other = try await ScreenClient(host)
        let otherID = other.id
        _ = try await host.call { $0.enter(otherID, item: "heat", by: .ann, $1) }
        // They stand in two views: where one goes there is one already.
        var readers: [EagerReader] = []
        for number in 0..<600 {
            let reader = EagerReader(host.registry)
            let id = try await reader.open(
                host, ScreenRequest(container: "films", limit: [50, 20][number % 2]))
            _ = try await host.call { $0.enter(id, item: "heat-2", by: .ann, $1) }
            _ = try await host.call { $0.focus(id, item: "heat-2", by: .ann, $1) }
            readers.append(reader)
        }
        let slow = try await ScreenClient(host)
        let id = slow.id
        _ = try await host.call { $0.enter(id, item: "heat-2", by: .ann, $1) }
        _ = try await host.call { $0.focus(id, item: "heat-2", by: .ann, $1) }
        try await slow.catchUp()
        while await host.isFollowing() {}
        let before = await host.on { [readers] _ in readers.map(\.sequences.count) }
        let moves = await host.moves()
        let movedAtOnce = try await host.call { registry, reply in
            registry.remove("films", component: nil, ["heat-2"], purge: false, by: .ann) { result in
                let moved = host.registry.state.homes["films"]?.placement.moves ?? 0
                reply(result.map { _ in moved })
            }
        }
        #expect(movedAtOnce - moves < 601, "all were moved in one turn")
        // Whoever reads before its turn sees nothing of before.
        let left = try #require(try await slow.pull())
        #expect(left.step.view.path == ["heat"] && left.step.focus.item == "")
        while await host.isFollowing() {}
        #expect(await host.moves() - moves >= 601)
        for (reader, count) in zip(readers, before) {
            let (copy, sequences, failure) = await host.on { _ in
                (reader.copy, reader.sequences, reader.failure)
            }
            #expect(failure == nil)
            #expect(sequences.count == count + 1, "the commit is in one revision")
            #expect(copy.path == ["heat"] && copy.focus == "" && copy.lists["list"] == [])
        }
        #expect(await host.on { $0.state.homes["films"]?.shared.views.count } == 2)
        let isShared = await host.on { registry in
            registry.screens.screens.values.allSatisfy { screen in
                screen.view.map { screen.choices.view.isInMemory(of: $0.key) } ?? false
            }
        }
        #expect(isShared, "they have the choices of their view, and no copies")
        try await host.end()
    }

    @Test func `views and focuses are looked at some at a time, and that of a reader first`()
        async throws
    {
        let host = try await films()
        try await host.put(.film("heat-2", under: "heat"))
        let count = 300
        var readers: [EagerReader] = []
        var first: ScreenID?
        // Each has a view and a focus of its own.
        for limit in 1...count {
            let reader = EagerReader(host.registry)
            let id = try await reader.open(host, ScreenRequest(container: "films", limit: limit))
            _ = try await host.call { $0.enter(id, item: "heat-2", by: .ann, $1) }
            _ = try await host.call { $0.focus(id, item: "heat-2", by: .ann, $1) }
            first = first ?? id
            readers.append(reader)
        }
        while await host.isFollowing() {}
        let id = try #require(first)
        let looked = await host.on { registry -> [Int] in
            guard let home = registry.state.homes["films"], let screen = registry.screens[id]
            else { return [] }
            let before = home.placement.relocations
            // It is not known which items moved.
            home.structureChanged()
            home.placement.followTree()
            let views = home.shared.views.values.filter(home.placement.markedViews.contains)
            let focuses = home.shared.focuses.values.joined().filter {
                home.placement.markedFocuses.contains($0.value)
            }
            let noted = views.count + focuses.count
            let atOnce = home.placement.relocations - before
            home.updates.catchUp(screen)
            return [noted, atOnce, home.placement.relocations - before]
        }
        #expect(looked == [2 * count, 0, 2])
        while await host.isFollowing() {}
        let before = await host.placings()
        let placedAtOnce = try await host.call { registry, reply in
            registry.remove("films", component: nil, ["heat-2"], purge: false, by: .ann) { result in
                let placed = host.registry.state.homes["films"]?.placement.relocations ?? 0
                reply(result.map { _ in placed })
            }
        }
        #expect(placedAtOnce - before < 2 * count, "all were looked at in one turn")
        while await host.isFollowing() {}
        #expect(await host.placings() - before >= 2 * count)
        for reader in readers {
            let (copy, failure) = await host.on { _ in (reader.copy, reader.failure) }
            #expect(failure == nil)
            #expect(copy.path == ["heat"] && copy.focus == "")
        }
        try await host.end()
    }

    @Test func `an item whose parent is not there stands among the roots until it comes`()
        async throws
    {
        let host = try await films()
        let client = try await ScreenClient(host)
        try await host.put(.film("heat-2", under: "heat"), .film("x-1", under: "x"))
        try await client.catchUp()
        #expect(client.ids() == ["alien", "heat", "x-1"])
        try await host.put(.film("x"))
        #expect(try await client.pull() != nil)
        #expect(client.ids() == ["alien", "heat", "x"])
        #expect(client.copy.totals["list"] == 3)
        _ = try await host.call {
            $0.remove("films", component: nil, ["heat"], purge: false, by: .ann, $1)
        }
        #expect(try await client.pull() != nil)
        #expect(client.ids() == ["alien", "heat-2", "x"])
        let again = try await host.restarted()
        let other = try await ScreenClient(again)
        try await other.catchUp()
        #expect(other.ids() == ["alien", "heat-2", "x"])
        try await again.end()
    }
}

extension Item {
    fileprivate static func film(_ id: String, under parent: String) -> Item {
        var item = Item.film(id)
        item.parent = parent
        return item
    }
}

extension ViewKey {
    fileprivate func isInMemory(of other: ViewKey) -> Bool {
        withUnsafeBytes(of: self) { own in
            withUnsafeBytes(of: other) { own.elementsEqual($0) }
        }
    }
}

extension TestRegistry {
    /// How often a view or a focus was looked at because its items may lie elsewhere.
    fileprivate func placings() async -> Int {
        await on { $0.state.homes["films"]?.placement.relocations ?? 0 }
    }

    /// How often a screen was looked at because an item went.
    fileprivate func moves() async -> Int {
        await on { $0.state.homes["films"]?.placement.moves ?? 0 }
    }
}
