import AtriumKit
import AtriumKitTesting
import Catalog
import CommentThreads
import Facets
import Stars
import Testing
import Threads

@Suite struct `The harness around a component` {
    @Test func `a commit that failed leaves neither state nor events`() throws {
        let host = try MemoryHost(Stars.self)
        try host.run(.castBallot(subject: .container, value: 2))
        let (records, events) = (host.records, host.events)
        host.failNextCommit = true
        #expect(throws: MemoryHost.CommitFailed.self) {
            try host.run(.castBallot(subject: .container, value: 5))
        }
        #expect(host.records == records)
        #expect(host.events == events)
        let retried = try host.run(.castBallot(subject: .container, value: 5))
        let tally = Tally(count: 1, score: 5, histogram: ["5": 1])
        #expect(retried.answer == .ballot(tally: tally, previous: 2, current: 5))
    }

    @Test func `a restart brings everything back, reported at once`() throws {
        let host = try MemoryHost(Threads.self)
        let draft = CommentDraft(id: "a", subject: .container, parent: nil, text: "hello")
        try host.run(.postComment(draft))
        try host.restart()
        #expect(host.restore([]) == [.commentCount(.container, 1)])
        #expect(try host.run(.postComment(draft)).changes == [])
    }

    @Test func `commands and questions of another kind are refused`() throws {
        let draft = CommentDraft(id: "a", subject: .container, parent: nil, text: "a")
        let wrong: [(any Component.Type, ComponentCommand, ComponentQuery)] = [
            (Catalog.self, .castBallot(subject: .container, value: 1), .sections),
            (Stars.self, .postComment(draft), .details(item: "a")),
            (Threads.self, .putItems([]), .ballots(.container, after: nil, limit: 1)),
        ]
        for (type, command, query) in wrong {
            let host = try MemoryHost(type)
            let refusal = try #require(#expect(throws: Refusal.self) { try host.run(command) })
            #expect(refusal.reason.contains(host.kind.rawValue))
            #expect(throws: Refusal.self) { try host.ask(query) }
        }
    }

    @Test func `a class of no kind is refused`() throws {
        final class Nothing: Component {
            init(context: ComponentContext) {}
            func apply(_ change: Change) {}
        }
        let refusal = try #require(
            #expect(throws: Refusal.self) { try MemoryHost(Nothing.self) })
        #expect(refusal.reason.contains("no kind"))
    }

    @Test func `every step of a component's life comes in order`() throws {
        let host = try MemoryHost(Recorder.self)
        host.detach()
        #expect(
            host.services.messages.map(\.text)
                == ["init", "willAttach", "didAttach", "willDetach", "didDetach"])
    }

    @Test func `what a component reports by itself is kept for the host`() async throws {
        let host = try MemoryHost(Recorder.self)
        host.post("other.items.put")
        #expect(host.events == [])
        host.post("test.app.refresh", ["id": "seen"])
        #expect(host.events == [.contents(.insert([Item(id: "seen", fields: [:])]))])
        await host.settle()
        #expect(host.events.last == .contents(.insert([Item(id: "fetched", fields: [:])])))
        #expect(host.services.published.map(\.topic) == ["test.plugin.component.refreshed"])
        #expect(host.services.published.map(\.payload) == [["count": 1]])
        #expect(host.services.messages.last?.level == .warning)
    }

    @Test func `a source that takes nothing says why`() throws {
        let host = try MemoryHost(Recorder.self)
        for command in [ComponentCommand.putItems([]), .removeItems(["a"])] {
            let refusal = try #require(#expect(throws: Refusal.self) { try host.run(command) })
            #expect(refusal.code == .readOnly)
            #expect(refusal.reason == "It lists what it hears of.")
        }
    }

    @Test func `a fingerprint is FNV-1a of the text`() {
        func fingerprint(_ text: String) -> String {
            CommentDraft(id: "a", subject: .container, parent: nil, text: text).fingerprint
        }
        #expect(fingerprint("") == "cbf29ce484222325")
        #expect(fingerprint("a") == "af63dc4c8601ec8c")
        #expect(fingerprint("foobar") == "85944171f73967e8")
    }

    @Test func `a copy of a comment changes alone`() throws {
        let comment = AtriumKit.Comment(
            id: "a", subject: .item("film"), parent: "b", author: ActorID(7), text: "hello",
            created: Timestamp(milliseconds: 1), order: 2, fingerprint: "f")
        let edits: [(inout AtriumKit.Comment) -> Void] = [
            { $0.id = "c" }, { $0.subject = .container }, { $0.parent = nil }, { $0.author = nil },
            { $0.text = "bye" }, { $0.state = .pending },
            { $0.created = Timestamp(milliseconds: 3) }, { $0.order = 4 },
            { $0.edited = Timestamp(milliseconds: 5) }, { $0.fingerprint = "g" },
            { $0.reason = "why" }, { $0.moderator = ActorID(8) },
        ]
        let before = comment.record
        var all = comment
        for edit in edits {
            var copy = comment
            edit(&copy)
            edit(&all)
            #expect(copy != comment)
            #expect(comment.record == before)
        }
        let read = AtriumKit.Comment(key: all.id, value: try #require(all.record.value))
        #expect(read == all)
        #expect(read?.hashValue == all.hashValue)
    }
}

/// A source that logs the steps of its life, and lists what it hears of.
private final class Recorder: ContentListing {
    weak var delegate: (any ContentListingDelegate)?
    private let context: ComponentContext
    private(set) var items: [Item] = []
    let readOnlyReason: String? = "It lists what it hears of."

    init(context: ComponentContext) {
        self.context = context
        context.logger.info("init")
        context.observe("test.app.*") { [weak self] notification in
            self?.add(notification.payload["id"]?.text ?? "")
            context.background {
                "fetched"
            } then: { [weak self] result in
                if case .success(let id) = result { self?.add(id) }
                context.publish("refreshed", ["count": 1])
                context.publish("Not a name")
            }
        }
    }

    func willAttach() { context.logger.info("willAttach") }
    func didAttach() { context.logger.info("didAttach") }
    func willDetach() { context.logger.info("willDetach") }
    func didDetach() { context.logger.info("didDetach") }
    func apply(_ change: Change) {}
    func put(_ items: [Item], _ context: CommandContext) throws(Refusal) -> ContentDecision {
        ContentDecision()
    }
    func remove(_ ids: [String], _ context: CommandContext) throws(Refusal) -> [Change] { [] }

    private func add(_ id: String) {
        let item = Item(id: id, fields: [:])
        items.append(item)
        delegate?.contentListing(self, didChange: .insert([item]))
    }
}
