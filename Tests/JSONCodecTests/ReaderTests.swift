import JSONCodec
import Testing

/// A type that reads itself as generated ones do.
private struct Film: JSONCodable, Equatable {
    var id: String
    var year: Int?
    var fields: JSONObject

    init(json: inout JSONReader) throws(JSONError) {
        var (id, year, fields): (String?, Int?, JSONObject?) = (nil, nil, nil)
        var others = JSONKeySet()
        try json.beginObject()
        while let key = try json.nextKey() {
            switch key {
            case "id": id = try json.readString()
            case "year": year = try Int?(json: &json)
            case "fields": fields = try JSONObject(json: &json)
            default: try json.skipUnknownMember(key, among: &others)
            }
        }
        guard let id else { throw json.missingMember("id") }
        guard let fields else { throw json.missingMember("fields") }
        (self.id, self.year, self.fields) = (id, year, fields)
    }

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.key("id")
        json.string(id)
        if let year {
            json.key("year")
            json.int(year)
        }
        json.key("fields")
        fields.write(to: &json)
        json.endObject()
    }
}

@Suite struct ReaderTests {
    private func failure(_ text: String, allowsUnknownMembers: Bool = false) -> JSONError? {
        do throws(JSONError) {
            _ = try JSON.decode(
                [String: [Film]].self, from: text, allowsUnknownMembers: allowsUnknownMembers)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a type reads its members in any order, escaped names too`() throws {
        let film = try JSON.decode(
            Film.self, from: #"{"fields": {"a": [1, "x y"]}, "i\u0064": "m", "year": null}"#)
        #expect(film.id == "m")
        #expect(film.year == nil)
        #expect(film.fields.text == #"{"a":[1,"x y"]}"#)
        #expect(JSON.encode(film) == Array(#"{"id":"m","fields":{"a":[1,"x y"]}}"#.utf8))
    }

    @Test func `an error names the place in the document's words`() {
        let wrong = failure(#"{"films": [{"id": "a", "fields": {}}, {"id": 7, "fields": {}}]}"#)
        #expect(wrong?.kind == .type)
        #expect(wrong?.path == "films[1].id")
        #expect(wrong?.member == "films")
        #expect(
            wrong?.description == "films[1].id: expected a string, found a number (at byte 45)")
        let missing = failure(#"{"films": [{"id": "a"}]}"#)
        #expect(missing?.kind == .missingMember)
        #expect(missing?.path == "films[0].fields")
        #expect(
            missing?.description
                == "films[0].fields: expected a value, found no such member (at byte 22)")
        #expect(failure(#"{"films": [{"id": "a", "fields": []}]}"#)?.path == "films[0].fields")
        #expect(failure(#"{"a": [], "a": []}"#)?.path == "a")
        #expect(failure("[]")?.path == "")
    }

    @Test func `undeclared members are refused unless they are allowed`() {
        let text = #"{"films": [{"id": "a", "fields": {}, "titel": {"x": [1]}}]}"#
        #expect(failure(text)?.kind == .unknownMember)
        #expect(failure(text)?.path == "films[0].titel")
        #expect(failure(text, allowsUnknownMembers: true) == nil)
        let twice = #"{"films": [{"id": "a", "fields": {}, "x": 1, "x": 2}]}"#
        #expect(failure(twice, allowsUnknownMembers: true)?.kind == .duplicateMember)
    }

    @Test func `integers are exact or refused`() throws {
        #expect(try JSON.decode(Int.self, from: "-9223372036854775808") == .min)
        #expect(try JSON.decode(Int.self, from: "9223372036854775807") == .max)
        for text in ["3.0", "1e2", "9223372036854775808", "-9223372036854775809", "1e999999999"] {
            let error = #expect(throws: JSONError.self) { try JSON.decode(Int.self, from: text) }
            #expect(error?.kind == .value, "\(text)")
        }
        for text in ["true", "null", "\"3\"", "[3]"] {
            let error = #expect(throws: JSONError.self) { try JSON.decode(Int.self, from: text) }
            #expect(error?.kind == .type, "\(text)")
        }
    }

    @Test func `a tree keeps the digits of whole numbers if it is to`() throws {
        let text = """
            [12345678901234567890, -9223372036854775809, 9223372036854775807, -9223372036854775808,
             1e20, 12345678901234567890.0, {"a": 100000000000000000000000}]
            """
        #expect(
            try JSONValue(keepingDigits: Array(text.utf8))
                == [
                    "12345678901234567890", "-9223372036854775809", .int(.max), .int(.min),
                    .double(1e20), .double(12345678901234567890.0),
                    ["a": "100000000000000000000000"],
                ])
        #expect(throws: JSONError.self) { try JSONValue(keepingDigits: Array("[1] 2".utf8)) }
    }

    @Test func `numbers read as the nearest double`() throws {
        let texts = [
            "0.1", "123456789012345678", "1e22", "1e23", "9007199254740993", "0.30000000000000004",
            "2.2250738585072011e-308", "8.5e-5", "179769313486231570000e288", "1234.5678e-20",
            "0.000000000000000000000000000000000000000000000000000001",
        ]
        for text in texts {
            #expect(try JSON.decode(Double.self, from: text) == Double(text), "\(text)")
        }
        #expect(throws: JSONError.self) { try JSON.decode(Double.self, from: "1e309") }
        #expect(throws: JSONError.self) { try JSON.decode(Double.self, from: "-1e99999999999") }
        #expect(throws: JSONError.self) { try JSONObject(#"{"a": 1e309}"#) }
    }

    @Test func `a raw value is the text as it stands, checked`() throws {
        let text = Array(#" {"a" : [1, 2]} , "#.utf8)
        try text.withUnsafeBytes { bytes in
            var reader = JSONReader(bytes)
            let raw = try reader.rawValue()
            #expect(String(decoding: raw, as: UTF8.self) == #"{"a" : [1, 2]}"#)
            #expect(throws: JSONError.self) { try reader.end() }
        }
    }

    @Test func `every text cut short is refused without a crash`() throws {
        let text = Array(
            #"{"films":[{"id":"\u00e9\n","year":-1.5e3,"fields":{"a":[true,null]}}]}"#.utf8)
        for length in text.indices {
            #expect(throws: JSONError.self) {
                try JSON.decode(JSONValue.self, from: Array(text[..<length]))
            }
            #expect(skipped(Array(text[..<length])) != nil)
        }
        #expect(skipped(text) == nil)
    }

    @Test func `an unknown case is refused with those that are known`() throws {
        enum State: String, CaseIterable { case shown, removed }
        let text = Array(#"{"state": "gone"}"#.utf8)
        let error = try text.withUnsafeBytes { bytes -> JSONError? in
            var reader = JSONReader(bytes)
            try reader.beginObject()
            _ = try reader.nextKey()
            return #expect(throws: JSONError.self) { try reader.readCase(of: State.self) }
        }
        #expect(
            error?.description == "state: expected one of shown, removed, found 'gone' (at byte 10)"
        )
    }

    @Test(arguments: [
        "1E400", "-\(String(repeating: "9", count: 400))", #"{"a":1,"a":2,"\u0061":3}"#,
        #""\ud800""#, #"["\udc00\ud800\ud800"]"#, "\"\(String(repeating: "\u{301}", count: 129))\"",
    ])
    func `JSON of any size is passed over as it stands, and can't be read`(text: String) throws {
        #expect(throws: JSONError.self) { try JSON.decode(JSONValue.self, from: text) }
        #expect(skipped(Array(text.utf8)) != nil)
        try Array("[\(text),1E400]".utf8).withUnsafeBytes { bytes in
            var json = JSONReader(bytes)
            try json.beginArray()
            #expect(try json.nextElement())
            #expect(try json.rawValueOfAnySize().elementsEqual(text.utf8))
            // What comes behind it is held to the limits again.
            #expect(try json.nextElement())
            #expect(throws: JSONError.self) { try json.skipValue() }
        }
    }

    @Test(arguments: [
        "1E", "01", "-", #"{"a":1,}"#, "[1", #""\u12g4""#, #""\ud80""#, "\"\u{1}\"", "nul",
        String(repeating: "[", count: 65) + String(repeating: "]", count: 65),
    ])
    func `what is not JSON is not passed over`(text: String) {
        Array(text.utf8).withUnsafeBytes { bytes in
            var json = JSONReader(bytes)
            #expect(throws: JSONError.self) { _ = try json.rawValueOfAnySize() }
        }
    }

    @Test func `skimming a value ends where reading it does`() throws {
        let values = [
            "1", "-2.5e3", "true", "null", #""a\"b\\""#, #""\u00e9{[""#, "[]", "{}",
            #"[1, {"a": [2]}, "]"]"#,
            #"{ "a" : { "}" : "\\" } , "b" : [ [ ] ] }"#,
            #""\#(String(repeating: "ä", count: 40))""#,
        ]
        for value in values {
            for text in ["\(value)", " \(value) ,1", "\(value)]", "\(value)}"] {
                let ends = try Array(text.utf8).withUnsafeBytes { bytes in
                    var (skim, read) = (JSONReader(bytes), JSONReader(bytes))
                    let skimmed = try skim.skimValue()
                    #expect(try read.rawValue().elementsEqual(skimmed))
                    return (skim.offset, read.offset)
                }
                #expect(ends.0 == ends.1, "\(text)")
            }
        }
        for text in ["", " ", "{", #"{"a":[1}"#, #""a"#, #""a\"#, #"["a\"]"#] {
            Array(text.utf8).withUnsafeBytes { bytes in
                var json = JSONReader(bytes)
                #expect(throws: JSONError.self, "\(text)") { _ = try json.skimValue() }
            }
        }
    }

    @Test(arguments: [1, 8, 9, 16, 17, 40, 1_000])
    func `a name that is there twice is found among any number, however it is written`(
        count: Int
    ) throws {
        let names = (0..<count).map { "n\($0)" }
        func text(_ names: [String]) -> String {
            "{" + names.map { "\"\($0)\":1" }.joined(separator: ",") + "}"
        }
        let escaped = names.map { #"\u006e"# + $0.dropFirst() }
        for written in [names, escaped] {
            #expect(try JSON.decode(JSONValue.self, from: text(written)).object?.count == count)
            for other in [names, escaped] {
                for twice in Set([0, count / 2, count - 1]) {
                    let wrong = text(written + ["m", other[twice]])
                    #expect(throws: JSONError.self, "\(twice)") {
                        _ = try JSON.decode(JSONValue.self, from: wrong)
                    }
                }
            }
        }
    }

    @Test(arguments: [
        (String(repeating: "[", count: 100), String(repeating: "[0]", count: 64)),
        (
            String(repeating: #"{"a":"#, count: 64) + "{]",
            String(repeating: ".a", count: 64).dropFirst().description
        ),
        (
            #"{"\#(String(repeating: "n", count: 130))":[1,?]}"#,
            String(repeating: "n", count: 120) + "…[1]"
        ),
        (#"[[1,{"a":2}],{"b":[\#(String(repeating: "[],", count: 80))?]}]"#, "[1].b[80]"),
    ])
    func `the path of an error has 64 steps at most, and long names are cut`(
        text: String, path: String
    ) {
        let error = #expect(throws: JSONError.self) {
            try JSON.decode(JSONValue.self, from: text)
        }
        #expect(error?.path == path)
    }

    @Test func `what is deeper than the path of an error is left out of it`() {
        let text = String(repeating: "[", count: 100) + "?"
        Array(text.utf8).withUnsafeBytes { bytes in
            var reader = JSONReader(bytes, depthLimit: 1_000)
            let error = #expect(throws: JSONError.self) { try reader.skipValue() }
            #expect(error?.path == String(repeating: "[0]", count: 64) + "…")
        }
    }

    @Test func `a value is skimmed only as deep as the limit`() {
        for (depth, isRefused) in [(64, false), (65, true)] {
            let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            Array(text.utf8).withUnsafeBytes { bytes in
                var reader = JSONReader(bytes, depthLimit: 64)
                do throws(JSONError) {
                    _ = try reader.skimValue()
                    #expect(!isRefused)
                } catch {
                    #expect(isRefused && error.kind == .depth)
                }
            }
        }
    }
}
