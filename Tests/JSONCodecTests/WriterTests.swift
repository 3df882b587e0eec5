import JSONCodec
import Testing

@Suite struct WriterTests {
    private func text(_ value: some JSONWritable) -> String {
        String(decoding: JSON.encode(value), as: UTF8.self)
    }

    @Test func `values are written without whitespace, commas where they belong`() {
        var json = JSONWriter()
        json.beginObject()
        json.key("a")
        json.beginArray()
        json.int(1)
        json.beginObject()
        json.endObject()
        json.beginArray()
        json.endArray()
        json.raw(Array("{}".utf8))
        json.null()
        json.endArray()
        json.key("b\"" as String)
        json.bool(true)
        json.key("c")
        json.string("x")
        json.endObject()
        #expect(
            String(decoding: json.bytes, as: UTF8.self)
                == #"{"a":[1,{},[],{},null],"b\"":true,"c":"x"}"#)
    }

    @Test func `what was written stays while the memory grows, and memory is used again`() {
        var json = JSONWriter()
        #expect(json.bytes.isEmpty)
        #expect(json.capacity == 0)
        for _ in 0..<2 {
            let texts = [1, 255, 256, 257, 10_000].map { String(repeating: "x", count: $0) }
            json.beginArray()
            for text in texts {
                json.string(text)
                json.raw([])
            }
            json.endArray()
            json.endMessage()
            let text = texts.map { "\"\($0)\"," }.joined(separator: ",")
            #expect(String(decoding: json.bytes, as: UTF8.self) == "[\(text)]\0")
            #expect(json.count == text.utf8.count + 3)
            #expect(json.capacity > json.count)
            json.removeAll()
            #expect(json.bytes.isEmpty)
        }
    }

    @Test func `a member that was written can be taken back`() {
        var json = JSONWriter()
        json.beginObject()
        let start = json.count
        json.key("a")
        json.string("é\n")
        json.truncate(to: start)
        json.key("b")
        json.int(-1)
        json.endObject()
        json.truncate(to: 1_000)
        #expect(String(decoding: json.bytes, as: UTF8.self) == #"{"b":-1}"#)
    }

    @Test func `strings are escaped only where they must be`() {
        let value = "\"\\/\u{0}\u{8}\u{C}\n\r\t\u{1F}\u{7F}é😀"
        #expect(text(value) == #""\"\\/\u0000\b\f\n\r\t\u001f"# + "\u{7F}é😀\"")
        #expect(text("") == "\"\"")
    }

    @Test func `numbers are the shortest that read back the same`() throws {
        #expect(text(4.0) == "4")
        #expect(text(-0.0) == "-0.0")
        #expect(text(0.1) == "0.1")
        #expect(text(1e300) == "1e+300")
        #expect(text(9_007_199_254_740_991.0) == "9007199254740991")
        #expect(text(Double.nan) == "null")
        #expect(text(-Double.infinity) == "null")
        #expect(text(Int.min) == "-9223372036854775808")
        #expect(text(Int.max) == "9223372036854775807")
        #expect(text(0) == "0")
        for value in [
            .leastNonzeroMagnitude, .greatestFiniteMagnitude, 1.0 / 3, 1e21, 0x1p53, 0x1p63, -1e-7,
        ] {
            #expect(try JSON.decode(Double.self, from: text(value)) == value)
        }
    }

    @Test func `dictionaries of any size are written sorted`() throws {
        for count in [2, 3, 16, 17, 100] {
            let names = (0..<count).map { "n\($0 * 7919 % 1_000) a name too long for a word" }
            let values = Dictionary(uniqueKeysWithValues: names.map { ($0, $0.count) })
            let members = names.sorted().map { "\"\($0)\":\($0.count)" }
            #expect(
                String(decoding: JSON.encode(values), as: UTF8.self)
                    == "{\(members.joined(separator: ","))}")
        }
    }

    @Test func `dictionaries are written sorted`() {
        #expect(text(["b": 1, "a": 2, "c": 3]) == #"{"a":2,"b":1,"c":3}"#)
        #expect(text([1, nil, 3] as [Int?]) == "[1,null,3]")
    }

    @Test func `a pretty text is a member a line`() {
        let value: JSONValue = ["a": [1, ["b": nil]], "e": [], "o": [:], "s": "\n"]
        let expected = """
            {
              "a": [
                1,
                {
                  "b": null
                }
              ],
              "e": [],
              "o": {},
              "s": "\\n"
            }
            """
        #expect(JSON.pretty(value) == expected)
    }

    @Test func `a tree is changed by name and index`() {
        var value: JSONValue = ["a": 1, "b": [true]]
        value["a"] = 2.5
        value["c"] = "x"
        value["b"] = nil
        #expect(value == ["a": 2.5, "c": "x"])
        #expect(value["a"]?.double == 2.5)
        #expect(value["c"]?.string == "x")
        #expect(value["z"] == nil)
        #expect(value[0] == nil)
        #expect(JSONValue.array([1])[0]?.int == 1)
        #expect(JSONValue.array([1])[1] == nil)
        #expect(JSONValue.bool(true).bool == true)
    }

    @Test func `an object keeps its text and gives its tree`() throws {
        let object = try JSONObject(" {\"b\": \"a \\\" b\",\n \"a\": 1.50} ")
        #expect(object.text == #"{"b":"a \" b","a":1.50}"#)
        #expect(object.value == ["b": "a \" b", "a": 1.5])
        #expect(JSONObject(["x": 1] as JSONValue)?.text == #"{"x":1}"#)
        #expect(JSONObject([1] as JSONValue) == nil)
        #expect(JSONObject.empty.isEmpty)
        #expect(JSONObject(writing: ["a": 1]) == ["a": 1])
        #expect(JSONObject(writing: 1) == nil)
        let error = #expect(throws: JSONError.self) { try JSONObject("[]") }
        #expect(error?.description == "expected an object, found an array (at byte 0)")
    }
}
