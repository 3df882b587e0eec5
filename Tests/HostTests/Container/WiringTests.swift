import AtriumKit
import PluginLoader
import Testing

@testable import Host

/// A delegate that has something against bad words and low votes.
private final class StrictDelegate: ContainerDelegate {
    let log: DelegateLog

    override class var settings: [Setting] { DelegateLog.settings }

    required init(context: DelegateContext) throws {
        log = try DelegateLog.named(in: context)
        try super.init(context: context)
    }

    override func votes(
        _ component: ComponentReference, shouldAccept ballot: Ballot
    ) -> Refusal? {
        ballot.value < 2 ? Refusal("Too harsh.") : nil
    }

    override func comments(
        _ component: ComponentReference, shouldAccept draft: CommentDraft, by author: ActorID
    ) -> Refusal? {
        draft.text.contains("damn") ? Refusal("Mind your words.") : nil
    }

    override func comments(
        _ component: ComponentReference, shouldAcceptEdit text: String, of comment: String,
        by actor: ActorID
    ) -> Refusal? {
        text.contains("damn") ? Refusal("Mind your words.") : nil
    }

    override func votes(
        _ component: ComponentReference, didChange tally: Tally, of subject: Subject
    ) {
        log.add("did")
        super.votes(component, didChange: tally, of: subject)
    }

    override func comments(_ component: ComponentReference, didPost comment: AtriumKit.Comment) {
        container?.publish("posted", ["id": .text(comment.id)])
    }
}

@Suite(.timeLimit(.minutes(3))) struct WiringTests {
    private func films(_ log: DelegateLog) async throws -> TestRegistry {
        let host = try await TestRegistry.start(
            delegates: [DelegatePlugin(id: "test.strict", delegate: StrictDelegate.self)])
        try await host.apply(.films.changed { $0.delegate = log.delegate(of: "test.strict") })
        try await host.put(.film("heat"))
        return host
    }

    @Test func `a component that is let go is freed at once, on the loop`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        let isFreed = await host.on { registry in
            guard let slot = registry.containers["films"]?.slot("list"), slot.port != nil else {
                return false
            }
            weak let port = slot.port
            slot.close()
            return port == nil
        }
        #expect(isFreed)
        try await host.end()
    }

    @Test
    func `a commit is shown by the index, passed to the delegate, screens, bus, then answered`()
        async throws
    {
        let log = DelegateLog.make()
        let host = try await films(log)
        let screen = try await host.call {
            $0.openScreen(
                ScreenRequest(container: "films"), by: .ann, wake: { log.add("screen") }, $1)
        }
        let subscription = try await host.call { registry, reply in
            reply(
                Result { () throws(HostError) in
                    try registry.bus.subscribe(
                        patterns: ["films.>"], after: nil, seesRestricted: false,
                        wake: { log.add("bus") })
                })
        }
        for _ in 0..<2 {
            _ = try await host.on { $0.screens.pull(screen) }.get()
            _ = try await host.call { $0.bus.pull(subscription, maxBytes: 1_000, reply: $1) }
        }
        _ =
            try await host.call { registry, reply in
                registry.cast(
                    SubjectAddress(container: "films", item: "heat"), value: 4, by: .ann
                ) { result in
                    log.add("reply")
                    reply(result)
                }
                log.add("sent")
            } as VoteResult
        #expect(log.all == ["sent", "did", "screen", "bus", "reply"])
        try await host.end()
    }

    @Test func `the delegate is asked before a component sees a command, and may veto it`()
        async throws
    {
        let host = try await films(.make())
        await expect(.refused(reason: "Too harsh.", retryAfter: nil)) {
            try await host.cast(1, on: "heat")
        }
        await expect(.refused(reason: "Mind your words.", retryAfter: nil)) {
            try await host.post("damn good")
        }
        #expect(try await host.cast(3, on: "heat").tally.tally.count == 1)
        try await host.post("Good.", id: "c1")
        await expect(.refused(reason: "Mind your words.", retryAfter: nil)) {
            _ = try await host.edit("c1", text: "damn good")
        }
        try await host.end()
    }

    @Test func `the delegate publishes under its container's name`() async throws {
        let host = try await films(.make())
        let subscription = try await host.call { registry, reply in
            reply(
                Result { () throws(HostError) in
                    try registry.bus.subscribe(
                        patterns: ["films.posted"], after: nil, seesRestricted: false, wake: {})
                })
        }
        try await host.post("Good.", id: "c1")
        let batch = try await host.call { $0.bus.pull(subscription, maxBytes: 1_000, reply: $1) }
        let told = try #require(batch?.content.notifications.first)
        #expect(told.sequence == nil)
        #expect(told.payload == Array(#"{"id":"c1"}"#.utf8))
        try await host.end()
    }

    @Test func `several lists share votes and filters, and an item is one subject`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(
            .films.changed {
                $0.components.append(
                    ComponentDefinition(name: "later", plugin: "org.atrium.catalog"))
            })
        try await host.put(.film("heat", ["crime"]))
        for item in [Item.film("heat", ["crime"]), .film("alien", ["horror"])] {
            _ = try await host.call {
                $0.put("films", component: "later", [ItemDraft(item: item)], by: .ann, $1)
            }
        }
        try await host.cast(4, on: "heat")
        let later = try await host.call {
            $0.list(
                "films",
                ListRequest(
                    component: "later",
                    selection: Selection(["genre": ["crime"]]), facets: true), $1)
        }
        #expect(later.items.map(\.votes?.tally.count) == [1])
        #expect(later.sections?[0].filters.map(\.id) == ["crime", "horror"])
        // It is still in the other list: what was said about it stays.
        _ = try await host.call {
            $0.remove("films", component: "later", ["heat"], purge: true, by: .ann, $1)
        }
        #expect(try await host.tally(of: "heat").tally.tally.count == 1)
        try await host.remove("heat", purge: true)
        try await host.put(.film("heat"))
        #expect(try await host.tally(of: "heat").tally.tally.count == 0)
        try await host.end()
    }

    @Test func `two filters components answer for their own sections`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(
            .films.changed {
                $0.components.append(
                    ComponentDefinition(
                        name: "more", plugin: "org.atrium.facets",
                        settings: ["sections": [["id": "kind", "field": "genres"]]]))
            })
        try await host.put(.film("heat", ["crime"]), .film("alien", ["horror"], rating: 9))
        let page = try await host.list(
            "films", Selection(["kind": ["horror"], "rating": ["8+"]]), facets: true)
        #expect(page.items.map(\.id) == ["alien"])
        #expect(page.sections?.map(\.id) == ["genre", "rating", "kind"])
        let client = try await ScreenClient(host)
        let screen = client.id
        _ = try await host.call {
            $0.select(screen, section: "kind", filter: "crime", by: .ann, $1)
        }
        try await client.catchUp()
        #expect(client.ids() == ["heat"])
        let only = try await host.call {
            $0.filters("films", component: "more", selection: Selection(), search: nil, $1)
        }
        #expect(only.sections.map(\.id) == ["kind"])
        await expect(
            .filterNotFound(section: "x", filter: "y", known: ["genre", "rating", "kind"])
        ) { try await host.list("films", Selection(["x": ["y"]])) }
        try await host.end()
    }
}
