import AtriumKit
import Testing

@testable import Host

/// A notification is stamped once.
@Suite(.timeLimit(.minutes(3))) struct StampTests {
    private func subscribe(
        to host: TestRegistry, after: Int64?
    ) async throws -> SubscriptionID {
        try await host.call { registry, reply in
            reply(
                Result { () throws(HostError) in
                    try registry.bus.subscribe(
                        patterns: [">"], after: after, seesRestricted: true, wake: {})
                })
        }
    }

    /// All durable notifications that a subscriber has not been told.
    private func told(
        _ host: TestRegistry, _ id: SubscriptionID
    ) async throws -> [NotificationView] {
        var told: [NotificationView] = []
        while let batch = try await host.call({ $0.bus.pull(id, maxBytes: 1 << 20, reply: $1) }) {
            told += batch.content.notifications.filter { $0.sequence != nil }
            if batch.content.live { break }
        }
        return told
    }

    /// One of each kind of entry.
    private func act(on host: TestRegistry) async throws {
        try await host.apply(.films)
        try await host.put(Item(id: "alien", fields: ["title": "Alien"]))
        try await host.put(Item(id: "alien", fields: ["title": "Aliens"]))
        try await host.put(Item(id: "brazil", fields: ["title": "Brazil"]))
        try await host.cast(4, on: "alien", by: .bob)
        _ = try await host.call {
            $0.retract(SubjectAddress(container: "films", item: "alien"), by: .bob, $1)
        }
        let comment = try await host.post("Good", on: "alien").comment.entry.comment.id
        try await host.edit(comment, text: "Better")
        for state in [Comment.State.pending, .shown] {
            _ = try await host.call {
                $0.moderate(
                    "films", component: nil, comment: comment, state: state, reason: "why",
                    by: .moderator, $1)
            }
        }
        let other = try await host.post("Bad").comment.entry.comment.id
        try await host.delete(other)
        _ = try await host.call {
            $0.publish(
                "films.app.played", payload: Array("{}".utf8), durable: true, by: .ann, $1)
        }
        for isHidden in [true, false] {
            _ = try await host.call { $0.setHidden("films", "stars", isHidden, by: .ann, $1) }
        }
        try await host.remove("brazil")
        _ = try await host.call { $0.detach("films", "filters", purge: false, by: .ann, $1) }
        try await host.apply(.films.changed { $0.title = "Films" })
    }

    @Test func `a subscriber is told the same of an entry live, from the ring and from the past`()
        async throws
    {
        let host = try await TestRegistry.start()
        let id = try await subscribe(to: host, after: nil)
        try await act(on: host)
        let live = try await told(host, id)
        #expect(Set(live.map(\.topic)).count > 12)
        #expect(try await told(host, subscribe(to: host, after: 0)) == live)
        let after = try await host.restarted()
        #expect(try await told(after, subscribe(to: after, after: 0)) == live)
        try await after.end()
    }
}
