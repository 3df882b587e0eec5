import Testing
import VarlinkIDL

/// What the language does not have, and what is said about it.
@Suite struct RefusalTests {
    static let refused: [(text: String, sentence: String)] = [
        ("", "1:1: expected 'interface' first, found the end of the text"),
        ("interfaces a.b\n", "1:1: expected 'interface' first, found 'interfaces'"),
        ("\n # x\n type A ()", "3:2: expected 'interface' first, found 'type'"),
        (
            "interface ftl\n",
            "1:11: expected the interface's name, such as org.example.ftl, found 'ftl'"
        ),
        (
            "interface\n(",
            "2:1: expected the interface's name, such as org.example.ftl, found '('"
        ),
        ("interface a.b", "1:14: expected a type, a method or an error, found the end of the text"),
        ("interface a.b method A() -> ()", "1:15: expected the end of the line, found 'method'"),
        ("interface a.b\ntypo A ()", "2:1: expected 'type', 'method' or 'error', found 'typo'"),
        (
            "interface a.b\ninterface c.d",
            "2:1: expected 'type', 'method' or 'error', found 'interface'"
        ),
        ("interface a.b\n\u{0}", "2:1: expected 'type', 'method' or 'error', found U+0000"),
        (
            "interface a.b\ntype a ()",
            "2:6: expected a name that begins with a capital letter, found 'a'"
        ),
        (
            "interface a.b\n# é\ntype É ()",
            "3:6: expected a name that begins with a capital letter, found 'É'"
        ),
        ("interface a.b\ntype A_b ()", "2:7: expected '(', found '_b'"),
        ("interface a.b\ntype A int", "2:8: expected '(', found 'int'"),
        ("interface a.b\ntype A []int", "2:8: expected '(', found '['"),
        (
            "interface a.b\ntype A (x: int",
            "2:15: expected a comma or ')', found the end of the text"
        ),
        ("interface a.b\ntype A (x: int,)", "2:16: expected the name of a field, found ')'"),
        ("interface a.b\ntype A (,)", "2:9: expected the name of a field, found ','"),
        ("interface a.b\ntype A (x,)", "2:11: expected the name of a field, found ')'"),
        ("interface a.b\ntype A (1x: int)", "2:9: expected the name of a field, found '1x'"),
        ("interface a.b\ntype A (x: ??int)", "2:13: expected a type behind '?', found '?'"),
        ("interface a.b\ntype A (x: ?[]??int)", "2:16: expected a type behind '?', found '?'"),
        ("interface a.b\ntype A (x: integer)", "2:12: expected a type, found 'integer'"),
        ("interface a.b\ntype A (x: ? int)", "2:13: expected a type, found U+0020"),
        ("interface a.b\ntype A (x: [int]string)", "2:12: expected a type, found '['"),
        (
            "interface a.b\ntype A (x: A_b)",
            "2:12: A_b is not the name of a type: no underscores"
        ),
        (
            "interface a.b\ntype A (x: int,\n  y)",
            "3:4: expected a colon and a type for y, found ')'"
        ),
        ("interface a.b\ntype A (x, y: int)", "2:13: expected a comma or ')', found ':'"),
        ("interface a.b\ntype A (x: int, x: int)", "2:17: x stands here twice"),
        ("interface a.b\ntype A (x, x)", "2:12: x stands here twice"),
        (
            "interface a.b\ntype A (x_: int)",
            "2:9: x_ is not the name of a field: single underscores, within it only"
        ),
        (
            "interface a.b\ntype A (x__y: int)",
            "2:9: x__y is not the name of a field: single underscores, within it only"
        ),
        ("interface a.b\ntype A (_x: int)", "2:9: expected the name of a field, found '_x'"),
        ("interface a.b\ntype A (x: B)", "2:12: there is no type B"),
        ("interface a.b\nmethod A(x: []?B) -> ()", "2:16: there is no type B"),
        ("interface a.b\nmethod A() (x: int)", "2:12: expected '->', found '('"),
        ("interface a.b\nmethod A() - > ()", "2:12: expected '->', found '-'"),
        (
            "interface a.b\nmethod A(a, b) -> ()",
            "2:9: expected fields with types, found an enumeration"
        ),
        ("interface a.b\nmethod A() -> () x", "2:18: expected the end of the line, found 'x'"),
        (
            "interface a.b\nerror A\n",
            "3:1: expected '(': an error that carries nothing ends in '()', "
                + "found the end of the text"
        ),
        (
            "interface a.b\nerror A (a, b)",
            "2:9: expected fields with types, found an enumeration"
        ),
        (
            "interface a.b\ntype A ()\ntype A ()",
            "3:6: the type A is called like the type on line 2"
        ),
        (
            "interface a.b\nmethod A() -> ()\n\nmethod A() -> ()",
            "4:8: the method A is called like the method on line 2"
        ),
        (
            "interface a.b\nerror A ()\ntype A ()",
            "3:6: the type A is called like the error on line 2"
        ),
    ]

    @Test(arguments: refused.indices)
    func `a broken definition is refused with line and column`(index: Int) {
        let (text, sentence) = Self.refused[index]
        let error = #expect(throws: DefinitionError.self) { try InterfaceDefinition(text) }
        #expect(error?.description == sentence)
    }
}

/// Texts that are meant to hurt.
@Suite struct HostileDefinitionTests {
    @Test(arguments: ["[]", "[string]", "?[]", "(x: "])
    func `types nested beyond reason are refused`(opening: String) {
        let deep = String(repeating: opening, count: 100_000)
        let error = #expect(throws: DefinitionError.self) {
            try InterfaceDefinition("interface a.b\ntype A (x: \(deep)int)")
        }
        #expect(error?.reason == "types nest deeper than 64 levels")
    }

    @Test func `types nested within reason are read`() throws {
        let text =
            "interface a.b\ntype A (x: \(String(repeating: "[]", count: 63))int)"
        #expect(try InterfaceDefinition(text).types.count == 1)
    }

    /// With work that grows with the square of the text, these would not end.
    @Test func `long texts are read in the time that their length takes`() throws {
        let count = 20_000
        let numbers = 0..<count
        let members = numbers.map { "# \($0)\ntype T\($0) (x: T\(count - 1 - $0))" }
        let fields = numbers.map { "f\($0): int" }
        let values = numbers.map { "v\($0)" }
        let definition = try InterfaceDefinition(
            """
            interface a.b
            \(members.joined(separator: "\n"))
            type Fields (\(fields.joined(separator: ",")))
            type Values (\(values.joined(separator: ",\n")))
            """)
        #expect(definition.types.count == count + 2)
        let comment = String(repeating: "# comment\n", count: count)
        #expect(throws: DefinitionError.self) { try InterfaceDefinition(comment) }
        #expect(throws: DefinitionError.self) {
            try InterfaceDefinition(String(repeating: "\n", count: 100_000))
        }
    }

    @Test func `a message stays short, whatever it is about`() {
        let long = String(repeating: "x", count: 100_000)
        for text in [
            long, "interface \(long)", "interface a.b\n\(long)", "interface a.b\ntype A (\(long)_:",
            "interface a.b\ntype A (x: X\(long))", "interface a.b\ntype A (\(long)",
            "interface a.b\ntype A (\(long): int, \(long): int)",
        ] {
            let error = #expect(throws: DefinitionError.self) { try InterfaceDefinition(text) }
            #expect((error?.description.count ?? 0) < 200)
        }
    }

    @Test func `every text cut short is refused or read, never a crash`() {
        let text = Array(ParserTests.everything.unicodeScalars)
        for length in text.indices {
            var part = String.UnicodeScalarView(text[..<length])
            _ = try? InterfaceDefinition(String(part))
            // And with something in its place that does not belong there.
            part.append("(")
            part.append(contentsOf: text[length...])
            _ = try? InterfaceDefinition(String(part))
        }
    }
}
