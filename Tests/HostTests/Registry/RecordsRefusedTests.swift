import AtriumKit
import Index
import PluginLoader
import Store
import Testing

@testable import Host

@Suite(.timeLimit(.minutes(3))) struct RecordsRefusedTests {
    /// A record that can't be put back, and words of the reason.
    struct Case: Sendable, CustomTestStringConvertible {
        var record: RecordView
        var reason: String

        init(
            _ reason: String, _ component: String, _ kind: String, _ key: String,
            _ actor: String?, _ value: String
        ) {
            self.reason = reason
            record = RecordView(
                component: component, kind: kind, key: key, actor: actor, value: Array(value.utf8))
        }

        var testDescription: String { reason }

        static let long = String(repeating: "f", count: 201)
    }

    static let cases: [Case] = [
        Case("component of 'contents'", "list", "votes", "a", nil, #"{"fields":{}}"#),
        Case("Filters keep no records", "filters", "filters", "a", nil, "{}"),
        Case("no JSON object", "list", "contents", "a", nil, "[]"),
        Case("'fields', an object", "list", "contents", "a", nil, #"{"fields":1}"#),
        Case("field 'title'", "list", "contents", "a", nil, #"{"fields":{"title":1}}"#),
        Case("an undeclared one", "list", "contents", "a", nil, #"{"fields":{"x":1}}"#),
        Case("an empty one", "list", "contents", "", nil, #"{"fields":{"title":"A"}}"#),
        Case("own parent", "list", "contents", "a", nil, #"{"fields":{"title":"A"},"parent":"a"}"#),
        Case("'parent' is", "list", "contents", "a", nil, #"{"fields":{"title":"A"},"parent":1}"#),
        Case(
            "must not have an actor", "list", "contents", "a", "unix:1",
            #"{"fields":{"title":"A"}}"#),
        Case("must have an actor", "stars", "votes", "a", nil, #"{"value":1,"cast":1}"#),
        Case("namespace:name", "stars", "votes", "a", "ann", #"{"value":1,"cast":1}"#),
        Case("'value', a number", "stars", "votes", "a", "unix:1", #"{"value":"1","cast":1}"#),
        Case("'cast', in", "stars", "votes", "a", "unix:1", #"{"value":1}"#),
        Case("1970 to 9999", "stars", "votes", "a", "unix:1", #"{"value":1,"cast":-1}"#),
        Case("control character", "stars", "votes", "a\n", "unix:1", #"{"value":1,"cast":1}"#),
        Case("'state' (shown", "talk", "comments", "a", "unix:1", #"{"text":"A","created":1}"#),
        Case("'text'", "talk", "comments", "a", "unix:1", #"{"state":"shown","created":1}"#),
        Case(
            "1970 to 9999", "talk", "comments", "a", "unix:1",
            #"{"text":"A","state":"shown","created":9223372036854775807}"#),
        Case(
            "record's 'actor'", "talk", "comments", "a", "unix:1",
            #"{"text":"A","state":"shown","created":1,"author":7}"#),
        Case(
            "own parent", "talk", "comments", "a", "unix:1",
            #"{"text":"A","state":"shown","created":1,"parent":"a"}"#),
        Case(
            "'fingerprint' has 201 bytes, at most 200", "talk", "comments", "a", "unix:1",
            #"{"text":"A","state":"shown","created":1,"fingerprint":"\#(Case.long)"}"#),
        Case(
            "'text' is no text", "talk", "comments", "a", "unix:1",
            #"{"text":1,"state":"shown","created":1}"#),
    ]

    @Test(arguments: cases)
    func `a malformed record is named, and none of the call is put back`(_ malformed: Case)
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        await #expect {
            try await host.restore([.film("good"), malformed.record, .film("other")])
        } throws: { error in
            guard
                case .recordInvalid(let component, let key, let reason) = error as? HostError
            else { return false }
            return component == malformed.record.component && key == malformed.record.key
                && reason.contains(malformed.reason)
        }
        #expect(try await host.list().items.isEmpty)
        #expect(host.store.lastSequence == 1)
        try await host.end()
    }

    @Test func `a record twice in a call, or of no component, is refused`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        await expect(
            .recordInvalid(
                component: "list", key: "a", reason: "The record occurs twice in the call.")
        ) {
            try await host.restore([.film("a"), .film("a")])
        }
        var nowhere = RecordView.film("a")
        nowhere.component = "books"
        await expect(.componentNotFound(container: "films", component: "books")) {
            try await host.restore([nowhere])
        }
        #expect(host.store.lastSequence == 1)
        try await host.end()
    }

    @Test func `what one component took over is undone when a later one refuses`() async throws {
        let plugins =
            [Plugin].builtIn + [
                .inProcess("org.atrium.fixed", .contents, FixedList.self)
            ]
        let host = try await TestRegistry.start(plugins: plugins)
        try await host.apply(
            .films.changed {
                $0.components.append(ComponentDefinition(name: "fixed", plugin: "org.atrium.fixed"))
            })
        var fixed = RecordView.film("b")
        fixed.component = "fixed"
        await expect(.readOnly(component: "fixed", reason: "It is read from a file.")) {
            try await host.restore([fixed, .film("a")])
        }
        #expect(host.store.lastSequence == 1)
        // Else the list would take it for unchanged.
        #expect(try await host.put(.film("a")).inserted == 1)
        #expect(try await host.restore([.film("c")]).restored == 1)
        #expect(try await host.list().items.map(\.id) == ["a", "c"])
        try await host.end()
    }

    @Test func `a vote beyond the scale and a reply without its parent are put back unjudged`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        let vote = RecordView(
            component: "stars", kind: "votes", key: "", actor: "unix:1",
            value: Array(#"{"value":9,"cast":1}"#.utf8))
        let reply = RecordView(
            component: "talk", kind: "comments", key: "b",
            value: Array(#"{"text":"B","parent":"a","state":"shown","created":1}"#.utf8))
        #expect(try await host.restore([vote, reply]).restored == 2)
        #expect(try await host.restore([vote, reply]).unchanged == 2)
        // The vote waits for a scale that has it.
        #expect(try await host.tally().tally.tally.count == 0)
        #expect(try await host.export().records == [vote, reply].map(\.rewritten))
        try await host.end()
    }
}

extension RecordView {
    /// With the members of its value in the order in which they are kept.
    fileprivate var rewritten: RecordView {
        var record = self
        if let value = try? Value(jsonBytes: value) { record.value = value.jsonBytes }
        return record
    }
}

/// A list that takes no items.
private final class FixedList: ContentListing {
    static var settings: [Setting] { [] }
    weak var delegate: (any ContentListingDelegate)?
    let items: [Item] = []
    var readOnlyReason: String? { "It is read from a file." }

    init(context: ComponentContext) {}

    func apply(_ change: Change) {}

    func put(_ items: [Item], _ context: CommandContext) throws(Refusal) -> ContentDecision {
        ContentDecision()
    }

    func remove(_ ids: [String], _ context: CommandContext) throws(Refusal) -> [Change] { [] }
}
