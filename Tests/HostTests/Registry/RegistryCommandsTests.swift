import AtriumKit
import Index
import PluginLoader
import Store
import Testing

@testable import Host

@Suite(.timeLimit(.minutes(3))) struct RegistryCommandsTests {
    @Test func `the status counts all plugins that are loaded, those of delegates too`()
        async throws
    {
        let host = try await TestRegistry.start(
            delegates: [DelegatePlugin(id: "test.plain", delegate: PlainDelegate.self)])
        let plugins: Int = try await host.call { $1(.success($0.status(hasDetails: true).plugins)) }
        #expect(plugins == [Plugin].builtIn.count + 1)
        try await host.end()
    }

    @Test func `a container is applied, filled, filtered, voted on, discussed and restarted`()
        async throws
    {
        var host = try await TestRegistry.start()
        let applied = try await host.apply(.films)
        #expect(applied.results.map(\.action) == [.created])
        #expect(applied.sequence == 1)
        let put = try await host.put(
            .film("heat", ["crime", "drama"], rating: 8.3), .film("alien", ["horror"], rating: 8.5),
            .film("dull", ["drama"], rating: 4))
        #expect(put == PutResult(inserted: 3, updated: 0, unchanged: 0, sequence: 2))
        try await host.cast(4, on: "heat")
        let vote = try await host.cast(2, on: "heat", by: .bob)
        #expect(
            vote.tally
                == TallyView(
                    tally: Tally(count: 2, score: 3, histogram: ["4": 1, "2": 1]), mine: 2))
        let comment = try await host.post("Slow.", on: "heat")
        try await host.post("No!", on: "heat", under: comment.comment.entry.comment.id, by: .bob)
        try await check(host)
        host = try await host.restarted()
        try await check(host)
        try await host.end()
    }

    private func check(_ host: TestRegistry) async throws {
        let drama = try await host.list(
            "films", Selection(["genre": ["drama"], "rating": ["8+"]]), facets: true,
            actor: "unix:1001")
        #expect(drama.items.map(\.id) == ["heat"])
        #expect(drama.items[0].votes?.mine == 2)
        #expect(drama.items[0].comments == 2)
        #expect(drama.total == 1)
        let genres = try #require(drama.sections?.first)
        #expect(genres.filters.map(\.id) == ["crime", "drama", "horror"])
        #expect(genres.filters.map(\.count) == [1, 1, 1])
        #expect(genres.filters.map(\.selected) == [false, true, false])
        let byScore = try await host.list(sort: ["-votes.score"])
        #expect(byScore.items.map(\.id) == ["heat", "alien", "dull"])
        #expect(byScore.sequence == 6)
        let thread = try await host.thread(of: "heat")
        #expect(thread.comments.map(\.entry.depth) == [0, 1])
        #expect(thread.comments.map(\.author) == ["unix:1000", "unix:1001"])
        #expect(try await host.status().state == .ready)
    }

    @Test func `a write that changes nothing commits nothing and replies the current sequence`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put(.film("heat"))
        try await host.cast(4, on: "heat")
        let before = try await host.list().sequence
        #expect(try await host.put(.film("heat")).sequence == before)
        #expect(try await host.put(.film("heat")).unchanged == 1)
        let again = try await host.cast(4, on: "heat")
        #expect(again.sequence == before)
        #expect(again.previous == 4)
        #expect(try await host.remove("nothing").sequence == before)
        #expect(try await host.apply(.films).results[0].action == .unchanged)
        #expect(host.store.lastSequence == before)
        try await host.end()
    }

    @Test func `a large batch keeps its place among others while it is looked over`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        let many = (0..<500).map { Item.film("film-\($0)", rating: 7) }
        let wrong = many.dropLast() + [Item(id: "film-9999", fields: ["rating": "seven"])]
        let batches = [many, [.film("film-499", rating: 9)], Array(wrong), [.film("film-500")]]
        let results: [Result<PutResult, HostError>] = try await host.callAll(4) {
            host, place, reply in
            host.put(
                "films", component: nil, batches[place].map { ItemDraft(item: $0) }, by: .ann, reply
            )
        }
        #expect(try results[0].get().inserted == 500)
        #expect(try results[1].get().updated == 1, "it came behind the batch")
        #expect(throws: HostError.self, "none of a batch goes in where one item is wrong") {
            try results[2].get()
        }
        #expect(try results[3].get().inserted == 1)
        #expect(try await host.list().total == 501)
        try await host.end()
    }

    @Test func `a purge does not overtake a large batch that was put before it`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        let removed: RemoveResult = try await host.call { registry, reply in
            registry.put(
                "films", component: nil, (0..<500).map { ItemDraft(item: .film("film-\($0)")) },
                by: .ann
            ) { _ in }
            registry.remove(
                "films", component: nil, ["film-7"], purge: true, by: .ann, reply)
        }
        #expect(removed.removed == 1)
        #expect(try await host.list().total == 499)
        try await host.end()
    }

    @Test func `votes and comments need an item that is there`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        let missing = HostError.itemNotFound(container: "films", item: "heat")
        await expect(missing) { try await host.cast(4, on: "heat") }
        await expect(missing) { try await host.post("Hm", on: "heat") }
        await expect(missing) { try await host.tally(of: "heat") }
        await expect(missing) { try await host.thread(of: "heat") }
        try await host.cast(5)
        #expect(try await host.tally().tally.tally.count == 1)
        #expect(try await host.tally() == host.tally(actor: "unix:4711"))
        try await host.end()
    }

    @Test func `a removed item hides its votes and comments, and the same id brings them back`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put(.film("heat"))
        try await host.cast(4, on: "heat")
        try await host.post("Slow.", on: "heat", id: "slow")
        #expect(try await host.remove("heat").removed == 1)
        let missing = HostError.itemNotFound(container: "films", item: "heat")
        await expect(missing) { try await host.tally(of: "heat") }
        await expect(missing) { try await host.edit("slow", text: "Fast.") }
        await expect(missing) { try await host.delete("slow") }
        try await host.put(.film("heat"))
        #expect(try await host.edit("slow", text: "Fast.").comment.entry.comment.text == "Fast.")
        let item = try await host.list(actor: "unix:1000").items[0]
        #expect(item.votes?.tally.count == 1)
        #expect(item.votes?.mine == 4)
        #expect(item.comments == 1)
        try await host.end()
    }

    @Test func `a purge erases votes and comments with the item, in one entry`() async throws {
        var host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put(.film("heat"), .film("alien"))
        try await host.cast(4, on: "heat")
        try await host.cast(3, on: "alien")
        try await host.post("Slow.", on: "heat")
        let before = host.store.lastSequence
        #expect(try await host.remove("heat", purge: true).sequence == before + 1)
        try await host.put(.film("heat"))
        func check(_ host: TestRegistry) async throws {
            let items = try await host.list(actor: "unix:1000").items
            #expect(items.map(\.id) == ["alien", "heat"])
            #expect(items.map { $0.votes?.tally.count } == [1, 0])
            #expect(items.map { $0.votes?.mine } == [3, nil])
            #expect(items.map(\.comments) == [0, 0])
            #expect(try await host.thread(of: "heat").total == 0)
        }
        try await check(host)
        host = try await host.restarted()
        try await check(host)
        // Also of an item that is gone already.
        try await host.remove("alien")
        try await host.remove("alien", purge: true)
        try await host.put(.film("alien"))
        #expect(try await host.tally(of: "alien").tally.tally.count == 0)
        try await host.end()
    }

    @Test func `an item is only replaced as it was read, if that is asked for`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        func put(_ item: Item, _ revision: Int64) async throws -> PutResult {
            try await host.call {
                $0.put(
                    "films", component: nil, [ItemDraft(item: item, ifRevision: revision)],
                    by: .ann, $1)
            }
        }
        let first = try await put(.film("heat"), 0).sequence
        await expect(.revisionMismatch(item: "heat", expected: 0, found: first)) {
            try await put(.film("heat", rating: 1), 0)
        }
        try await host.put(.film("alien"))
        let second = try await put(.film("heat", rating: 8), first).sequence
        await expect(.revisionMismatch(item: "heat", expected: first, found: second)) {
            try await put(.film("heat", rating: 1), first)
        }
        // The page's sequence is as good as the item's own.
        let sequence = try await host.list().sequence
        #expect(try await put(.film("heat", rating: 9), sequence).updated == 1)
        // One that is pending is waited for.
        let results = try await host.callAll(2) { registry, index, reply in
            let draft = ItemDraft(
                item: .film("new", rating: Double(index)), ifRevision: index == 0 ? nil : 0)
            registry.put("films", component: nil, [draft], by: .ann, reply)
        }
        let pending = try results[0].get().sequence
        #expect(
            results[1]
                == .failure(.revisionMismatch(item: "new", expected: 0, found: pending)))
        try await host.end()
    }

    @Test func `a bad batch is refused whole, naming what is wrong`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        await expect(
            .fieldInvalid(item: "b", field: "rating", expected: "at most 10", found: "11")
        ) { try await host.put(.film("a"), .film("b", rating: 11)) }
        await #expect(throws: HostError.self) { try await host.put(.film("a"), .film("a")) }
        await #expect(throws: HostError.self) { try await host.put(.film("a\n")) }
        let many = (0...1_000).map { Item.film("f\($0)") }
        await expect(.limitExceeded(limit: "batchItems", value: 1_000, retryAfter: nil)) {
            try await host.put(many)
        }
        let long = Item(
            id: "long", fields: ["title": .text(String(repeating: "x", count: 1 << 20))])
        await expect(.limitExceeded(limit: "batchBytes", value: 1 << 20, retryAfter: nil)) {
            try await host.put(long)
        }
        #expect(try await host.list().total == 0)
        await expect(.containerNotFound("nope")) { try await host.list("nope") }
        try await host.end()
    }

    @Test func `repeating a post is answered as the first time, other content is a conflict`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        let first = try await host.post("Hello", id: "c1")
        try await host.put(.film("heat"))
        _ = try await host.call {
            $0.edit("films", component: nil, comment: "c1", text: "Edited", by: .ann, $1)
        }
        let again = try await host.post("Hello", id: "c1")
        #expect(again.sequence == first.sequence)
        #expect(again.comment.entry.comment.text == "Hello")
        await #expect {
            try await host.post("Other", id: "c1")
        } throws: {
            if case .conflict(comment: "c1", _) = $0 as? HostError { true } else { false }
        }
        await #expect(throws: HostError.self) { try await host.post("Hello", id: "c1", by: .bob) }
        // Repeated before the first is committed, too.
        let both = try await host.callAll(2) { registry, _, reply in
            registry.post(
                SubjectAddress(container: "films"), parent: nil, text: "Twice", id: "c2",
                by: .ann, reply)
        }
        #expect(try both[0].get().sequence == both[1].get().sequence)
        try await host.end()
    }

    @Test func `a cast vote is sent to everyone, and who cast it to moderators alone`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.cast(4, by: .bob)
        for seesRestricted in [false, true] {
            let id = try await host.call { registry, reply in
                reply(
                    Result { () throws(HostError) in
                        try registry.bus.subscribe(
                            patterns: ["films.votes.*"], after: 0,
                            seesRestricted: seesRestricted, wake: {})
                    })
            }
            let batch = try await host.call { $0.bus.pull(id, maxBytes: 1 << 20, reply: $1) }
            let told = try #require(batch?.content.notifications.first)
            #expect(told.topic == "films.votes.cast")
            #expect(told.actor == (seesRestricted ? "unix:1001" : nil))
            let payload = try Value(jsonBytes: told.payload).object
            #expect(payload?["count"]?.int == 1)
            #expect(payload?["value"]?.number == (seesRestricted ? 4 : nil))
        }
        try await host.end()
    }

    @Test func `a comment that waits for a moderator is sent to moderators alone`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films.changed { $0.components[3].settings = ["moderated": true] })
        try await host.post("Held", by: .bob)
        for seesRestricted in [false, true] {
            let id = try await host.call { registry, reply in
                reply(
                    Result { () throws(HostError) in
                        try registry.bus.subscribe(
                            patterns: ["films.comments.*"], after: 0,
                            seesRestricted: seesRestricted, wake: {})
                    })
            }
            let batch = try await host.call { $0.bus.pull(id, maxBytes: 1 << 20, reply: $1) }
            let told = try #require(batch?.content.notifications.first)
            #expect(told.topic == "films.comments.posted")
            #expect(told.actor == (seesRestricted ? "unix:1001" : nil))
            let payload = try Value(jsonBytes: told.payload).object
            #expect(payload?["text"]?.text == (seesRestricted ? "Held" : nil))
        }
        try await host.end()
    }

    @Test func `who takes a waiting comment back is sent to moderators alone`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films.changed { $0.components[3].settings = ["moderated": true] })
        let held = try await host.post("Held", by: .bob).comment.entry.comment.id
        _ = try await host.call {
            $0.delete("films", component: nil, comment: held, by: .bob, $1)
        }
        for seesRestricted in [false, true] {
            let id = try await host.call { registry, reply in
                reply(
                    Result { () throws(HostError) in
                        try registry.bus.subscribe(
                            patterns: ["films.comments.removed"], after: 0,
                            seesRestricted: seesRestricted, wake: {})
                    })
            }
            let batch = try await host.call { $0.bus.pull(id, maxBytes: 1 << 20, reply: $1) }
            let told = try #require(batch?.content.notifications.first)
            #expect(told.actor == (seesRestricted ? "unix:1001" : nil))
        }
        try await host.end()
    }

    @Test func `a moderator does not rewrite a text under its author's name`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        let comment = try await host.post("Mine", by: .bob).comment.entry.comment.id
        for caller in [Caller.moderator, .ann] {
            await #expect {
                _ = try await host.call {
                    $0.edit(
                        "films", component: nil, comment: comment, text: "Yours", by: caller, $1)
                }
            } throws: {
                "\($0)".contains("only they change its text")
            }
        }
        let edited = try await host.call {
            $0.edit("films", component: nil, comment: comment, text: "Mine too", by: .bob, $1)
        }
        #expect(edited.comment.entry.comment.text == "Mine too")
        _ = try await host.call {
            $0.delete("films", component: nil, comment: comment, by: .moderator, $1)
        }
        try await host.end()
    }

    @Test func `an id in another Unicode form than its item's is nobody's`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        let (id, other) = ("am\u{E9}lie", "ame\u{301}lie")
        try await host.put(.film(id))
        try await host.cast(4, on: id)
        await expect(.itemNotFound(container: "films", item: other)) {
            try await host.cast(2, on: other)
        }
        await expect(.itemNotFound(container: "films", item: other)) {
            _ = try await host.call {
                $0.get("films", component: nil, item: other, actor: nil, $1)
            }
        }
        #expect(try await host.remove(other).removed == 0)
        #expect(try await host.remove(other, purge: true).removed == 0)
        let again = try await host.restarted()
        #expect(try await again.list().items.map(\.id) == [id])
        #expect(
            try await again.tally(of: id).tally.tally
                == Tally(count: 1, score: 4, histogram: ["4": 1]))
        #expect(try await again.remove(id).removed == 1)
        try await again.end()
    }

    @Test func `clients publish under a container's app topics alone`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        func publish(_ topic: String, durable: Bool = true) async throws -> Int64? {
            try await host.call {
                $0.publish(
                    topic, payload: Array("{}".utf8), durable: durable, by: .ann, $1)
            }
        }
        #expect(try await publish("films.app.played") == 2)
        #expect(try await publish("films.app.played", durable: false) == nil)
        await #expect(throws: HostError.self) { try await publish("films.items.put") }
        await #expect(throws: HostError.self) { try await publish("films.app") }
        await #expect(throws: HostError.self) { try await publish("films.app.Not") }
        await expect(.containerNotFound("nope")) { try await publish("nope.app.x") }
        #expect(try host.topics() == ["daemon.containers.created", "films.app.played"])
        try await host.end()
    }
}
