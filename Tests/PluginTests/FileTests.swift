import AtriumKit
import AtriumKitTesting
import File
import Foundation
import Testing

/// A list that is a file.
@Suite final class FileTests {
    private let folder = FileManager.default.temporaryDirectory.appending(
        path: "atrium-file-\(UUID().uuidString)")
    private let fields: [Field] = [
        Field(name: "title", type: .text, required: true), Field(name: "year", type: .integer),
        Field(name: "length", type: .duration), Field(name: "genres", type: .keywords),
        Field(name: "rating", type: .number, min: 0, max: 10), Field(name: "out", type: .time),
    ]

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func write(_ name: String, _ text: String) throws {
        try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
    }

    /// A list of a file, read.
    private func list(
        _ name: String, _ text: String?, _ settings: [String: Value] = [:]
    ) async throws -> MemoryHost {
        if let text { try write(name, text) }
        let path = Value.text(folder.appending(path: name).path(percentEncoded: false))
        let host = try MemoryHost(
            FileListing.self, settings: settings.merging(["path": path]) { given, _ in given },
            fields: fields)
        await host.settle()
        return host
    }

    private func items(_ host: MemoryHost) -> [String: Item] {
        var items: [String: Item] = [:]
        for case .contents(.insert(let some)) in host.restore([]) {
            for item in some { items[item.id] = item }
        }
        return items
    }

    private func change(_ host: MemoryHost, _ name: String, _ text: String) async throws {
        try write(name, text)
        host.touch(folder.appending(path: name).path(percentEncoded: false))
        await host.settle()
    }

    @Test func `a table, lines and an array have the same items`() async throws {
        let expected = [
            "a": Item(
                id: "a",
                fields: [
                    "title": "Alien", "year": 1979, "length": 7020,
                    "genres": ["horror", "science-fiction"],
                ]),
            "b": Item(id: "b", fields: ["title": "Brazil, too", "rating": 7.5], parent: "a"),
        ]
        let table = """
            ID;Title;Year;Length;Genres;Rating;Parent;Note
            a;Alien;1979;1h57m;horror | science-fiction;;;seen
            b;"Brazil, too";;;;7,5;a;
            """
        let first =
            #"{"id":"a","title":"Alien","year":1979,"length":"1h57m","genres":["horror","science-fiction"],"x":0}"#
        let second = #"{"id":"b","fields":{"title":"Brazil, too","rating":"7.5"},"parent":"a"}"#
        for (name, text) in [
            ("films.csv", table), ("films.ndjson", "\(first)\n\n\(second)\n"),
            ("films.json", "[\(first),\n \(second)]"),
            ("films", #"{"films": [\#(first),\#(second)]}"#),
            ("films.txt", "\u{FEFF}\(table)"),
        ] {
            let host = try await list(name, text)
            #expect(host.services.problem == nil)
            #expect(items(host) == expected, "\(name)")
        }
    }

    @Test func `settings say where ids and fields are`() async throws {
        let table = try await list(
            "a.csv", "Name,Year,Tags\nAmélie,2001,x/y\n",
            [
                "id": "Name,Year", "fields": ["title": "name", "genres": "Tags"], "separator": "/",
            ])
        #expect(
            items(table)["amelie-2001"]?.fields
                == ["title": "Amélie", "year": 2001, "genres": ["x", "y"]])
        let json = try await list(
            "a.json",
            #"[{"key": 7, "names": [{"en": "Seven"}], "dates": {"out/first": "1995-09-22"}, "in": {"series": 3}}]"#,
            [
                "id": "key", "parent": "/in/series",
                "fields": ["title": "/names/0/en", "out": "/dates/out~1first"],
            ])
        #expect(
            items(json)
                == [
                    "7": Item(
                        id: "7", fields: ["title": "Seven", "out": "1995-09-22"], parent: "3")
                ])
    }

    @Test func `true, false and whole numbers are words in texts and keywords`() async throws {
        let host = try await list(
            "a.json",
            #"[{"id": "a", "title": true, "genres": 1984}, {"id": "b", "title": 7, "genres": false}]"#
        )
        #expect(host.services.problem == nil)
        #expect(items(host)["a"]?.fields == ["title": "true", "genres": ["1984"]])
        #expect(items(host)["b"]?.fields == ["title": "7", "genres": ["false"]])
    }

    @Test func `only what differs is reported`() async throws {
        let host = try await list("a.csv", "id,title\na,A\nb,B\nc,C\n")
        #expect(host.events == [.contents(.replaceAll)])
        try await change(host, "a.csv", "id,title\nb,B!\nd,D\na,A\n")
        #expect(
            host.events.dropFirst() == [
                .contents(.insert([Item(id: "d", fields: ["title": "D"])])),
                .contents(.update([Item(id: "b", fields: ["title": "B!"])])),
                .contents(.remove(["c"])),
            ])
        host.reload()
        await host.settle()
        #expect(host.events.count == 4, "a file that is the same is told of no more")
        let many = "id,title\n" + (0..<2_000).map { "i\($0),T\n" }.joined()
        try await change(host, "a.csv", many)
        #expect(host.events.last == .contents(.replaceAll))
        #expect(items(host).count == 2_000)
    }

    @Test(arguments: [
        ("a.csv", "id,title\na,A\nb,\"B\n", "line 3, column 3: a quote is opened here"),
        ("a.csv", "id,title\na,A\nb\n", "line 3: 1 value, where the first row names 2 columns"),
        ("a.csv", "id,title,year\na,A,MMXX\n", "line 2, column 3: 'year': expected a whole number"),
        ("a.csv", "id,title,rating\na,A,11\n", "'rating': expected 10 at most, found '11'"),
        ("a.csv", "id,title\na,A\nb,\n", "line 3: there is no 'title', which every item has"),
        ("a.csv", "id,title\na,A\n ,B\n", "line 3: there is no id: nothing stands in 'id'"),
        (
            "a.csv", "id,title\na,A\na,B\n",
            "line 3: the id 'a' stands here again; it is that of line 2"
        ),
        ("a.csv", "", "it is empty"), ("a.csv", "\n \n", "it is empty"),
        ("a.csv", "i\0d\0", "it is UTF-16, not UTF-8; `iconv -f UTF-16LE -t UTF-8` converts it."),
        ("a.ndjson", "{\0\"\0", "it is UTF-16, not UTF-8"),
        (
            "a.csv", "key,title\na,A\n",
            "line 1: there is no column 'id', which the setting 'id' names"
        ),
        (
            "a.json", "[{\"id\": \"a\",\n  \"title\" \"A\"}]",
            "line 2, column 11: title: expected a colon"
        ),
        ("a.json", "[{\"id\": \"a\", \"title\": 1.5}]", "title: expected a text, found '1.5'"),
        (
            "a.json", "[{\"id\": \"a\", \"title\": \"A\",\n  \"rating\": 12345678901234567890}]",
            "line 1, column 2: rating: expected a number that a 64-bit float holds exactly "
                + "(a field of the type text keeps every digit), found '12345678901234567890'"
        ),
        (
            "a.ndjson",
            "{\"id\": \"a\", \"title\": \"A\"}\n{\"id\": \"b\", \"title\": \"B\", \"year\": -9223372036854775809}\n",
            "line 2, column 1: year: expected a whole number from -9007199254740992 to "
                + "9007199254740992, found '-9223372036854775809'"
        ),
        ("a.json", "[{\"id\": \"a\"", "the array is not closed"),
        (
            "a.json", "[{\"id\": \"a\", \"title\": \"A\"},\n,{}]",
            "line 2, column 1: expected an element of the array, found ','"
        ),
        (
            "a.json", "[{\"id\": \"a\", \"title\": \"A\"},\n ]",
            "line 2, column 2: expected an element of the array, found ']'"
        ),
        (
            "a.csv", "id,title,length\na,A,999999999999999999999:00\n",
            "line 2, column 3: 'length': expected a duration"
        ),
        (
            "a.ndjson", "{\"id\":\"a\",\"title\":\"A\"}\n[1]\n",
            "line 2, column 1: expected an object"
        ),
        ("a", "PK\u{3}\u{4}", "a spreadsheet's own file"),
    ])
    func `a broken file keeps the last good copy, and its problem says where`(
        name: String, text: String, problem: String
    ) async throws {
        let good = name == "a.csv" ? "id,title\nx,X\n" : #"{"id":"x","title":"X"}"#
        let host = try await list(name, name == "a.json" ? "[\(good)]" : good)
        #expect(items(host).keys.sorted() == ["x"])
        try await change(host, name, text)
        let said = try #require(host.services.problem)
        #expect(said.contains(problem), "\(said)")
        #expect(said.hasPrefix(folder.path(percentEncoded: false)), "\(said)")
        #expect(items(host).keys.sorted() == ["x"])
        try await change(host, name, name == "a.json" ? "[]" : good)
        #expect(host.services.problem == nil)
    }

    @Test func `limits are those of the settings`() async throws {
        let lines =
            "id,title\n"
            + (0..<30_000).map { "i\($0),\(String(repeating: "x", count: 40))\n" }
            .joined()
        let many = try await list("a.csv", lines, ["maxItems": 100])
        #expect(many.services.problem?.contains("line 102: here begins one item more") == true)
        let large = try await list("a.csv", lines, ["maxMegabytes": 1])
        #expect(
            large.services.problem?.contains("it is larger than the setting 'maxMegabytes'") == true
        )
        #expect(large.events.isEmpty, "what nobody knows is not empty")
    }

    @Test func `a file may be yet to come, and go`() async throws {
        let host = try await list("a.csv", nil)
        #expect(host.services.problem?.hasSuffix("a.csv: it is not there") == true)
        #expect(host.events.isEmpty)
        try await change(host, "a.csv", "id,title\na,A\n")
        #expect(host.services.problem == nil && items(host).count == 1)
        try FileManager.default.removeItem(at: folder.appending(path: "a.csv"))
        host.touch(folder.appending(path: "a.csv").path(percentEncoded: false))
        await host.settle()
        #expect(host.services.problem?.hasSuffix("it is not there") == true)
        #expect(items(host).count == 1)
    }

    @Test func `a folder may be named, and the file in it`() async throws {
        try write("b.csv", "id,title\na,A\n")
        let path = Value.text(folder.path(percentEncoded: false))
        let host = try await list("b.csv", nil, ["path": path, "file": "b.csv"])
        #expect(items(host).count == 1)
        let none = try await list("b.csv", nil, ["path": path])
        #expect(
            none.services.problem?.hasSuffix(
                "it is no file: name one in it with the setting 'file'") == true)
    }

    @Test func `nobody puts or removes items, and it says where they are changed`() async throws {
        let host = try await list("a.csv", "id,title\na,A\n")
        let refusal = try #require(
            #expect(throws: Refusal.self) {
                try host.run(.putItems([Item(id: "b", fields: ["title": "B"])]))
            })
        #expect(refusal.code == .readOnly && refusal.reason.contains("a.csv"))
        #expect(throws: Refusal.self) { try host.run(.removeItems(["a"])) }
    }

    @Test(
        arguments: [
            (["file": "../b"], "file"), (["delimiter": ";;"], "delimiter"), (["id": ""], "id"),
            (["fields": ["titel": "Name"]], "fields.titel"),
            (["fields": ["title": 1]], "fields.title"),
            (["fields": ["title": "/a~2"]], "fields.title"), (["format": "xml"], "format"),
            (["path": "films.csv"], "path"),
        ] as [([String: Value], String)])
    func `settings that make no sense are named`(settings: [String: Value], name: String) throws {
        let error = try #require(
            #expect(throws: SettingError.self) {
                _ = try MemoryHost(
                    FileListing.self, settings: ["path": "/none"].merging(settings) { $1 },
                    fields: fields)
            })
        #expect(error.setting == name, "\(error)")
    }

    @Test func `it conforms`() async throws {
        try write("a.ndjson", "")
        let path = Value.text(folder.appending(path: "a.ndjson").path(percentEncoded: false))
        let report = try await Conformance.run(FileListing.self, settings: ["path": path])
        #expect(report.rules.count > 5)
    }
}
