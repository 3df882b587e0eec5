import AtriumKit
import Synchronization
import Testing

@testable import Host

@Suite struct ScreenTests {
    /// Counts how often a screen's reader was woken.
    final class Wakes: Sendable {
        private let count = Atomic(0)
        var wake: @Sendable () -> Void {
            { self.count.wrappingAdd(1, ordering: .relaxed) }
        }
        var value: Int { count.load(ordering: .relaxed) }
    }

    private func open(
        _ host: TestRegistry, _ request: ScreenRequest = ScreenRequest(container: "films"),
        _ wakes: Wakes = Wakes()
    ) async throws -> ScreenID {
        try await host.call { $0.openScreen(request, by: .ann, wake: wakes.wake, $1) }
    }

    private func pull(_ host: TestRegistry, _ id: ScreenID) async throws -> ScreenSnapshot? {
        try await host.call { $0.pullScreen(id, $1) }
    }

    private func films() async throws -> TestRegistry {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put(.film("heat", ["crime"]), .film("alien", ["horror"]))
        return host
    }

    @Test func `the first revision shows everything at once`() async throws {
        let host = try await films()
        try await host.cast(4)
        let id = try await open(host, ScreenRequest(container: "films", actor: "unix:1000"))
        let first = try #require(try await pull(host, id))
        #expect(first.revision == 1)
        #expect(first.sequence == 3)
        #expect(first.components.map(\.name) == ["filters", "list", "stars", "talk"])
        #expect(first.sections?.map(\.id) == ["genre", "rating"])
        #expect(first.lists.map(\.component) == ["list"])
        #expect(first.lists[0].items.map(\.id) == ["alien", "heat"])
        #expect(first.tally?.mine == 4)
        #expect(try await pull(host, id) == nil)
        try await host.end()
    }

    @Test func `a selection goes through the filters component and the delegate to the screen`()
        async throws
    {
        let host = try await films()
        let wakes = Wakes()
        let id = try await open(host, ScreenRequest(container: "films"), wakes)
        _ = try await pull(host, id)
        #expect(try await pull(host, id) == nil)
        let revision = try await host.call {
            $0.select(id, section: "genre", filter: "crime", by: .ann, $1)
        }
        #expect(wakes.value == 1)
        let selected = try #require(try await pull(host, id))
        #expect(selected.revision == revision)
        #expect(selected.lists[0].items.map(\.id) == ["heat"])
        #expect(selected.sections?[0].filters.map(\.selected) == [true, false])
        #expect(selected.sections?[0].filters.map(\.count) == [1, 1])
        _ = try await host.call {
            $0.deselect(id, section: "genre", filter: "crime", by: .ann, $1)
        }
        #expect(try await pull(host, id)?.lists[0].total == 2)
        _ = try await host.call {
            $0.select(id, section: "genre", filter: "horror", by: .ann, $1)
        }
        _ = try await host.call { $0.clear(id, by: .ann, $1) }
        let cleared = try #require(try await pull(host, id))
        #expect(cleared.commits == 2)
        #expect(cleared.lists[0].total == 2)
        await expect(
            .filterNotFound(section: "none", filter: "x", known: ["genre", "rating"])
        ) {
            try await host.call { $0.select(id, section: "none", filter: "x", by: .ann, $1) }
        }
        try await host.end()
    }

    @Test func `while the reader is slow all commits make one revision`() async throws {
        let host = try await films()
        let wakes = Wakes()
        let id = try await open(host, ScreenRequest(container: "films"), wakes)
        _ = try await pull(host, id)
        #expect(try await pull(host, id) == nil)
        for value in 1...5 { try await host.cast(Double(value), on: "heat") }
        #expect(wakes.value == 1)
        let snapshot = try #require(try await pull(host, id))
        #expect(snapshot.revision == 2)
        #expect(snapshot.commits == 5)
        #expect(snapshot.lists[0].items[1].votes?.tally.score == 5)
        #expect(snapshot.sequence == 7)
        #expect(try await pull(host, id) == nil)
        try await host.end()
    }

    @Test func `screens leave hidden components out`() async throws {
        let host = try await films()
        let id = try await open(host)
        for component in ["filters", "list", "stars"] {
            _ = try await host.call {
                $0.setHidden("films", component, true, by: .ann, $1)
            }
        }
        let snapshot = try #require(try await pull(host, id))
        #expect(snapshot.components.map(\.isHidden) == [true, true, true, false])
        #expect(snapshot.sections == nil)
        #expect(snapshot.lists.isEmpty)
        #expect(snapshot.tally == nil)
        try await host.end()
    }

    @Test func `a screen is its owner's alone, and ends with its container`() async throws {
        let host = try await films()
        let id = try await open(host)
        await expect(.screenNotFound(id.text)) {
            try await host.call {
                $0.select(id, section: "genre", filter: "crime", by: .bob, $1)
            }
        }
        await expect(.filterNotFound(section: "x", filter: "y", known: ["genre", "rating"])) {
            try await open(
                host, ScreenRequest(container: "films", selection: Selection(["x": ["y"]])))
        }
        _ = try await host.call { $0.delete("films", purge: false, by: .ann, $1) }
        await expect(.screenNotFound(id.text)) { try await pull(host, id) }
        await host.on { $0.closeScreen(id) }
        #expect(await host.on { $0.status().screens } == 0)
        try await host.end()
    }
}
