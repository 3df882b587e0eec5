import AtriumKit
import Synchronization
import Testing

@testable import Host

@Suite(.timeLimit(.minutes(3))) struct ScreenTests {
    /// Counts how often a screen's reader was woken.
    final class Wakes: Sendable {
        private let count = Atomic(0)
        var wake: @Sendable () -> Void {
            { self.count.wrappingAdd(1, ordering: .relaxed) }
        }
        var value: Int { count.load(ordering: .relaxed) }
    }

    private func films(
        _ definition: ContainerDefinition = .films, limits: HostLimits = HostLimits()
    ) async throws -> TestRegistry {
        let host = try await TestRegistry.start(limits: limits)
        try await host.apply(definition)
        try await host.put(.film("heat", ["crime"]), .film("alien", ["horror"]))
        return host
    }

    @Test func `the first revision shows everything at once`() async throws {
        let host = try await films()
        try await host.cast(4)
        try await host.cast(2, on: "heat")
        try await host.post("hello")
        let client = try await ScreenClient(
            host, ScreenRequest(container: "films", actor: "unix:1000"))
        let first = try #require(try await client.pull())
        #expect(first.base == nil)
        #expect(first.revision == 1)
        #expect(first.sequence == 5)
        #expect(first.commits == 0)
        let copy = client.copy
        #expect(copy.components.map(\.name) == ["filters", "list", "stars", "talk"])
        #expect(copy.sections?.map(\.id) == ["genre", "rating"])
        #expect(client.ids() == ["alien", "heat"])
        #expect(copy.lists["list"]?.map { $0.votes?.mine } == [nil, 2])
        #expect(copy.tally?.mine == 4)
        #expect(copy.comments.map(\.entry.comment.text) == ["hello"])
        #expect(copy.totals == ["list": 2, "talk": 1])
        #expect(try await client.pull() == nil)
        try await host.end()
    }

    @Test func `all screens of a person that show the same take one and the same step`()
        async throws
    {
        let host = try await films()
        try await host.cast(2, on: "heat")
        var steps: [ScreenStep] = []
        var clients: [ScreenClient] = []
        for actor in ["unix:1000", "unix:1000", "unix:7"] {
            clients.append(
                try await ScreenClient(host, ScreenRequest(container: "films", actor: actor)))
            try await clients.last?.catchUp()
        }
        try await host.cast(5, on: "heat")
        for client in clients {
            steps.append(try #require(try await client.pull()).step)
            #expect(try await client.pull() == nil)
        }
        #expect(steps[0] === steps[1])
        #expect(steps[0] !== steps[2], "another one's ballots are not theirs")
        #expect(steps[0].view === steps[2].view)
        #expect(clients.map { $0.copy.lists["list"]?.last?.votes?.mine } == [5, 5, nil])
        try await host.end()
    }

    @Test func `one commit is one revision, which leads on from the last`() async throws {
        let host = try await films()
        let client = try await ScreenClient(
            host, ScreenRequest(container: "films", sort: ["-votes.score"]))
        try await client.catchUp()
        try await host.cast(5, on: "heat")
        let moved = try #require(try await client.pull())
        #expect(moved.base == 1)
        #expect(moved.revision == 2)
        #expect(moved.commits == 1)
        #expect(moved.sequence == 3)
        #expect(moved.step.view.components == nil)
        #expect(moved.step.view.sections == nil)
        #expect(moved.step.lists.first?.edits.count == 2, "a move and an update")
        #expect(client.ids() == ["heat", "alien"])
        #expect(try await client.pull() == nil)
        try await host.put(.film("heat", ["crime"]))
        #expect(try await client.pull() == nil, "what changes nothing is no revision")
        try await host.end()
    }

    @Test func `a selection goes through the filters component and the delegate to the screen`()
        async throws
    {
        let host = try await films()
        let wakes = Wakes()
        let client = try await ScreenClient(host, wake: wakes.wake)
        try await client.catchUp()
        let id = client.id
        let revision = try await host.call {
            $0.select(id, section: "genre", filter: "crime", by: .ann, $1)
        }
        #expect(wakes.value == 1)
        let selected = try #require(try await client.pull())
        #expect(selected.revision == revision)
        #expect(selected.commits == 0)
        #expect(client.ids() == ["heat"])
        #expect(client.copy.sections?[0].filters.map(\.selected) == [true, false])
        #expect(client.copy.sections?[0].filters.map(\.count) == [1, 1])
        _ = try await host.call {
            $0.deselect(id, section: "genre", filter: "crime", by: .ann, $1)
        }
        try await client.catchUp()
        #expect(client.copy.totals["list"] == 2)
        _ = try await host.call {
            $0.select(id, section: "genre", filter: "horror", by: .ann, $1)
        }
        let cleared = try await host.call { $0.clear(id, by: .ann, $1) }
        #expect(try await client.pull()?.revision == cleared, "both became one")
        #expect(client.copy.totals["list"] == 2)
        await expect(
            .filterNotFound(section: "none", filter: "x", known: ["genre", "rating"])
        ) {
            try await host.call { $0.select(id, section: "none", filter: "x", by: .ann, $1) }
        }
        try await host.end()
    }

    @Test func `what stays in sight after a choice is not sent again`() async throws {
        let host = try await films()
        let client = try await ScreenClient(host)
        try await client.catchUp()
        let id = client.id
        _ = try await host.call { $0.sort(id, by: ["-id"], by: .ann, $1) }
        let sorted = try #require(try await client.pull())
        #expect(client.ids() == ["heat", "alien"])
        #expect(sorted.step.lists.flatMap(\.edits) == [.move(at: 0, to: 1)])
        _ = try await host.call { $0.select(id, section: "genre", filter: "crime", by: .ann, $1) }
        let selected = try #require(try await client.pull())
        #expect(selected.step.lists.flatMap(\.edits) == [.remove(at: 1)])
        try await host.end()
    }

    @Test func `while the reader is slow all commits make one revision`() async throws {
        let host = try await films()
        let wakes = Wakes()
        let client = try await ScreenClient(host, wake: wakes.wake)
        try await client.catchUp()
        for value in 1...5 { try await host.cast(Double(value), on: "heat") }
        #expect(wakes.value == 1)
        let revision = try #require(try await client.pull())
        #expect(revision.revision == 2)
        #expect(revision.commits == 5)
        #expect(revision.step.lists[0].edits.count == 1)
        #expect(client.copy.lists["list"]?[1].votes?.tally.score == 5)
        #expect(revision.sequence == 7)
        #expect(try await client.pull() == nil)
        try await host.end()
    }

    @Test func `what is hidden is dropped, and inserted anew when it is shown`() async throws {
        let host = try await films()
        let client = try await ScreenClient(host)
        try await client.catchUp()
        for isHidden in [true, false] {
            for component in ["filters", "list", "stars", "talk"] {
                _ = try await host.call {
                    $0.setHidden("films", component, isHidden, by: .ann, $1)
                }
            }
            try await client.catchUp()
            #expect(client.copy.components.map(\.isHidden) == Array(repeating: isHidden, count: 4))
            #expect((client.copy.sections == nil) == isHidden)
            #expect((client.copy.tally == nil) == isHidden)
            #expect(client.ids() == (isHidden ? [] : ["alien", "heat"]))
        }
        try await host.end()
    }

    @Test func `sections that are gone are sent as none, once`() async throws {
        let host = try await films()
        let client = try await ScreenClient(host)
        try await client.catchUp()
        _ = try await host.call { $0.setHidden("films", "filters", true, by: .ann, $1) }
        let hidden = try #require(try await client.pull())
        #expect(hidden.step.view.sections == [])
        _ = try await host.call { $0.setHidden("films", "talk", true, by: .ann, $1) }
        let other = try #require(try await client.pull())
        #expect(other.step.view.components != nil)
        #expect(other.step.view.sections == nil)
        try await host.end()
    }

    @Test func `a screen is its owner's alone, and ends with its container`() async throws {
        let host = try await films()
        let client = try await ScreenClient(host)
        let id = client.id
        await expect(.screenNotFound(id.text)) {
            try await host.call { $0.search(id, "x", by: .bob, $1) }
        }
        await expect(.filterNotFound(section: "x", filter: "y", known: ["genre", "rating"])) {
            try await ScreenClient(
                host, ScreenRequest(container: "films", selection: Selection(["x": ["y"]])))
        }
        _ = try await host.call { $0.structure.delete("films", purge: false, by: .ann, $1) }
        await expect(.screenNotFound(id.text)) { try await client.pull() }
        #expect(await host.on { $0.status(hasDetails: true).screens } == 0)
        try await host.end()
    }

    @Test func `search, sort and size belong to the screen`() async throws {
        let host = try await films()
        try await host.put(.film("école", rating: 9))
        let client = try await ScreenClient(host)
        let id = client.id
        try await client.catchUp()
        _ = try await host.call { $0.search(id, "ECO", by: .ann, $1) }
        try await client.catchUp()
        #expect(client.ids() == ["école"])
        _ = try await host.call { $0.search(id, "", by: .ann, $1) }
        _ = try await host.call { $0.sort(id, by: ["-rating"], by: .ann, $1) }
        try await client.catchUp()
        #expect(client.ids() == ["école", "alien", "heat"])
        _ = try await host.call { $0.resize(id, component: "list", to: 1, by: .ann, $1) }
        try await client.catchUp()
        #expect(client.ids() == ["école"])
        #expect(client.copy.totals["list"] == 3)
        await #expect(throws: HostError.self) {
            try await host.call { $0.sort(id, by: ["nothing"], by: .ann, $1) }
        }
        await expect(.limitExceeded(limit: "pageItems", value: 1_000, retryAfter: nil)) {
            try await host.call { $0.resize(id, component: nil, to: 1_001, by: .ann, $1) }
        }
        let reason = "It is from 1 to 1000, not 0."
        await expect(.parameterInvalid(parameter: "limit", reason: reason)) {
            try await host.call { $0.resize(id, component: "talk", to: 0, by: .ann, $1) }
        }
        await expect(.componentNotFound(container: "films", component: "stars")) {
            try await host.call { $0.resize(id, component: "stars", to: 5, by: .ann, $1) }
        }
        #expect(try await client.pull() == nil, "what was refused changed nothing")
        try await host.end()
    }

    @Test func `one enters an item's children and comes back`() async throws {
        let host = try await films()
        var part = Item.film("heat-2")
        part.parent = "heat"
        try await host.put(part)
        let client = try await ScreenClient(host)
        let id = client.id
        try await client.catchUp()
        #expect(client.ids() == ["alien", "heat"])
        _ = try await host.call { $0.enter(id, item: "heat", by: .ann, $1) }
        try await client.catchUp()
        #expect(client.copy.path == ["heat"])
        #expect(client.copy.lists["list"]?.map(\.parent) == ["heat"])
        await expect(.itemNotFound(container: "films", item: "none")) {
            try await host.call { $0.enter(id, item: "none", by: .ann, $1) }
        }
        let top = try await host.call { $0.back(id, by: .ann, $1) }
        try await client.catchUp()
        #expect(client.copy.revision == top)
        #expect(client.copy.path.isEmpty)
        #expect(client.ids() == ["alien", "heat"])
        #expect(try await host.call { $0.back(id, by: .ann, $1) } == top)
        try await host.end()
    }

    @Test func `tally and comments are those of what the screen is focused on`() async throws {
        let host = try await films()
        let client = try await ScreenClient(
            host, ScreenRequest(container: "films", actor: Caller.ann.actor))
        let id = client.id
        try await client.catchUp()
        _ = try await host.call { $0.focus(id, item: "heat", by: .ann, $1) }
        try await client.catchUp()
        let first = try await host.post("good", on: "heat")
        try await host.post("elsewhere", on: "alien")
        try await host.post("yes", on: "heat", under: first.comment.entry.comment.id)
        try await host.cast(3, on: "heat")
        try await client.catchUp()
        #expect(client.copy.comments.map(\.entry.comment.text) == ["good", "yes"])
        #expect(client.copy.comments.map(\.entry.depth) == [0, 1])
        #expect(client.copy.tally?.mine == 3)
        _ = try await host.call { $0.focus(id, item: nil, by: .ann, $1) }
        try await client.catchUp()
        #expect(client.copy.comments.isEmpty)
        #expect(client.copy.tally?.tally.count == 0)
        await expect(.itemNotFound(container: "films", item: "none")) {
            try await host.call { $0.focus(id, item: "none", by: .ann, $1) }
        }
        try await host.end()
    }
}
