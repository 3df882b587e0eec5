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
                    "films", component: nil, comment: comment, state: state,
                    reason: state == .pending ? "why" : nil, by: .moderator, $1)
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
        try await host.put(Item(id: "casablanca", fields: ["title": "Casablanca"]))
        try await host.cast(3, on: "casablanca", by: .bob)
        try await host.post("Sam!", on: "casablanca")
        try await host.remove("casablanca", purge: true)
        _ = try await host.call { $0.detach("films", "filters", purge: false, by: .ann, $1) }
        _ = try await host.call {
            $0.attach("films", ContainerDefinition.films.components[0], at: 0, by: .ann, $1)
        }
        _ = try await host.call { $0.move("films", "filters", to: 2, by: .ann, $1) }
        _ = try await host.call { $0.detach("films", "filters", purge: true, by: .ann, $1) }
        for isOpen in [false, true] {
            _ = try await host.call {
                $0.setOpen("films", votes: isOpen, comments: isOpen, by: .moderator, $1)
            }
        }
        _ = try await host.restore([.film("dune")])
        try await host.cast(2, on: "dune", by: Caller(actor: "web:gone"))
        let erased: ErasureResult = try await host.call { $0.erasures.erase("web:gone", $1) }
        #expect(erased.ballots == 1)
        var plays = ContainerDefinition.films
        (plays.name, plays.source) = ("plays", "plays")
        try await host.apply(plays)
        try await host.put([.film("hamlet")], in: "plays")
        _ = try await host.call { $0.structure.delete("plays", purge: true, by: .ann, $1) }
        try await host.apply(.films.changed { $0.title = "Films" })
    }

    @Test func `a subscriber receives the same of an entry live, from the ring and from the past`()
        async throws
    {
        let host = try await TestRegistry.start()
        let id = try await subscribe(to: host, after: nil)
        try await act(on: host)
        let live = try await told(host, id)
        // A new kind of entry belongs in here.
        let topics = Set(live.map(\.topic))
        for topic in EntryTopic.allCases {
            #expect(topics.contains(topic.name(in: "films")), "\(topic.rawValue)")
        }
        #expect(topics.contains("films.app.played") && topics.contains("plays.items.put"))
        #expect(try await told(host, subscribe(to: host, after: 0)) == live)
        let after = try await host.restarted()
        #expect(try await told(after, subscribe(to: after, after: 0)) == live)
        try await after.end()
    }
}
