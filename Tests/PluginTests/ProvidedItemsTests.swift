import AtriumKit
import AtriumKitTesting
import CommentThreads
import Testing

/// Comments on items that have the field `open`.
private final class OpenComments: ThreadedComments {
    private let own: ComponentContext

    required init(context: ComponentContext) throws {
        own = context
        super.init(context: context, rules: CommentRules())
    }

    override func judge(
        _ comment: AtriumKit.Comment, replacing previous: AtriumKit.Comment?,
        _ command: CommandContext
    ) throws(Refusal) -> Bool {
        guard let item = comment.subject.item.flatMap(own.item) else {
            throw Refusal("There is no such item.")
        }
        return item.fields["open"]?.bool != true
    }
}

/// Items that an example's steps provide.
@Suite struct ProvidedItemsTests {
    @Test func `a component looks up the items of the last step that provides some`() async throws {
        let post: Value = ["post": "Nice.", "item": "film"]
        func posted(_ state: Value) -> Value {
            .object((post.object ?? [:]).merging(["is": ["comment": ["state": state]]]) { $1 })
        }
        func provide(_ items: Value...) -> Value { ["provide": .list(items)] }
        let examples = try ConformanceExample.read([
            "examples": [
                [
                    "title": "open items",
                    "steps": [
                        ["post": "Nice.", "item": "film", "refused": true, "because": "no such"],
                        provide(["id": "other"], ["id": "film", "fields": ["open": true]]),
                        posted("shown"), provide(["id": "film"]), posted("pending"), provide(),
                        ["post": "Nice.", "item": "film", "refused": true, "because": "no such"],
                    ],
                ]
            ]
        ])
        try await Conformance.run(examples, .comments) { InProcessDriver(OpenComments.self) }
    }

    @Test func `items without ids are refused`() {
        do throws(ExampleProblem) {
            _ = try ConformanceExample.read(["examples": [["steps": [["provide": [[:]]]]]]])
            Issue.record("it is read")
        } catch {
            #expect(
                error.description
                    == "examples[0].steps[0].provide: expected a list of items, each with an id")
        }
    }
}
