import AtriumKit
import TestSupport
import Testing

@testable import Host

/// What screens show stands in their users' accounts.
@Suite(.timeLimit(.minutes(3))) struct ScreenMemoryTests {
    /// Forty films with titles of a thousand bytes each.
    private func films(_ screenBytes: Int? = nil) async throws -> TestRegistry {
        var limits = HostLimits()
        if let screenBytes { limits.screenBytesPerUser = screenBytes }
        let host = try await TestRegistry.start(limits: limits)
        try await host.apply(.films)
        try await host.put((0..<40).map { Self.film($0) })
        return host
    }

    private static func film(_ number: Int) -> Item {
        var film = Item.film("film\(number)")
        film.fields["title"] = .text(String(repeating: "t", count: 1_000))
        return film
    }

    private static func request(_ limit: Int, search: String? = nil) -> ScreenRequest {
        ScreenRequest(container: "films", search: search, limit: limit)
    }

    private func open(
        _ host: TestRegistry, _ limit: Int = 40, search: String? = nil, by caller: Caller = .ann
    ) async throws -> ScreenClient {
        let client = try await ScreenClient(host, Self.request(limit, search: search), by: caller)
        try await client.catchUp()
        return client
    }

    private func bytes(_ host: TestRegistry, of owner: Caller = .ann) async -> Int {
        await host.on { $0.state.screens.account(of: owner.actor).bytes }
    }

    private static let tooMuch = "screenBytesPerUser"

    private func refusal(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch HostError.limitExceeded(let limit, _, _) {
            return limit
        } catch {
            return "\(error)"
        }
    }

    @Test
    func `what several screens of a user show is counted once, and nothing once they are gone`()
        async throws
    {
        let host = try await films()
        let first = try await open(host)
        let one = await bytes(host)
        #expect(one > 40 * 2_000)
        let second = try await open(host)
        #expect(await bytes(host) - one < 10_000)
        let other = try await open(host, 39)
        #expect(await bytes(host) > 2 * one - 10_000)
        let bob = try await open(host, by: .bob)
        #expect(await bytes(host, of: .bob) > 40 * 2_000)
        for client in [first, second, other, bob] {
            let id = client.id
            await host.on { registry in
                guard let screen = registry.state.screens[id] else { return }
                screen.home?.close(screen)
            }
        }
        #expect(await bytes(host) == 0)
        #expect(await host.on { $0.state.screens.bytes } == 0)
        try await host.end()
    }

    @Test func `the ballots that are known for a user's screens count until these are gone`()
        async throws
    {
        let host = try await films()
        // Nobody's ballots are asked for; Ann's are, who has put the films.
        let before = try await open(host)
        let without = await bytes(host)
        await close(before)
        try await host.cast(3, on: "film1")
        let first = try await openAsAnn(host)
        #expect(await bytes(host) > without + 40 * 150)
        let second = try await openAsAnn(host)
        await close(first)
        #expect(await bytes(host) > without + 40 * 150)
        await close(second)
        #expect(await bytes(host) == 0)
        try await host.end()
    }

    private func openAsAnn(_ host: TestRegistry) async throws -> ScreenClient {
        var request = Self.request(40)
        request.actor = Caller.ann.actor
        let client = try await ScreenClient(host, request)
        try await client.catchUp()
        return client
    }

    private func close(_ client: ScreenClient) async {
        let id = client.id
        await client.host.on { registry in
            guard let screen = registry.state.screens[id] else { return }
            screen.home?.close(screen)
        }
    }

    @Test func `whoever goes leaves what others of the view pay for`() async throws {
        let host = try await films()
        let ann = try await open(host)
        let bob = try await ScreenClient(host, Self.request(40), by: .bob)
        // Bob was sent nothing yet: what the view shows is in Ann's account.
        #expect(await bytes(host, of: .bob) < 10_000)
        let id = ann.id
        await host.on { registry in
            guard let screen = registry.state.screens[id] else { return }
            screen.home?.close(screen)
        }
        #expect(await bytes(host) == 0)
        #expect(await bytes(host, of: .bob) > 40 * 2_000)
        try await bob.catchUp()
        try await host.end()
    }

    @Test func `revisions that a screen can be resumed from count until they are forgotten`()
        async throws
    {
        let host = try await films()
        let client = try await open(host)
        let one = await bytes(host)
        for value in 1...5 {
            try await host.cast(Double(value), on: "film1")
            try await client.catchUp()
        }
        #expect(await bytes(host) > 5 * (one - 10_000))
        try await host.end()
    }

    @Test func `from half of its bytes on a user's screen is resumed from its last revision alone`()
        async throws
    {
        let host = try await films(150_000)
        let client = try await open(host)
        for value in 1...5 {
            try await host.cast(Double(value), on: "film1")
            try await client.catchUp()
            #expect(await bytes(host) < 250_000)
        }
        await client.leave()
        try await client.resume(revision: 5)
        #expect(try await client.pull()?.base == nil)
        try await host.end()
    }

    @Test func `a screen beyond a user's bytes is refused, and so is one that shows more`()
        async throws
    {
        let host = try await films(150_000)
        let first = try await open(host)
        let told = await refusal { _ = try await open(host, 39) }
        #expect(told == Self.tooMuch)
        let small = try await open(host, 2)
        let id = small.id
        let grown = await refusal {
            _ = try await host.call { $0.resize(id, component: nil, to: 39, by: .ann, $1) }
        }
        #expect(grown == Self.tooMuch)
        // Both go on, and so does everybody else.
        try await host.cast(5, on: "film1")
        #expect(try await first.pull() != nil)
        #expect(try await small.pull() != nil)
        _ = try await open(host, 39, by: .bob)
        #expect(await host.on { $0.status(hasDetails: true).screens } == 3)
        try await host.end()
    }

    @Test func `screens that wait to be resumed make room, and an error says why they are gone`()
        async throws
    {
        let host = try await films(150_000)
        let first = try await open(host)
        await first.leave()
        _ = try await open(host, 39)
        try await first.resume(Self.request(1))
        try await first.catchUp()
        #expect(first.resets.last?.contains("(screenBytesPerUser)") == true)
        try await host.end()
    }

    @Test func `screens end whose lists grow beyond twice their user's bytes, read or not`()
        async throws
    {
        var limits = HostLimits()
        limits.screenBytesPerUser = 60_000
        let host = try await TestRegistry.start(limits: limits)
        try await host.apply(.films)
        // Two lists that nobody has in common, and one of somebody else.
        let clients = [
            try await open(host), try await open(host, search: "t"),
            try await open(host, 5, by: .bob),
        ]
        for number in 0..<40 { try await host.put(Self.film(number)) }
        try await until { await host.on { $0.status(hasDetails: true).screens } < 3 }
        try await until { await bytes(host) <= 2 * 60_000 }
        for client in clients.prefix(2) where await client.isGone() {
            let told = await refusal { try await client.catchUp() }
            #expect(told == Self.tooMuch)
        }
        try await clients[2].catchUp()
        #expect(clients[2].ids().count == 5)
        try await host.end()
    }
}

extension ScreenClient {
    fileprivate func isGone() async -> Bool {
        let id = id
        return await host.on { $0.state.screens[id] == nil }
    }
}
