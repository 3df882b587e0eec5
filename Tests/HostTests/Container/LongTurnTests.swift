import AtriumKit
import TestSupport
import Testing

@testable import Host

/// What takes long in one piece leaves the rest of its turn of the loop to nobody.
@Suite(.timeLimit(.minutes(2))) struct LongTurnTests {
    @Test func `a long page is written in another turn than it is found in`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put((0..<200).map { .film("f\($0)") })
        for (limit, isAtOnce) in [(50, true), (200, false)] {
            let isReplied = await host.on { registry in
                let isReplied = Flag()
                registry.list("films", ListRequest(limit: limit)) { _ in isReplied.isSet = true }
                return isReplied.isSet
            }
            #expect(isReplied == isAtOnce, "\(limit)")
        }
        #expect(try await host.list(limit: 200).items.count == 200)
        try await host.end()
    }

    @Test(arguments: [(1, true), (200, false)])
    func `screens follow a large batch in turns of their own`(
        count: Int, isAtOnce: Bool
    ) async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put(.film("f0", rating: 1))
        let client = try await ScreenClient(host)
        try await client.catchUp()
        let films = (0..<count).map { ItemDraft(item: .film("f\($0)", rating: 2)) }
        let before = await host.on { $0.visitedViews }
        // Once all is through that the turn began with.
        let after: Int = try await host.call { registry, reply in
            registry.put("films", component: nil, films, by: .ann) { _ in
                registry.domain.timers.later { reply(.success(registry.visitedViews)) }
            }
        }
        #expect((after > before) == isAtOnce)
        try await until {
            try await client.catchUp()
            return client.copy.totals["list"] == count
        }
        try await host.end()
    }
}

/// Unchecked: guarded by the loop, on which it is set and read.
private final class Flag: @unchecked Sendable {
    var isSet = false
}

extension Registry {
    /// How many views were brought up to now.
    fileprivate var visitedViews: Int { state.homes["films"]?.updates.visits ?? 0 }
}
