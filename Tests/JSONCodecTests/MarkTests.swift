import JSONCodec
import Testing

/// Strings whose marks would take for ever to be put in order are refused, wherever they stand.
@Suite struct MarkTests {
    private static let many = String(repeating: "\u{301}\u{327}", count: 64)

    private func refusal(of text: String) -> String? {
        do {
            _ = try JSON.decode(JSONValue.self, from: text)
            return nil
        } catch {
            return error.description
        }
    }

    @Test func `128 marks in a row are read, and as many again behind a letter`() throws {
        let text = "e" + Self.many + "o" + Self.many
        #expect(try JSON.decode(String.self, from: "\"\(text)\"") == text)
    }

    @Test(
        arguments: [
            "e\(many)\u{301}", "\(many)\u{5B0}", String(repeating: "\\u0301", count: 129),
            String(repeating: "\u{F73}", count: 129), "e\(many)\\u0327 and more",
        ])
    func `one more is refused as a value, as a name and within what is skipped`(text: String) throws
    {
        let expected = "at most 128 combining marks in a row"
        #expect(refusal(of: "\"\(text)\"")?.contains(expected) == true)
        #expect(refusal(of: "{\"\(text)\":1}")?.contains(expected) == true)
        #expect(throws: JSONError.self) { try JSONObject(Array("{\"a\":[\"\(text)\"]}".utf8)) }
    }

    @Test func `a run is counted wherever it begins, within letters and among shorter runs`() throws
    {
        for start in 0..<520 {
            let letters = String(repeating: "x", count: start)
            let few = letters + Self.many + "o" + Self.many + "오"
            #expect(refusal(of: "\"\(few)\"") == nil, "behind \(start) letters")
            #expect(refusal(of: "\"\(few)\(Self.many)\u{5B0}o\"") != nil, "behind \(start) letters")
        }
    }

    @Test func `letters of any length are no marks`() throws {
        let text = String(repeating: "é한が", count: 10_000)
        #expect(try JSON.decode(String.self, from: "\"\(text)\"") == text)
    }
}
