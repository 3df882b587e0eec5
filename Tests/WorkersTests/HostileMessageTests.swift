import AtriumKit
import Host
import Interfaces
import JSONCodec
import Testing

@testable import Workers

/// What a worker may send that no encoder makes: it is read, or is an error, and never ends the daemon.
@Suite struct `A message that was made to do harm` {
    private func read<Message: Decodable>(
        _ type: Message.Type, _ text: String
    ) throws -> Message {
        try Wire.decode(type, from: Array(text.utf8))
    }

    private func read(_ text: String) throws -> WorkerMessage { try read(WorkerMessage.self, text) }

    /// Some members with ASCII names, and two that have one name in two spellings.
    private func spelledTwice(beside count: Int, _ value: String) -> String {
        let names = (0..<count).map { "\"\($0)\"" } + ["\"é\"", "\"e\u{301}\""]
        return "{" + names.map { "\($0):\(value)" }.joined(separator: ",") + "}"
    }

    @Test(arguments: [0, 10, 40])
    func `has a name twice, in two spellings`(count: Int) {
        let object = spelledTwice(beside: count, "0")
        let whole = "{\"publishes\":{\"_0\":\"x\",\"_1\":\(object)}}"
        let within = "{\"publishes\":{\"_0\":\"x\",\"_1\":{\"a\":[\(object)]}}}"
        let tally = "{\"count\":0,\"histogram\":\(object)}"
        let members = "{\"raised\":{\"_0\":[{\"tally\":{\"_0\":null,\"_1\":\(tally)}}]}}"
        let message = spelledTwice(beside: count, "{}")
        // Found where a text is expected.
        let found = "{\"logs\":{\"_0\":\"info\",\"_1\":\(object)}}"
        for text in [whole, within, members, message, found] {
            #expect(throws: WireError.self) { try read(text) }
        }
        // ASCII has a second spelling too: the sign for kelvins is a K.
        for names in [["K", "\u{212A}"], ["\u{212A}", "K"]] {
            let object = "{\"\(names[0])\":1,\"\(names[1])\":2}"
            #expect(throws: WireError.self) {
                try read("{\"publishes\":{\"_0\":\"x\",\"_1\":\(object)}}")
            }
            #expect(throws: WireError.self) { try read([String: Int].self, object) }
        }
    }

    @Test(arguments: [
        "1.5", "4.0", "1e3", "9223372036854775808", "-9223372036854775809", "1e400", "\"4\"",
        "true", "null", "[]", "{}", "\"nan\"",
    ]) func `has something else than a whole number`(number: String) {
        #expect(throws: WireError.self) { try read(WorkerAnswer.self, tooLong(number)) }
        #expect(throws: WireError.self) { try read(Timestamp.self, number) }
    }

    private func tooLong(_ number: String) -> String { "{\"tooLong\":{\"bytes\":\(number)}}" }

    @Test(arguments: [
        ("-9223372036854775808", Int.min), ("9223372036854775807", Int.max), ("-0", 0),
    ]) func `has the last whole numbers that there are`(text: String, number: Int) throws {
        #expect(try read(WorkerAnswer.self, tooLong(text)) == .tooLong(bytes: number))
    }

    @Test(arguments: [
        "null", "[]", "1", "\"done\"", "{}", "{\"later\":{}}",
        "{\"done\":{},\"tooLong\":{\"bytes\":1}}",
        "{\"done\":{},\"done\":{}}", "{\"tooLong\":null}", "{\"tooLong\":[]}", "{\"tooLong\":{}}",
        "{\"restored\":{\"_0\":[null],\"isLast\":true}}",
        "{\"restored\":{\"_0\":{},\"isLast\":true}}",
        "{\"answered\":{\"_0\":{\"ballotsOf\":{\"_0\":[[]]}}}}",
        "{\"answered\":{\"_0\":{\"filters\":{\"_0\":[null]}}}}", "", "{", "\u{0}",
    ]) func `is no answer`(text: String) {
        #expect(throws: WireError.self) { try read(WorkerAnswer.self, text) }
    }

    @Test(arguments: [
        "", "=", "====", "A", "AA", "AAA", "AA=A", "é", "\u{0}\u{0}\u{0}\u{0}", "A A A A ",
    ])
    func `has bytes that are none, or nearly some`(text: String) {
        let message = String(
            decoding: Wire.encode(["keeps": ["_0": text]]).bytes,
            as: UTF8.self)
        // Whether it is lenient is Foundation's affair.
        guard case .keeps(let bytes) = try? read(message) else { return }
        #expect(bytes?.count ?? 0 <= text.utf8.count)
    }

    @Test func `nests as deep as it may, or deeper`() throws {
        func filter(_ depth: Int) -> String {
            String(repeating: "{\"not\":{\"_0\":", count: depth) + "{\"all\":{}}"
                + String(repeating: "}}", count: depth)
        }
        func predicate(_ depth: Int) -> Predicate {
            (0..<depth).reduce(Predicate.all) { predicate, _ in .not(predicate) }
        }
        #expect(try read(Predicate.self, filter(127)) == predicate(127))
        #expect(throws: WireError.self) { try read(Predicate.self, filter(128)) }
        let lists = { String(repeating: "[", count: $0) + String(repeating: "]", count: $0) }
        #expect(throws: Never.self) { try read(Value.self, lists(Wire.nesting)) }
        for depth in [Wire.nesting + 1, 1 << 20] {
            #expect(throws: WireError.self) { try read(Value.self, lists(depth)) }
        }
    }
}
