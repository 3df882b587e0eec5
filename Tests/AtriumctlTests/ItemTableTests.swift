import Interfaces
import JSONCodec
import Testing

@testable import atriumctl

@Suite struct `Items in a list` {
    private static let fields = [
        field("name", "text"), field("words", "keywords"), field("length", "duration"),
        field("cover", "image"),
    ]

    private static func field(_ name: String, _ type: String) -> Field {
        .init(name: name, type: type, required: false, search: false)
    }

    private static func item(
        _ id: String, _ values: JSONValue, votes: VoteTally? = nil
    ) throws -> Item {
        .init(id: id, fields: try #require(JSONObject(values)), votes: votes, comments: 0)
    }

    private static func lines(_ present: Present?, chosen: [String]? = nil) throws -> [String] {
        let items = [
            try item(
                "a",
                [
                    "name": "Ark", "words": ["x", "y"], "length": 90,
                    "cover": "data:image/png;base64,AAAA",
                ], votes: .init(count: 2, score: 4.5, histogram: [:]))
        ]
        var table = ItemTable(fields: fields, present: present, chosen: chosen, items: items)
        for item in items { table.add(item) }
        return table.table.lines(width: nil)
    }

    @Test func `a definition says which columns there are, in which order`() throws {
        #expect(
            try Self.lines(Present(title: "name", columns: ["votes.count", "length"]))
                == ["ID  NAME  VOTERS  LENGTH", "a   Ark        2   1m30s"])
    }

    @Test func `without its word there are all but pictures`() throws {
        #expect(
            try Self.lines(nil)
                == [
                    "ID  NAME  WORDS  LENGTH    VOTES  COMMENTS",
                    "a   Ark   x, y    1m30s  4.5 (2)         0",
                ])
    }

    @Test func `who names fields gets these alone, and no picture's bytes`() throws {
        #expect(
            try Self.lines(Present(columns: []), chosen: ["cover", "nothing"])
                == ["ID  COVER", "a   data:image/png"])
    }

    @Test func `a narrow terminal has the id, to be typed, and what an item is called`() throws {
        let item = try Self.item(
            "the-shawshank-redemption-1994", ["name": "The Shawshank Redemption", "length": 90])
        var table = ItemTable(fields: Self.fields, present: nil, items: [item])
        table.add(item)
        #expect(
            table.table.lines(width: 63) == [
                "ID                             NAME                      LENGTH",
                "the-shawshank-redemption-1994  The Shawshank Redemption   1m30s",
            ])
        #expect(table.table.note(width: 63)?.hasPrefix("no room for: comments; ") == true)
        #expect(
            table.table.lines(width: 45) == [
                "ID                             NAME",
                "the-shawshank-redemption-1994  The Shawshank…",
            ])
        #expect(table.table.note(width: 45)?.hasPrefix("no room for: length, comments; ") == true)
    }

    @Test func `CSV has the values as they are, and import takes them back`() throws {
        let csv = ItemCSV(
            .init(title: "Things", fields: Self.fields, comments: nil), chosen: nil)
        #expect(csv.header == "id,name,words,length,cover,parent")
        let item = try Self.item(
            "b", ["name": "Say \"no\"\nor, yes", "words": ["a, b"], "length": 90])
        #expect(csv.row(item) == "b,\"Say \"\"no\"\"\nor, yes\",\"a, b|\",90,,")
        let shape = ItemShape(container: "things", fields: Self.fields, wishes: .init())
        let table = try TableShape(["id", "name", "words", "votes.score", "parent"], shape)
        let back = try table.item(["b", "Ark", "a, b|", "4.5", ""])
        #expect(back.fields.value["words"] == ["a, b"])
        #expect(back.fields.value["votes.score"] == nil)
    }

    @Test func `of two columns that mean the same one can be left out`() throws {
        var shape = ItemShape(container: "things", fields: Self.fields, wishes: .init())
        let columns = ["id", "name", "Name"]
        let same = #expect(throws: CommandFailure.self) { try TableShape(columns, shape) }
        #expect(same?.hint == "--ignore 'Name' leaves the second out.")
        shape = ItemShape(
            container: "things", fields: Self.fields, wishes: .init(ignored: ["Name"]))
        let item = try TableShape(columns, shape).item(["b", "Ark", "Other"])
        #expect(item.fields.value["name"] == "Ark")
        // Without a column of just that name all are meant.
        let none = try TableShape(["id", "NAME", "n-a-m-e"], shape).item(["b", "Ark", "Other"])
        #expect(none.fields.value["name"] == nil)
        let twice = #expect(throws: CommandFailure.self) {
            try TableShape(["id", "words", "words"], shape)
        }
        #expect(twice?.hint == "give one of them another name.")
    }

    @Test func `a table that goes on keeps its columns`() {
        var table = Table([.text("id"), .number("n")])
        table.add(["long-name", "1"])
        table.keepLayout(width: nil)
        table.add(["b", "2"])
        #expect(table.lines(width: nil) == ["ID         N", "b          2"])
    }
}
