import JSONCodec
import Testing

/// What is JSON for this reader, and what is not: one text a line.
@Suite struct AcceptanceTests {
    static let accepted: [(text: String, value: JSONValue)] = [
        ("null", nil), (" true ", true), ("false", false),
        ("0", 0), ("-1", -1), ("-0", 0), ("10", 10),
        ("9223372036854775807", .int(.max)), ("-9223372036854775808", .int(.min)),
        ("9223372036854775808", .double(9_223_372_036_854_775_808)),
        ("1.5", 1.5), ("3.0", .double(3)), ("1e3", .double(1_000)), ("1E-2", 0.01),
        ("0.1", 0.1), ("-0.0", .double(-0.0)), ("1e-400", .double(0)),
        ("1.7976931348623157e308", .double(.greatestFiniteMagnitude)),
        ("4.9406564584124654e-324", .double(.leastNonzeroMagnitude)),
        (#""""#, ""), (#""a\"b\\c\/d\b\f\n\r\t""#, "a\"b\\c/d\u{8}\u{C}\n\r\t"),
        (#""\u00e9\u20AC\ud83d\uDE00""#, "é€😀"), (#""é€😀""#, "é€😀"),
        (#""\u0000""#, "\0"), ("\"\u{7F}\"", "\u{7F}"),
        ("[]", []), ("[ ]", []), ("[1, [2],\n\t\r{}]", [1, [2], [:]]),
        ("{}", [:]), (#"{"a":1,"b":{"a":[null]}}"#, ["a": 1, "b": ["a": [nil]]]),
        (#"{"b":1,"a":2,"":3}"#, ["b": 1, "a": 2, "": 3]),
    ]

    @Test(arguments: accepted.indices)
    func `a JSON text reads as its value`(index: Int) throws {
        let (text, value) = Self.accepted[index]
        #expect(try JSON.decode(JSONValue.self, from: text) == value)
        // Skipping checks the same grammar by other means.
        #expect(skipped(Array(text.utf8)) == nil)
    }

    static let refused: [(text: String, sentence: String)] = [
        ("", "expected a value, found the end of the text (at byte 0)"),
        ("\u{FEFF}1", "expected a value, found the byte 0xef (at byte 0)"),
        ("nul", "expected null, found 'n' (at byte 0)"),
        ("nulL", "expected null, found 'n' (at byte 0)"),
        ("1 2", "expected the end of the text, found '2' (at byte 2)"),
        ("truefalse", "expected the end of the text, found 'f' (at byte 4)"),
        ("01", "expected no digit after a leading zero, found '1' (at byte 1)"),
        ("-", "expected a digit, found the end of the text (at byte 1)"),
        ("+1", "expected a value, found '+' (at byte 0)"),
        ("1.", "expected a digit, found the end of the text (at byte 2)"),
        (".5", "expected a value, found '.' (at byte 0)"),
        ("1e", "expected a digit, found the end of the text (at byte 2)"),
        ("1e+", "expected a digit, found the end of the text (at byte 3)"),
        (
            "[1e400]",
            "[0]: expected a number within the range of a 64-bit float, found one beyond it "
                + "(at byte 1)"
        ),
        ("NaN", "expected a value, found 'N' (at byte 0)"),
        ("\"a", "expected the end of the string, found the end of the text (at byte 2)"),
        ("\"a\nb\"", "expected an escape for a control character, found the byte 0x0a (at byte 2)"),
        (
            #""\x""#,
            #"expected one of " \ / b f n r t u after the backslash, found '\' (at byte 1)"#
        ),
        ("[1,]", "[1]: expected a value, found ']' (at byte 3)"),
        ("[1 2]", "[0]: expected a comma or the end of the array, found '2' (at byte 3)"),
        ("[,1]", "[0]: expected a value, found ',' (at byte 1)"),
        (
            "[1",
            "[0]: expected a comma or the end of the array, found the end of the text (at byte 2)"
        ),
        ("{a:1}", "expected the name of a member in quotes, found 'a' (at byte 1)"),
        (#"{"a" 1}"#, "a: expected a colon, found '1' (at byte 5)"),
        (#"{"a":1,}"#, "expected the name of a member in quotes, found '}' (at byte 7)"),
        (#"{"a":1 "b":2}"#, "a: expected a comma or the end of the object, found '\"' (at byte 7)"),
        (#"{"a":1]"#, "a: expected a comma or the end of the object, found ']' (at byte 6)"),
        (
            #"{"x":[0,{"a":1,"\u0061":2}]}"#,
            "x[1].a: expected each member once, found it a second time (at byte 15)"
        ),
    ]

    @Test(arguments: refused.indices)
    func `what is not JSON is refused with where and why`(index: Int) {
        let (text, sentence) = Self.refused[index]
        let error = #expect(throws: JSONError.self) {
            try JSON.decode(JSONValue.self, from: text)
        }
        #expect(error?.description == sentence)
        #expect(skipped(Array(text.utf8))?.description == sentence)
    }

    @Test(arguments: [
        #""\ud800""#, #""\udc00""#, #""\ud800\u0041""#, #""\ud800x""#, #""\u12g4""#, #""\u12""#,
    ])
    func `escapes that make no character are refused`(text: String) {
        let error = #expect(throws: JSONError.self) { try JSON.decode(String.self, from: text) }
        #expect(error?.kind == .syntax)
        #expect(error?.offset == 1)
    }

    @Test(arguments: [
        [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xC3],
        [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82],
        [0xF0, 0x9F, 0x98, 0x22],
    ])
    func `bytes that are not UTF-8 are refused`(bytes: [UInt8]) {
        let text: [UInt8] = [0x22] + bytes + [0x22]
        let error = #expect(throws: JSONError.self) { try JSON.decode(String.self, from: text) }
        #expect(error?.expected == "UTF-8")
        #expect(error?.offset == 1)
        #expect(skipped(text)?.expected == "UTF-8")
    }

    @Test func `nesting is accepted up to the limit and no deeper`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        _ = try JSON.decode(JSONValue.self, from: nested(64))
        let error = #expect(throws: JSONError.self) {
            try JSON.decode(JSONValue.self, from: nested(65))
        }
        #expect(error?.kind == .depth)
        #expect(error?.expected == "nesting no deeper than 64")
        _ = try JSON.decode(JSONValue.self, from: nested(65), depthLimit: 65)
        // A million levels must neither crash nor be let in by a careless limit.
        #expect(throws: JSONError.self) {
            try JSON.decode(JSONValue.self, from: nested(1_000_000), depthLimit: .max)
        }
        #expect(skipped(Array(nested(1_000_000).utf8))?.kind == .depth)
    }

    @Test func `a name that stands twice among many is found`() {
        let names = (0..<1_000).map { "\"n\($0)\":0" } + ["\"n7\":1"]
        let text = "{" + names.joined(separator: ",") + "}"
        let error = #expect(throws: JSONError.self) {
            try JSON.decode(JSONValue.self, from: text)
        }
        #expect(error?.kind == .duplicateMember)
        #expect(error?.path == "n7")
        #expect(skipped(Array(text.utf8))?.path == "n7")
    }
}

/// What skipping the whole text throws; nil when it is accepted.
func skipped(_ text: [UInt8]) -> JSONError? {
    text.withUnsafeBytes { bytes in
        var reader = JSONReader(bytes)
        do throws(JSONError) {
            try reader.skipValue()
            try reader.end()
            return nil
        } catch {
            return error
        }
    }
}
