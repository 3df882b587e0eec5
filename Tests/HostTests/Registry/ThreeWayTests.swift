import AtriumKit
import Index
import PluginLoader
import Store
import Testing

@testable import Host

/// One case: what the file said, what it says, how the container stands, and what comes of it.
private struct ThreeWayCase: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var base: [ComponentDefinition]?
    var live: [ComponentDefinition]?
    var new: [ComponentDefinition]
    var result: [ComponentDefinition]
    var lines: [String]
}

extension ComponentDefinition {
    fileprivate static func part(
        _ name: String, plugin: String = "p", _ settings: [String: Value] = [:],
        hidden: Bool = false
    ) -> ComponentDefinition {
        ComponentDefinition(name: name, plugin: plugin, settings: settings, isHidden: hidden)
    }
}

private let cases: [ThreeWayCase] = [
    ThreeWayCase(
        testDescription: "a new container", base: nil, live: nil, new: [.part("a"), .part("b")],
        result: [.part("a"), .part("b")],
        lines: ["component a: attached (p)", "component b: attached (p)"]),
    ThreeWayCase(
        testDescription: "nothing new", base: [.part("a")], live: [.part("a")],
        new: [.part("a")], result: [.part("a")], lines: []),
    ThreeWayCase(
        testDescription: "attached by hand stays", base: [.part("a")],
        live: [.part("hand"), .part("a")], new: [.part("a")],
        result: [.part("hand"), .part("a")], lines: []),
    ThreeWayCase(
        testDescription: "detached by hand stays detached", base: [.part("a"), .part("b")],
        live: [.part("b")], new: [.part("a"), .part("b")], result: [.part("b")], lines: []),
    ThreeWayCase(
        testDescription: "detached by hand returns when the file says something new about it",
        base: [.part("a"), .part("b")], live: [.part("b")],
        new: [.part("a", ["x": 1]), .part("b")], result: [.part("a", ["x": 1]), .part("b")],
        lines: ["component a: attached (p)"]),
    ThreeWayCase(
        testDescription: "hidden by hand stays hidden, also when something else changes",
        base: [.part("a")], live: [.part("a", hidden: true)], new: [.part("a", ["x": 1])],
        result: [.part("a", ["x": 1], hidden: true)], lines: ["component a: setting x changed"]),
    ThreeWayCase(
        testDescription: "hidden by the file", base: [.part("a")], live: [.part("a")],
        new: [.part("a", hidden: true)], result: [.part("a", hidden: true)],
        lines: ["component a: hidden"]),
    ThreeWayCase(
        testDescription: "moved by hand stays there", base: [.part("a"), .part("b")],
        live: [.part("b"), .part("a")], new: [.part("a"), .part("b", ["x": 1])],
        result: [.part("b", ["x": 1]), .part("a")], lines: ["component b: setting x changed"]),
    ThreeWayCase(
        testDescription: "moved by the file", base: [.part("a"), .part("b")],
        live: [.part("a"), .part("hand"), .part("b")], new: [.part("b"), .part("a")],
        result: [.part("b"), .part("hand"), .part("a")],
        lines: ["components: in the order b, hand, a"]),
    ThreeWayCase(
        testDescription: "a new one goes behind the one before it in the file",
        base: [.part("a"), .part("b")], live: [.part("b"), .part("a")],
        new: [.part("a"), .part("new"), .part("b")],
        result: [.part("b"), .part("a"), .part("new")],
        lines: ["component new: attached (p)"]),
    ThreeWayCase(
        testDescription: "gone from the file", base: [.part("a"), .part("b")],
        live: [.part("a"), .part("b")], new: [.part("b")], result: [.part("b")],
        lines: ["component a: detached"]),
    ThreeWayCase(
        testDescription: "another plugin, the setting added by neither stays",
        base: [.part("a", ["x": 1])], live: [.part("a", ["x": 1])],
        new: [.part("a", plugin: "q", ["x": 1])], result: [.part("a", plugin: "q", ["x": 1])],
        lines: ["component a: plugin p -> q"]),
]

@Suite struct ThreeWayTests {
    @Test(arguments: cases)
    fileprivate func `only what changed in the file is touched`(_ example: ThreeWayCase) {
        func definition(_ components: [ComponentDefinition]?) -> ContainerDefinition? {
            components.map { ContainerDefinition(name: "c", components: $0) }
        }
        let plan = ThreeWay(
            new: ContainerDefinition(name: "c", components: example.new),
            base: definition(example.base), live: definition(example.live))
        #expect(plan.result.components == example.result)
        #expect(plan.lines == example.lines)
    }

    @Test func `fields and titles are compared too, a line each`() {
        let base = ContainerDefinition(
            name: "c", title: "Old",
            fields: [Field(name: "a", type: .text), Field(name: "b", type: .number)])
        let new = ContainerDefinition(
            name: "c", title: "New",
            fields: [Field(name: "b", type: .integer), Field(name: "d", type: .time)])
        let plan = ThreeWay(new: new, base: base, live: base)
        #expect(
            plan.lines == [
                "title: 'New'", "field b: type number -> integer", "field d: added (time)",
                "field a: removed",
            ])
        #expect(plan.result.fields == new.fields)
    }

    @Test func `a text that changes only its normal form is a change`() {
        func definition(_ text: String) -> ContainerDefinition {
            ContainerDefinition(
                name: "c", title: text,
                components: [
                    ComponentDefinition(
                        name: "a", plugin: "p", title: text, settings: ["word": .text(text)])
                ], scopes: [ScopeDefinition(name: "s", title: text, contents: ["a"])])
        }
        let (new, base) = (definition("\u{e9}"), definition("e\u{301}"))
        let plan = ThreeWay(new: new, base: base, live: base)
        #expect(
            plan.lines == [
                "title: '\u{e9}'", "component a: title '\u{e9}'",
                "component a: setting word changed", "scope s: title '\u{e9}'",
            ])
        #expect(plan.result.isSame(as: new) && !plan.result.isSame(as: base))
        #expect(ThreeWay(new: new, base: new, live: new).lines.isEmpty)
    }

    @Test func `how it is shown is compared, and listed a line each`() {
        let base = ContainerDefinition(
            name: "c", fields: [Field(name: "a", type: .number)],
            components: [ComponentDefinition(name: "list", plugin: "p", sort: ["a"])],
            present: Presentation(title: "a"))
        var new = base
        new.fields[0].title = "A"
        new.components[0].sort = []
        new.components[0].present = Presentation(columns: ["a"])
        new.components[0].hidesEmpty = true
        new.components[0].empty = "Nothing."
        new.present = nil
        let plan = ThreeWay(new: new, base: base, live: base)
        #expect(
            plan.lines == [
                "present: none", "field a: changed", "component list: hidden while it is empty",
                "component list: empty 'Nothing.'", "component list: present changed",
                "component list: sort by id",
            ])
        #expect(plan.result == new)
        let made = ThreeWay(new: base, base: nil, live: nil)
        #expect(made.lines.contains("present: set"), "\(made.lines)")
        #expect(ThreeWay(new: base, base: new, live: new).result == base)
    }

    @Test func `a record that says how it is shown is one that older daemons refuse`() throws {
        func version(_ change: (inout ContainerDefinition) -> Void) throws -> Int64? {
            var record = DefinitionRecord(live: .films, applied: .films)
            change(&record.live)
            let value = try Value(jsonBytes: try #require(record.change.value))
            #expect(DefinitionRecord(name: "films", value: value) == record)
            return value.object?["version"]?.int
        }
        #expect(try version { _ in } == 1)
        #expect(try version { $0.delegate = DelegateDefinition(plugin: "d") } == 2)
        #expect(try version { $0.present = Presentation(title: "title", columns: []) } == 5)
        #expect(try version { $0.components[0].present = Presentation(subtitle: "year") } == 5)
        #expect(try version { $0.components[0].sort = ["-year"] } == 5)
        #expect(try version { $0.components[0].hidesEmpty = true } == 5)
        #expect(try version { $0.components[0].empty = "Nothing." } == 5)
        #expect(try version { $0.fields[0].title = "Title" } == 5)
        #expect(try version { $0.fields[0].summary = "What it is called" } == 5)
        #expect(try version { $0.fields.append(Field(name: "w", type: .number, unit: "kg")) } == 5)
        #expect(try version { $0.fields.append(Field(name: "site", type: .url)) } == 5)
        #expect(try version { $0.fields[0].details = true } == 6)
        #expect(try version { $0.closed = [.votes] } == 8)
        #expect(try version { $0.closed = [.votes, .comments] } == 8)
    }

    @Test func `a definition's record comes back as it was`() throws {
        var record = DefinitionRecord(live: .films, applied: .films)
        record.live.components[1].isHidden = true
        record.live.components[2].isolation = .process
        record.live.components[2].callSeconds = 60
        record.kinds = ["stars": .votes]
        record.remains = ["old": Remains(kind: .comments, wasDefined: true)]
        record.live.activate = "picked"
        let bytes = try #require(record.change.value)
        let back = DefinitionRecord(name: "films", value: try Value(jsonBytes: bytes))
        #expect(back == record)
    }
}
