import Testing

@testable import VarlinkIDL

@Suite struct ParserTests {
    static let everything = """
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
        type Mode (
          # The first value.
          a, b_c, # behind it
          # The last value,
          # on two lines.
          D
        )
        type Empty ()
        method Do(thing: Thing, mode: Mode)
          -> (
            done: bool
          ) # done
        # Another.
        method Other() -> ()
        error Failed (why: string)
        error Bare() # at the end
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
        #expect(definition.types[1].type.description == "(a, b_c, D)")
        #expect(definition.types[2].type == .structure(Structure(fields: [])))
        #expect(definition.methods.map(\.name) == ["Do", "Other"])
        #expect(definition.methods[0].parameters.description == "(thing: Thing, mode: Mode)")
        #expect(definition.methods[0].reply.description == "(done: bool)")
        #expect(definition.errors.map(\.name) == ["Failed", "Bare"])
        #expect(definition.errors[1].parameters.fields.isEmpty)
        #expect(definition.methods[1].position == TextPosition(line: 29, column: 8))
        #expect(definition.errors[1].position == TextPosition(line: 31, column: 7))
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
        guard case .enumeration(let mode) = definition.types[1].type else {
            Issue.record("Mode is no enumeration")
            return
        }
        #expect(
            mode.values.map(\.documentation)
                == ["The first value.", "", "The last value,\non two lines."])
        #expect(mode.values[2].position == TextPosition(line: 21, column: 3))
        #expect(definition.methods[0].documentation == "")
        #expect(definition.methods[1].documentation == "Another.")
    }

    @Test(arguments: ["\n", "\r\n", "\r", "\u{2028}", "\u{2029}"])
    func `the standard's line ends end lines and comments`(end: String) throws {
        let lines = ["# Doc", "interface a.b", "", "type T (x: int)", "method A() -> () y"]
        let error = #expect(throws: DefinitionError.self) {
            try InterfaceDefinition(lines.joined(separator: end))
        }
        #expect(error?.description == "5:18: expected the end of the line, found 'y'")
        let definition = try InterfaceDefinition(lines.dropLast().joined(separator: end))
        #expect(definition.documentation == "Doc")
        #expect(definition.types.map(\.name) == ["T"])
    }

    @Test func `the standard's blanks are blanks`() throws {
        let text = "\u{FEFF}interface\u{A0}a.b\ntype\tT\u{3000}(x\u{2003}:\u{202F}int ,y:int)"
        #expect(
            try InterfaceDefinition(text).types[0].type.description == "(x: int, y: int)")
    }

    @Test(arguments: ["a.b", "A1.2b", "x-y.z-9", "a--b.c--d", "xn--lgbbat1ad8j.example"])
    func `every name of an interface that the standard has is read`(name: String) throws {
        #expect(try InterfaceDefinition("interface \(name)\ntype A ()").name == name)
    }

    @Test(
        arguments: [
            "a", ".a.b", "a.", "a..b", "a.b.", "1a.b", "-a.b", "a-.b", "a.-b", "a.b-", "a_b.c",
            "a.b_c", "ä.b",
        ])
    func `no other name of an interface is read`(name: String) throws {
        let error = #expect(throws: DefinitionError.self) {
            try InterfaceDefinition("interface \(name)\ntype A ()")
        }
        #expect(error?.position.line == 1)
    }
}
