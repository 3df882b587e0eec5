import JSONCodec
import Testing

/// Objects of whole numbers.
@Suite struct CountsTests {
    private func text(_ counts: JSONCounts) -> String {
        String(decoding: JSON.encode(counts), as: UTF8.self)
    }

    @Test(arguments: ["{}", #"{"4":1}"#, #"{"4":-1,"4.5":0,"a\"":9223372036854775807}"#])
    func `an object is the same as a dictionary and as text`(object: String) throws {
        let members = Array(object.utf8.dropFirst().dropLast())
        let read: JSONCounts = try JSON.decode(from: object)
        let written = JSONCounts(checkedMembers: members)
        #expect(read == written && read.hashValue == written.hashValue)
        #expect(read == JSONCounts(read.dictionary))
        #expect(text(read) == object && text(written) == object)
        #expect(Array(written).count == read.dictionary.count)
    }

    @Test func `members are found by name`() {
        let counts: JSONCounts = ["4": 1, "5": 2]
        #expect(counts["5"] == 2 && counts["6"] == nil)
        #expect(JSONCounts(checkedMembers: Array(#""4":1"#.utf8))["4"] == 1)
    }

    @Test(arguments: [#"{"4":1.5}"#, #"{"4":1,"4":2}"#, "[]", "null", #"{"4":"1"}"#])
    func `anything else is refused`(text: String) {
        #expect(throws: JSONError.self) { _ = try JSON.decode(from: text) as JSONCounts }
    }
}
