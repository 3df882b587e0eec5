import AtriumKit
import AtriumKitTesting
import File
import Foundation
import Testing

/// Examples of sources, whose steps write files.
@Suite struct `Examples with files` {
    private func value(_ text: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }

    private func run(
        _ type: any Component.Type, _ kind: Kind, _ examples: String
    ) async throws {
        let examples = try ConformanceExample.read(try value(#"{ "examples": [\#(examples)] }"#))
        try await Conformance.run(examples, kind) { InProcessDriver(type) }
    }

    private func failure(
        _ type: any Component.Type, _ kind: Kind, _ examples: String
    ) async throws -> ConformanceFailure {
        try #require(
            await #expect(throws: ConformanceFailure.self) { try await run(type, kind, examples) })
    }

    @Test func `the plugin of files keeps its own`() async throws {
        let name = try #require(
            try Manifest(of: "File").members["conformance"]?.object?["examples"]?.text)
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../plugins/File/\(name)")
        let text = try String(contentsOf: file, encoding: .utf8)
        let examples = try ConformanceExample.read(try value(text))
        #expect(examples.count >= 4)
        try await Conformance.run(examples, .contents) { InProcessDriver(FileListing.self) }
    }

    private let following = """
        { "title": "it follows its file", "settings": { "path": "$FOLDER/list.csv" }, "steps": [
            { "write": "list.csv", "text": "id,title\\na,A\\n" }, { "items": true, "is": [{ "id": "a" }] },
            { "write": "list.csv", "text": "id,title\\nb,B\\n" }, { "items": true, "is": [{ "id": "b" }] } ] }
        """

    @Test func `a source that does not follow its file is found`() async throws {
        try await run(FileListing.self, .contents, following)
        let failure = try await failure(DeafListing.self, .contents, following)
        #expect(failure.rule == "it follows its file")
        #expect(failure.difference.hasPrefix("examples[0].steps[3]"))
    }

    @Test func `time passes where a step waits, and only there`() async throws {
        let steps = #"""
            { "settings": { "path": "$FOLDER/list.csv" }, "steps": [
                { "write": "list.csv", "text": "id,title\na,A\n" },
                { "wait": 59 }, { "logs": true, "is": [] },
                { "wait": 1 }, { "logs": true, "is": ["info: a minute"] },
                { "wait": 60 }, { "logs": true, "is": ["info: a minute", "info: a minute"] } ] }
            """#
        try await run(TickingListing.self, .contents, steps)
        let early = steps.replacing("\"wait\": 59", with: "\"wait\": 60")
        #expect(
            try await failure(TickingListing.self, .contents, early).difference.contains("steps[2]")
        )
    }

    @Test func `a source that follows its file and does not report it is found`() async throws {
        let failure = try await failure(SilentListing.self, .contents, following)
        #expect(
            failure.difference.contains("what is reported to the delegate is not what there is"))
    }

    @Test func `a source that lists what a fresh start would not is found`() async throws {
        let failure = try await failure(
            PilingListing.self, .contents,
            """
            { "settings": { "path": "$FOLDER/list.csv" }, "steps": [
                { "write": "list.csv", "text": "id,title\\na,A\\n" },
                { "write": "list.csv", "text": "id,title\\nb,B\\n" }, { "items": true } ] }
            """)
        #expect(failure.difference.contains("a fresh start lists [\"b\"], and it [\"a\", \"b\"]"))
    }
}

/// A file's items, passed on.
class WrappedListing: ContentListing {
    let sound: FileListing
    required init(context: ComponentContext) throws { sound = try FileListing(context: context) }
    class var settings: [Setting] { FileListing.settings }
    var delegate: (any ContentListingDelegate)? {
        get { sound.delegate }
        set { sound.delegate = newValue }
    }
    var isLoading: Bool { sound.isLoading }
    var items: [Item] { Array(sound.items) }
    func apply(_ change: Change) {}
    func put(_ items: [Item], _ context: CommandContext) throws(Refusal) -> ContentDecision {
        try sound.put(items, context)
    }
    func remove(_ ids: [String], _ context: CommandContext) throws(Refusal) -> [Change] {
        try sound.remove(ids, context)
    }
}

/// Logs each minute.
final class TickingListing: WrappedListing {
    required init(context: ComponentContext) throws {
        try super.init(context: context)
        _ = try context.every(.seconds(60)) { context.logger.info("a minute") }
    }
}

/// Keeps what it has read first.
final class DeafListing: WrappedListing {
    private var first: [Item]?
    override var items: [Item] {
        if first == nil, !sound.isLoading { first = super.items }
        return first ?? []
    }
}

/// Reports nothing.
final class SilentListing: WrappedListing {
    override var delegate: (any ContentListingDelegate)? {
        get { nil }
        set {}
    }
}

/// Lists what was ever there.
final class PilingListing: WrappedListing, ContentListingDelegate {
    private var all: [String: Item] = [:]
    private weak var outer: (any ContentListingDelegate)?
    override var delegate: (any ContentListingDelegate)? {
        get { outer }
        set {
            outer = newValue
            sound.delegate = newValue == nil ? nil : self
        }
    }
    override var items: [Item] {
        for item in super.items { all[item.id] = item }
        return all.values.sorted { $0.id < $1.id }
    }
    func contentListing(_ contents: any ContentListing, didChange change: ContentChange) {
        _ = items
        if case .remove = change { return }
        outer?.contentListing(self, didChange: change)
    }
}
