import TestSupport
import Testing

@testable import atriumctl

@Suite struct `A column of codes or of days in a definition for a file` {
    private static let codes = "text, to keep codes as they are"

    /// What becomes of a column of a table that has these values.
    private static func choice(_ values: [String]) throws -> ColumnProfile.Choice {
        let folder = try TemporaryDirectory()
        let rows = values.enumerated().map { "\($0.offset),\($0.element)\n" }.joined()
        let path = try folder.write("table.csv", "id,Value\n" + rows)
        let column = try FileProfile(path).columns.first { $0.name == "Value" }
        return try #require(column).choice
    }

    @Test(arguments: [
        ["+4922812345", "+4922812346"], ["1.10", "1.1"], ["1.9", "1.10", "1.11"],
        ["12345678901234567890", "12345678901234567891"], ["9007199254740993", "1"],
        ["1E5", "10E4"], ["7", "1e5"], ["2.50", "2.5", "3"],
    ])
    func `is text where a number would not be written back as it was`(values: [String]) throws {
        #expect(try Self.choice(values) == .init(type: "text", note: Self.codes))
    }

    @Test(arguments: [["007", "12"], ["00.5", "1.5"], ["-01", "12"]])
    func `is text where a number begins with a zero`(values: [String]) throws {
        let note = "text, to keep leading zeros"
        #expect(try Self.choice(values) == .init(type: "text", note: note))
    }

    @Test(arguments: [
        (["1.50", "2.00", "12.75"], "number"), (["5", "12.50", "4.25"], "number"),
        (["1.0", "2.25", "0.125"], "number"), (["8.5", "8.75"], "number"),
        (["-0.5", "0.25"], "number"), (["9007199254740992", "-3", "0"], "integer"),
    ])
    func `is one of numbers where these stay what they are`(
        values: [String], type: String
    ) throws {
        #expect(try Self.choice(values) == .init(type: type))
    }

    @Test func `of JSON is one of numbers, in whatever form these are written`() throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write(
            "items.json", #"[{"id": "a", "n": 1e20}, {"id": "b", "n": 1.5}, {"id": "c", "n": 2.0}]"#
        )
        let column = try FileProfile(path).columns.first { $0.name == "n" }
        #expect(column?.choice == .init(type: "number"))
    }

    @Test func `with a decimal comma is one of numbers, whatever zeros are at their ends`() throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write("preise.csv", "id;Preis\n1;24,90\n2;19,5\n")
        let column = try FileProfile(path).columns.first { $0.name == "Preis" }
        #expect(column?.choice == .init(type: "number"))
    }

    @Test(arguments: [
        ["2020-01-31", "0000-00-00"], ["2020-02-30", "2020-01-31"], ["2021/2/29", "2020/2/29"],
        ["0000-00-00", "0000-00-00"], ["2024-13-01", "2024-02-29"],
    ])
    func `is text where a day does not exist, and says so`(values: [String]) throws {
        let note = "text, as it has days that do not exist; without them, a time"
        #expect(try Self.choice(values) == .init(type: "text", note: note))
    }
}
