import Testing

@testable import VarlinkIDL

@Suite struct ParserTests {
    private static let everything = """
        # Everything that the language has.
        # On two lines.
        interface com.example-2.all-of.it

        # Not about the type below.

        # A type.
        type Thing (
          # A field.
          id: string, # behind it
          count: ?int,
          ratio: float, flag: bool, extra: object, more: any,
          tags: []string, by_name: [string][]?Thing, set: [string](),
          part: ?(x: int, mode: (fast, slow)), Thing2: Thing
        )
        type Mode (a, b_c, D)
        type Empty ()
        method Do(thing: Thing, mode: Mode)
          -> (
            done: bool
          ) # done
        # Another.
        method Thing() -> ()
        error Failed (why: string)
        error Bare

        """

    @Test func `the whole grammar is read`() throws {
        let definition = try InterfaceDefinition(Self.everything)
        #expect(definition.name == "com.example-2.all-of.it")
        #expect(definition.documentation == "Everything that the language has.\nOn two lines.")
        #expect(definition.text == Self.everything)
        #expect(definition.types.map(\.name) == ["Thing", "Mode", "Empty"])
        #expect(
            definition.types[0].type.description
                == "(id: string, count: ?int, ratio: float, flag: bool, extra: object, more: any, "
                + "tags: []string, by_name: [string][]?Thing, set: [string](), "
                + "part: ?(x: int, mode: (fast, slow)), Thing2: Thing)")
        #expect(definition.types[1].type == .enumeration(Enumeration(values: ["a", "b_c", "D"])))
        #expect(definition.types[2].type == .structure(Structure(fields: [])))
        #expect(definition.methods.map(\.name) == ["Do", "Thing"])
        #expect(definition.methods[0].parameters.description == "(thing: Thing, mode: Mode)")
        #expect(definition.methods[0].reply.description == "(done: bool)")
        #expect(definition.errors.map(\.name) == ["Failed", "Bare"])
        #expect(definition.errors[1].parameters.fields.isEmpty)
        #expect(definition.methods[1].position.line == 23)
        #expect(definition.methods[1].position.column == 8)
    }

    @Test func `comments right above document, others do not`() throws {
        let definition = try InterfaceDefinition(Self.everything)
        #expect(definition.types[0].documentation == "A type.")
        guard case .structure(let thing) = definition.types[0].type else {
            Issue.record("Thing is no structure")
            return
        }
        #expect(thing.fields[0].documentation == "A field.")
        #expect(thing.fields[1].documentation == "")
        #expect(definition.methods[0].documentation == "")
        #expect(definition.methods[1].documentation == "Another.")
    }

    @Test func `line ends of two characters are line ends`() throws {
        let definition = try InterfaceDefinition(
            "# Doc\r\ninterface a.b\r\n\r\nmethod A() -> ()\r\n")
        #expect(definition.documentation == "Doc")
        #expect(definition.methods.map(\.name) == ["A"])
    }

    static let refused: [(text: String, sentence: String)] = [
        ("", "1:1: expected 'interface' first"),
        ("interfaces a.b\n", "1:1: expected 'interface' first"),
        (
            "interface ftl\n",
            "1:11: expected the interface's name, such as org.example.ftl, found 'ftl'"
        ),
        (
            "interface a.-b",
            "1:11: expected the interface's name, such as org.example.ftl, found 'a.-b'"
        ),
        ("interface a.b method A() -> ()", "1:15: expected the end of the line, found 'method'"),
        ("interface a.b\ntypo A ()", "2:1: expected 'type', 'method' or 'error', found 'typo'"),
        (
            "interface a.b\ntype a ()",
            "2:6: expected a name that begins with a capital letter, found 'a'"
        ),
        ("interface a.b\ntype A int", "2:8: expected '(', found 'int'"),
        (
            "interface a.b\ntype A (x: int",
            "2:15: expected a comma or ')', found the end of the text"
        ),
        ("interface a.b\ntype A (x: int,)", "2:16: expected the name of a field, found ')'"),
        ("interface a.b\ntype A (x: ??int)", "2:13: expected a type behind '?', found '?'"),
        ("interface a.b\ntype A (x: integer)", "2:12: expected a type, found 'integer'"),
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
        ("interface a.b\ntype A (x: B)", "2:9: there is no type B"),
        ("interface a.b\nmethod A(x: []?B) -> ()", "2:10: there is no type B"),
        ("interface a.b\nmethod A() (x: int)", "2:12: expected '->', found '('"),
        (
            "interface a.b\nmethod A(a, b) -> ()",
            "2:9: expected fields with types, found an enumeration"
        ),
        ("interface a.b\nmethod A() -> () x", "2:18: expected the end of the line, found 'x'"),
        ("interface a.b\nerror A int", "2:9: expected '(', found 'int'"),
        ("interface a.b\ntype A ()\ntype A ()", "3:6: the type A is defined on line 2 too"),
        (
            "interface a.b\nmethod A() -> ()\n\nmethod A() -> ()",
            "4:8: the method A is defined on line 2 too"
        ),
        ("interface a.b\nerror A ()\nerror A ()", "3:7: the error A is defined on line 2 too"),
        (
            "interface a.b\n# é\ntype É ()",
            "3:6: expected a name that begins with a capital letter, found 'É'"
        ),
    ]

    @Test(arguments: refused.indices)
    func `a broken definition is refused with line and column`(index: Int) {
        let (text, sentence) = Self.refused[index]
        let error = #expect(throws: DefinitionError.self) { try InterfaceDefinition(text) }
        #expect(error?.description == sentence)
    }

    @Test func `types nested beyond reason are refused`() {
        let text = "interface a.b\ntype A (x: \(String(repeating: "[]", count: 100_000))int)"
        let error = #expect(throws: DefinitionError.self) { try InterfaceDefinition(text) }
        #expect(error?.reason == "types nest deeper than 64 levels")
    }

    @Test func `every text cut short is refused or read, never a crash`() {
        let text = Array(Self.everything.unicodeScalars)
        for length in text.indices {
            var part = ""
            part.unicodeScalars.append(contentsOf: text[..<length])
            _ = try? InterfaceDefinition(part)
        }
    }
}
