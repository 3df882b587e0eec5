import AtriumKit
import TestSupport
import Testing

@testable import Host

/// How screens go on without a reader, and with another one.
@Suite(.timeLimit(.minutes(3))) struct ScreenLifeTests {
    private func films(limits: HostLimits = HostLimits()) async throws -> TestRegistry {
        let host = try await TestRegistry.start(limits: limits)
        try await host.apply(.films)
        try await host.put(.film("heat", ["crime"]), .film("alien", ["horror"]))
        return host
    }

    @Test func `a screen is resumed from a revision that it was sent`() async throws {
        let host = try await films()
        let client = try await ScreenClient(host)
        let id = client.id
        try await client.catchUp()
        let before = client.copy
        await client.leave()
        try await host.cast(5, on: "heat")
        // Any connection of the user may act on it meanwhile.
        _ = try await host.call {
            $0.select(id, section: "genre", filter: "crime", by: .ann, $1)
        }
        try await client.resume()
        let next = try #require(try await client.pull())
        #expect(next.base == before.revision)
        #expect(next.commits == 1)
        #expect(client.ids() == ["heat"])
        #expect(client.resets.isEmpty)

        await client.leave()
        try await client.resume()
        let same = try #require(try await client.pull(), "a reader is always answered")
        #expect(same.base == same.revision)
        #expect(same.step.view.isEmpty)
        try await host.end()
    }

    @Test func `what waits for its turn on a screen that is closed says that there is no screen`()
        async throws
    {
        let host = try await films()
        let client = try await ScreenClient(host)
        let id = client.id
        let errors = await host.on { registry in
            nonisolated(unsafe) var errors: [HostError] = []
            let screen = registry.state.screens[id]
            nonisolated(unsafe) var end: () -> Void = {}
            screen?.queue { end = $0 }
            @Sendable func note<Value>(_ result: Result<Value, HostError>) {
                if case .failure(let error) = result { errors.append(error) }
            }
            // No list has this item, which is nobody's business any more.
            registry.enter(id, item: "gone", by: .ann) { note($0) }
            registry.activate(id, item: "gone", by: .ann) { note($0) }
            registry.select(id, section: "gone", filter: "x", by: .ann) { note($0) }
            registry.search(id, "heat", by: .ann) { note($0) }
            if let screen { screen.home?.close(screen) }
            end()
            return errors
        }
        #expect(errors == Array(repeating: .screenNotFound(id.text), count: 4))
        try await host.end()
    }

    @Test func `a screen that is resumed and left often is waited for once`() async throws {
        let host = try await films()
        let client = try await ScreenClient(host)
        for _ in 0..<100 {
            try await client.catchUp()
            await client.leave()
            try await client.resume()
        }
        await client.leave()
        let waits = await host.on { $0.state.screens.detached.waits(of: Caller.ann.actor) }
        #expect((1...20).contains(waits), "two for each screen, and a few")
        #expect(await host.on { $0.status(hasDetails: true).screens } == 1)
        try await host.end()
    }

    @Test func `an older revision is good too, and an unknown one starts anew`() async throws {
        var limits = HostLimits()
        limits.screenRevisions = 3
        let host = try await films(limits: limits)
        let client = try await ScreenClient(host)
        try await client.catchUp()
        for value in 1...4 {
            try await host.cast(Double(value), on: "heat")
            try await client.catchUp()
        }
        #expect(client.copy.revision == 5)
        await client.leave()
        try await client.resume(revision: 4)
        let reader = client.reader
        let next = try #require(try await host.on { $0.screens.pull(reader) }.get())
        #expect(next.base == 4)
        #expect(next.revision == 6, "what 5 said is said again, under another number")
        await client.leave()
        try await client.resume(revision: 2)
        let anew = try #require(try await client.pull())
        #expect(anew.base == nil)
        #expect(anew.screen == client.id)
        #expect(client.resets == ["Revision 2 is not known any more."])
        #expect(client.ids() == ["alien", "heat"])
        try await host.end()
    }

    @Test func `who may act for nobody any more does not resume a screen that does`() async throws {
        let host = try await films()
        let client = try await ScreenClient(host)
        let request = ScreenRequest(container: "films", actor: "web:7", agent: "web:7")
        try await client.resume(request, by: .ann)
        try await client.catchUp()
        let own = client.id
        await client.leave()
        try await client.resume(request, by: .ann)
        try await client.catchUp()
        #expect(client.id == own)
        await client.leave()
        try await client.resume(ScreenRequest(container: "films", actor: "web:7"), by: .ann)
        try await client.catchUp()
        #expect(client.id != own)
        #expect(client.resets.last == "On the screen items are chosen in the name of web:7.")
        try await host.end()
    }

    @Test func `whoever can't resume receives the reason`() async throws {
        var limits = HostLimits()
        limits.screenLinger = 0
        let host = try await films(limits: limits)
        let client = try await ScreenClient(host)
        try await client.catchUp()
        let old = client.id

        try await client.resume(by: .bob)
        try await client.catchUp()
        #expect(client.resets.last?.contains("another user's") ?? false)
        #expect(client.id != old)

        try await client.resume(
            ScreenRequest(container: "films", actor: "unix:7"), by: .bob)
        try await client.catchUp()
        #expect(client.resets.last?.contains("another actor's") ?? false)

        await client.leave()
        try await until { await host.on { $0.status(hasDetails: true).screens } == 2 }
        try await client.resume(by: .bob)
        try await client.catchUp()
        #expect(client.resets.last?.contains("lingers for 0 s") ?? false)

        let again = try await host.restarted()
        let other = try await ScreenClient(again)
        let request = ScreenRequest(
            container: "films", resume: .init(screen: old, revision: 1))
        let reader = try await again.call {
            $0.openScreen(request, by: .ann, wake: {}, $1)
        }
        let first = try #require(try await again.on { $0.screens.pull(reader) }.get())
        #expect(first.reset?.contains("started anew") ?? false)
        #expect(first.base == nil)
        _ = other
        try await again.end()
    }

    @Test func `screens of a container that is gone show nothing while they wait to be closed`()
        async throws
    {
        let host = try await films()
        let client = try await ScreenClient(host)
        try await client.catchUp()
        let (first, revision) = (client.reader, client.copy.revision)
        let second = try await host.call { (registry, reply: @escaping Reply<ScreenReader>) in
            var isHeld = true
            registry.domain.slices.run {
                isHeld
            } then: {
            }
            registry.state.homes["films"]?.end()
            #expect(registry.state.screens[first.screen] != nil, "others' work comes first")
            #expect(throws: HostError.screenNotFound(first.screen.text)) {
                try registry.screens.pull(first).get()
            }
            #expect(registry.screens.find(first.screen, of: .ann) == nil)
            let request = ScreenRequest(
                container: "films", resume: .init(screen: first.screen, revision: revision))
            registry.openScreen(request, by: .ann, wake: {}, reply)
            isHeld = false
        }
        #expect(second.screen != first.screen)
        let reset = try await host.on { $0.screens.pull(second) }.get()?.reset
        #expect(reset?.contains("ends with its container") ?? false)
        try await host.end()
    }

    @Test func `a new reader takes over from one that is still there`() async throws {
        let host = try await films()
        let client = try await ScreenClient(host)
        try await client.catchUp()
        let first = client.reader
        try await client.resume()
        await expect(.screenNotFound(client.id.text)) {
            try await host.on { $0.screens.pull(first) }.get()
        }
        await host.on { $0.screens.leave(first) }
        try await client.catchUp()
        try await host.cast(5, on: "heat")
        #expect(try await client.pull() != nil)
        try await host.end()
    }

    @Test func `all screens of a user wait to be resumed`() async throws {
        let host = try await films()
        var clients: [ScreenClient] = []
        for _ in 0..<100 { clients.append(try await ScreenClient(host)) }
        for client in clients {
            try await client.catchUp()
            await client.leave()
        }
        for client in clients {
            let id = client.id
            try await client.resume()
            try await client.catchUp()
            #expect(client.id == id)
            #expect(client.resets.isEmpty)
            await client.leave()
        }
        #expect(await host.on { $0.status(hasDetails: true).screens } == 100)
        try await host.end()
    }

    @Test func `a new screen takes the place of the one that waited longest, which says so`()
        async throws
    {
        var limits = HostLimits()
        limits.screensPerUser = 3
        let host = try await films(limits: limits)
        var clients: [ScreenClient] = []
        for _ in 0..<3 { clients.append(try await ScreenClient(host)) }
        for client in clients { await client.leave() }
        // The first waits shortest from now on.
        try await clients[0].resume()
        await clients[0].leave()
        _ = try await ScreenClient(host)
        #expect(await host.on { $0.status(hasDetails: true).screens } == 3)
        for (place, isKept) in [(0, true), (2, true), (1, false)] {
            let id = clients[place].id
            let by = place == 1 ? Caller.bob : .ann
            try await clients[place].resume(by: by)
            try await clients[place].catchUp()
            #expect((clients[place].id == id) == isKept, "\(place)")
        }
        #expect(clients[1].resets.last?.contains("no more than 3 (screensPerUser)") ?? false)
        try await host.end()
    }

    @Test func `one user has only so many screens, and keeps nobody else out`() async throws {
        var limits = HostLimits()
        limits.screensPerUser = 2
        let host = try await films(limits: limits)
        let first = try await ScreenClient(host)
        _ = try await ScreenClient(host)
        await expect(.limitExceeded(limit: "screensPerUser", value: 2, retryAfter: 5)) {
            _ = try await ScreenClient(host)
        }
        _ = try await ScreenClient(host, by: .bob)
        await first.leave()
        _ = try await ScreenClient(host)
        try await host.end()
    }

    @Test func `what a screen asks for is bounded, and a refusal changes nothing`() async throws {
        let host = try await films()
        let client = try await ScreenClient(host)
        try await client.catchUp()
        let id = client.id
        let text = String(repeating: "x", count: 4_097)
        await expect(.limitExceeded(limit: "searchBytes", value: 4_096, retryAfter: nil)) {
            try await host.call { $0.search(id, text, by: .ann, $1) }
        }
        let fields = [String](repeating: "title", count: 17)
        await expect(.limitExceeded(limit: "sortFields", value: 16, retryAfter: nil)) {
            try await host.call { $0.sort(id, by: fields, by: .ann, $1) }
        }
        let many = Selection(["genre": (0..<1_001).map { "\($0)" }])
        await expect(.limitExceeded(limit: "selectedFilters", value: 1_000, retryAfter: nil)) {
            _ = try await ScreenClient(
                host, ScreenRequest(container: "films", selection: many))
        }
        await expect(.limitExceeded(limit: "sortFields", value: 16, retryAfter: nil)) {
            try await host.call {
                $0.list("films", ListRequest(sort: fields), $1)
            }
        }
        #expect(try await client.pull() == nil)
        #expect(await host.on { $0.status(hasDetails: true).screens } == 1)
        try await host.end()
    }

    @Test func `choosing an item calls the delegate and posts what the definition names`()
        async throws
    {
        let host = try await films()
        let client = try await ScreenClient(host)
        let id = client.id
        #expect(try await host.call { $0.activate(id, item: "heat", by: .ann, $1) } == nil)
        try await host.apply(ContainerDefinition.films.changed { $0.activate = "picked" })
        let sequence = try await host.call { $0.activate(id, item: "heat", by: .ann, $1) }
        #expect(sequence == 4)
        #expect(try host.topics().last == "films.items.picked")
        await expect(.itemNotFound(container: "films", item: "none")) {
            try await host.call { $0.activate(id, item: "none", by: .ann, $1) }
        }
        try await host.end()
    }
}
