/// Definitions, good and bad: members of an interface, or whole texts where they name one themselves.
enum Corpus {
    /// A text that one parser reads and the other one does not.
    struct Difference: Sendable {
        let text: String
        let why: String

        init(_ text: String, _ why: String) {
            self.text = text
            self.why = why
        }
    }

    /// A whole definition.
    static func complete(_ text: String) -> String {
        text.contains("interface") ? text : "interface org.example.test\n\(text)"
    }

    static let readByBoth = [
        "type A ()", "type A (x: int)", "type A (x : int , y:string)", "type A(x:int)",
        "type A (\n  x: int # one\n  ,\n  # two\n  y: int\n)", "type A (a, b)", "type A (a,b,c)",
        "type A (x: bool, y: int, z: float, s: string, o: object)",
        "type A (x: ?int, y: []int, z: [string]int, s: [string]())",
        "type A (x: [][]int, y: [string][string]int, z: ?[]?[string]?int)",
        "type A (x: (a, b), y: (x: int, y: (z: ?(a, b))))", "type A (x: [](a, b), y: ?())",
        "type A (x: B)\ntype B (y: ?A)", "type A (x: []A)", "type A (type: string, method: int)",
        "type A (bool: bool, int: int, string: string, object: object)",
        "type A (a1: int, a_b: int, aB_2c: int, A: int)", "type A (xint: int, booleans: bool)",
        "method A() -> ()", "method A()->()", "method A () -> ()", "method A()\n  ->\n  ()",
        "method A(x: int) -> (y: int)", "method A(\n# c\nx: int) # d\n-> (y: int)",
        "error A ()", "error A()", "error A (why: string, detail: object)",
        "# c\ntype A ()\n# d\n\n# e\nmethod B() -> ()\n# at the end", "\n\n\ttype A ()\n\n",
        "# ünïcode ✓\ntype A ()", "type Interface (foo: ?[]?[string](foo, bar, baz))",
        "interface a.b\ntype A ()", "interface org.example.a-b\ntype A ()",
        "interface org.example.9\ntype A ()", "interface xn--lgbbat1ad8j.example\ntype A ()",
        "# doc\n\n# more\ninterface a.b # behind\ntype A ()", "interface\n a.b\ntype A ()",
    ]

    static let refusedByBoth = [
        "type a ()", "type A_b ()", "type 1A ()", "type ()", "type A", "type A (", "type A (x",
        "type A (x:)", "type A (x: int", "type A (x: int,)", "type A (,)", "type A (a,)",
        "type A (x: int, y)", "type A (x, y: int)", "type A (x: ??int)", "type A (x: ?)",
        "type A (x: [])", "type A (x: [string])", "type A (x: [int]int)", "type A (x: [ ]int)",
        "type A (x: [string ]int)", "type A (x: integer)", "type A (x: Int_)", "type A (x int)",
        "type A (x:: int)", "type A (x_: int)", "type A (_x: int)", "type A (x__y: int)",
        "type A (1x: int)", "type A (ä: int)", "type A [x: int]", "types A ()", "typeA ()",
        "method A()", "method A() ->", "method A() -> int", "method A -> ()", "method a() -> ()",
        "method A() - > ()", "method A() => ()", "method A(x) -> ()", "error A", "error a ()",
        "error A (", "class A ()", "A ()", "x", "type A ())", "type A () ;", "interface",
        "interface a", "interface a.\ntype A ()", "interface a..b\ntype A ()",
        "interface .a.b\ntype A ()", "interface 1a.b\ntype A ()", "interface a.b-\ntype A ()",
        "interface a.-b\ntype A ()", "interface a_b.c\ntype A ()", "interface (a.b)\ntype A ()",
    ]

    static let readByUs = [
        Difference("type A (x: any)", "any is newer than their parser"),
        Difference("type A (one)", "an enumeration of one value: their parser wants a comma"),
        Difference("type A ()\r\ntype B ()", "lines may end in a carriage return and a line feed"),
        Difference("type A ()\rtype B ()", "lines may end in a carriage return"),
        Difference("type A ()\u{2028}type B ()", "lines may end in U+2028"),
        Difference("type\u{A0}A ()", "a blank may be another one than the two of ASCII"),
        Difference("\u{FEFF}interface a.b\ntype A ()", "a byte order mark is a blank"),
        Difference("interface com2.example\ntype A ()", "a domain may have a digit"),
        Difference("interface a-b.example\ntype A ()", "a domain may have a hyphen"),
    ]

    static let readByThem = [
        Difference("interface a.b", "an interface has at least one member"),
        Difference("interface a.b type A ()", "the interface's name ends its line"),
        Difference("type A () type B ()", "a member ends its line"),
        Difference("type A int", "a type is a structure or an enumeration"),
        Difference("type A []int", "a type is a structure or an enumeration"),
        Difference("error A string", "an error carries a structure"),
        Difference("error A (a, b)", "an error carries a structure"),
        Difference("method A(a, b) -> ()", "a method takes a structure"),
        Difference("method A() -> (a, b)", "a method answers a structure"),
        Difference("type A (x: B)", "a type that is named is defined"),
        Difference("type A (x: int, x: int)", "a field has a name of its own"),
        Difference("type A (x, x)", "a value has a name of its own"),
        Difference("type A ()\ntype A ()", "a type has a name of its own"),
        Difference("type A ()\nmethod A() -> ()", "types and methods share their names"),
        Difference("error A ()\nmethod A() -> ()", "errors and methods share their names"),
        Difference("type A (x: ? int)", "nothing stands between '?' and its type"),
        Difference("type A (x: [] int)", "nothing stands between '[]' and its type"),
        Difference(
            "type A (x: \(String(repeating: "[]", count: 100))int)",
            "a limit of ours: types nest up to 64 levels"),
    ]
}
