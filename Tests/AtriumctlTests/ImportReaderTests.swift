import AtriumFormats
import Foundation
import TestSupport
import Testing

@testable import atriumctl

@Suite struct `Files of an import` {
    /// The pieces that a file is read as.
    private func pieces(_ data: Data, format: TextFormat? = nil) throws -> [FormatPiece] {
        let folder = try TemporaryDirectory()
        var reader = try ImportReader(try folder.write("file", data), format: format)
        var pieces: [FormatPiece] = []
        while let piece = try reader.next() { pieces.append(piece) }
        return pieces
    }

    private func rows(_ data: Data) throws -> [[String]] {
        try pieces(data).map { if case .row(let cells) = $0.content { cells } else { [] } }
    }

    private func recognized(_ text: String) -> TextFormat {
        TextFormat.recognize(Array(text.utf8)[...])
    }

    @Test(arguments: [
        (#"{"id":"a","fields":{}}"#, TextFormat.ndjson), ("", .ndjson),
        ("{\"id\":\"a\"}\n{\"id\":\"b\"}", .ndjson), ("{\"id\":\n{\"id\":\"b\"}", .ndjson),
        (#"{"id":"a","cast":[{"name":"x"}]}"#, .ndjson), (#"{"atrium":1,"all":true}"#, .ndjson),
        ("[\n{}]", .json), (" [1]", .json), ("{\n  \"films\": [", .json),
        (#"{"count":1,"data":{"films":[{"id":"a"}]}}"#, .json),
        ("{\"data\": {\"films\": [\n{\"id\":\"a\"}]}}", .json),
        ("{\"films\":[{\"id\":\"a\"},\n{\"id\":\"b\"}]}", .json), ("id,title\n", .csv), ("x", .csv),
    ])
    func `are recognized by how they begin`(text: String, format: TextFormat) {
        #expect(recognized(text) == format)
    }

    @Test(arguments: [",", ";", "\t"])
    func `a table's cells are separated by what its first row has most`(delimiter: String) throws {
        let text = [["id", "a title"], ["1", "A \"B\(delimiter)\"\r\nC"], ["2", " é "]]
            .map { row in
                row.map {
                    $0.contains("\"") ? "\"\($0.replacing("\"", with: "\"\""))\"" : $0
                }.joined(separator: delimiter)
            }.joined(separator: "\r\n")
        let expected = [["1", "A \"B\(delimiter)\"\r\nC"], ["2", " é "]]
        #expect(try rows(Data(text.utf8)) == expected)
        #expect(try rows(Data((text + "\r\n\r\n").utf8)) == expected)
        #expect(try rows(Data("sep=\(delimiter)\r\n\(text)".utf8)) == expected)
    }

    @Test func `a table may stand below a title, and a small one below that`() throws {
        let table = "id,title\n1,One\n2,\"Two, too\"\n"
        let expected = [["1", "One"], ["2", "Two, too"]]
        #expect(try rows(Data("My list\n\n\(table)".utf8)) == expected)
        #expect(
            try rows(Data("List export v7\nDate,Name\n2024,\"A\n\nB\"\n\n\(table)".utf8))
                == expected)
        #expect(try rows(Data("id\n\na\nb\n".utf8)) == [["a"], ["b"]], "one column is a table")
        let code = "id,code\n1,\"=\"\"007\"\"\"\n2,=\"0\"\n"
        #expect(try rows(Data(code.utf8)).first == ["1", "007"])
    }

    @Test func `rows know their lines, and a bad one does not take the next along`() throws {
        let text = "a,b\n1,\"x\n\ny\"\n2,\"x\"z,3\n4,5\n6\n\n7,\"8\n"
        let found = try pieces(Data(text.utf8))
        #expect(found.map(\.line) == [2, 5, 6, 7, 9])
        #expect(found[0].content == .row(["1", "x\n\ny"]))
        #expect(found[2].content == .row(["4", "5"]))
        let reasons = found.compactMap { piece in
            if case .bad(let problem) = piece.content { problem.description } else { nil }
        }
        try #require(reasons.count == 3)
        #expect(reasons[0].hasPrefix("line 5, column 6: text behind the closing quote"))
        #expect(reasons[1].hasPrefix("line 7: 1 value, where the first row names 2 columns"))
        #expect(reasons[2] == "line 9, column 3: a quote is opened here and never closed")
    }

    @Test func `a value in another encoding is named where it begins`() throws {
        var bytes: [UInt8] = []
        // Behind each of these stands a byte that is not UTF-8.
        for text in ["a,b\né,1\n2,x", "\n3,\"x\n", "\"\n", ",4\n5,"] {
            bytes += Array(text.utf8)
            bytes.append(0xFF)
        }
        let places = try pieces(Data(bytes)).map { piece -> String? in
            guard case .bad(let problem) = piece.content else { return nil }
            return problem.place
        }
        #expect(
            places == [
                nil, "line 3, column 3", "line 4, column 3", "line 6, column 1", "line 7, column 3",
            ])
    }

    @Test(arguments: [
        String.Encoding.utf8, .utf16LittleEndian, .utf16BigEndian, .windowsCP1252,
    ])
    func `letters are those of the file's encoding, marked or not`(encoding: String.Encoding) throws
    {
        let text = "id;title\n1;Amélie – “Œuvre” €\n"
        let marks: [String.Encoding: [UInt8]] = [
            .utf8: [0xEF, 0xBB, 0xBF], .utf16LittleEndian: [0xFF, 0xFE],
            .utf16BigEndian: [0xFE, 0xFF],
        ]
        let data = try #require(text.data(using: encoding))
        let expected = [["1", "Amélie – “Œuvre” €"]]
        #expect(try rows(data) == expected)
        #expect(try rows(Data(marks[encoding] ?? []) + data) == expected)
    }

    @Test func `a surrogate pair that two pieces share stays one letter`() throws {
        let text = "id,title\n1,\(String(repeating: "🎬", count: 100_000))\n"
        let data = try #require(text.data(using: .utf16LittleEndian))
        #expect(try rows(data) == [["1", String(repeating: "🎬", count: 100_000)]])
    }

    @Test func `what gzip packed is unpacked, also several files behind each other`() async throws {
        let folder = try TemporaryDirectory()
        let line = #"{"id":"a","fields":{"title":"\#(String(repeating: "x", count: 500_000))"}}"#
        try folder.write("one", line + "\n")
        let packing = "gzip -c one > packed && gzip -c one >> packed && head -c 500 packed > cut"
        let done = try await run(["sh", "-c", "cd \(folder.path) && \(packing)"])
        #expect(done.status == 0, "\(done)")
        var reader = try ImportReader("\(folder.path)/packed")
        #expect(try reader.next()?.content == .json(Array(line.utf8)))
        #expect(try reader.next()?.line == 2)
        #expect(try reader.next() == nil)
        #expect(reader.position == reader.size)
        let failure = try #require(
            #expect(throws: CommandFailure.self) {
                var cut = try ImportReader("\(folder.path)/cut")
                while try cut.next() != nil {}
            })
        #expect(failure.sentence.hasSuffix("cut: it ends in the middle: the file is cut off"))
    }

    @Test(arguments: [
        ("PK\u{3}\u{4}…", "spreadsheet's own file"), ("<!doctype html>", "XML or HTML"),
        ("%PDF-1.4\n1 0 obj\n", "is a PDF document"), ("BZh91AY&SY", "is packed by bzip2"),
        ("null", "one value of JSON"), ("\"x\"\n", "one value of JSON"),
        ("17", "one value of JSON"),
        ("a\u{1}b\u{2}c\u{3}\n", "no text: 3 of its first 7 bytes are control characters"),
        ("a\0b", "no text: line 1 has a NUL byte"), ("", "is empty"), (" \n\n", "is empty"),
        ("[{\"id\": 1},\n{\"id\":", "cut off in line 2"),
        ("{\n\"a\": [1, \"[{\"]}", "no array of items"), ("[]\n[]", "line 2, column 1"),
    ])
    func `what can't be imported is named`(text: String, part: String) throws {
        let failure = try #require(
            #expect(throws: CommandFailure.self) { try pieces(Data(text.utf8)) })
        #expect(failure.sentence.contains(part), "\(failure)")
    }

    @Test(arguments: [
        "id\n", "\"id\"\n", "title", "id\na\u{1}\n", "id,title\na,one \u{2} in a longer text\n",
    ])
    func `a table without items, or with an odd character, is one`(text: String) throws {
        #expect(throws: Never.self) { try pieces(Data(text.utf8)) }
    }

    @Test func `elements of an array know where they begin`() throws {
        let found = try pieces(Data("[\n {\"a\": \"],\\\"}\"},\n  3 , [1, {}]\n]\n".utf8))
        #expect(found.map { [$0.line, $0.column] } == [[2, 2], [3, 3], [3, 7]])
        #expect(found[0].content == .json(Array("{\"a\": \"],\\\"}\"}".utf8)))
    }
}
