import ArgumentParser
import Foundation
import Interfaces
import JSONCodec
import TestSupport
import Testing

@testable import atriumctl

@Suite struct `A definition for a file` {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Golden").path

    /// The text for a file beside it, `diary.csv` and `diary.yaml`.
    private static func definition(_ path: String) throws -> DefinitionText {
        let name = DefinitionText.name(for: path)
        var definition = DefinitionText(
            profile: try FileProfile(path), path: path, name: name, output: "\(name).yaml")
        definition.path = path.split(separator: "/").last.map(String.init) ?? path
        return definition
    }

    /// Made anew with UPDATE_GOLDEN=1.
    @Test(arguments: [
        "diary.csv", "watchlist.csv", "lager.csv", "schedule.json", "games.tsv", "albums.ndjson",
        "members.csv", "favourites.csv", "books.csv", "preise.csv", "sheet.txt", "library.json",
    ])
    func `is what people would write`(file: String) throws {
        let definition = try Self.definition("\(Self.folder)/\(file)")
        let golden = "\(Self.folder)/\(definition.name).yaml"
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
            try definition.text.write(toFile: golden, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOfFile: golden, encoding: .utf8) == definition.text)
    }

    @Test func `may let the list be the file`() throws {
        var definition = try Self.definition("\(Self.folder)/diary.csv")
        definition.followed = "/srv/diary.csv"
        #expect(!definition.text.contains("atriumctl import"))
        let lines = definition.text.split(separator: "\n").map(String.init)
        let start = try #require(lines.firstIndex(of: "  - name: list"))
        #expect(lines[start + 1] == "    plugin: org.atrium.file")
        #expect(lines[start + 2].hasPrefix("    settings: { path: \"/srv/diary.csv\""))
        #expect(!definition.text.contains("org.atrium.catalog"))
    }

    @Test(arguments: [
        ("My Films/Diary 2024.csv.gz", "diary-2024"), ("Größen.csv", "grossen"),
        ("2024.csv", "items"),
        ("фильмы.csv", "items"), ("daemon.csv", "items"), ("daemons.csv", "daemons"),
    ])
    func `is named after it`(path: String, name: String) {
        #expect(DefinitionText.name(for: path) == name)
    }

    @Test(arguments: [("Größen-und_Maße.csv", "Größen und Maße"), ("фильмы.csv", "Фильмы")])
    func `keeps accents in titles`(file: String, title: String) throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write(file, "Nr;Größe (cm);Titel\n1;12;Heat\n2;13;Alien\n")
        let text = try Self.definition(path).text
        #expect(text.contains("\ntitle: \"\(title)\"\n"), "\(text)")
        #expect(text.contains("grosse-cm: { type: integer, title: \"Größe (cm)\" }\n"), "\(text)")
    }

    @Test func `has fields for columns without Latin letters, which import finds`() throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write(
            "films.csv", "id,名前,,2024,column 2,評価\na,七人の侍,,x,p,1\nb,生きる,,y,q,2\n")
        var definition = try Self.definition(path)
        for line in [
            "  column-2-other: { type: text, required: true, search: true, title: \"名前\" }\n",
            "  column-4:       { type: text, search: true, title: \"2024\" }\n",
            "  column-6:       { type: integer, title: \"評価\" }\n",
            "present: { title: column-2-other }\n",
        ] {
            #expect(definition.text.contains(line), "\(line): \(definition.text)")
        }
        #expect(definition.importWords == ["import", "films", "films.csv"])
        definition.followed = "/srv/films.csv"
        #expect(
            definition.text.contains(
                "fields: { column-2-other: \"名前\", column-4: \"2024\", column-6: \"評価\" } }"),
            "\(definition.text)")
        func field(_ name: String, _ title: String? = nil) -> Field {
            Field(name: name, type: "text", required: false, search: false, title: title)
        }
        let shape = ItemShape(
            container: "films",
            fields: [
                field("column-2-other", "名前"), field("column-4", "2024"), field("column-2"),
                field("column-6", "評価"), field("a", "Two"), field("b", "Two"),
            ], wishes: .init())
        let table = try TableShape(["id", "名前", "", "2024", "column 2", "評価"], shape)
        let item = try table.item(["a", "七人の侍", "", "x", "p", "1"])
        #expect(item.fields.value["column-2-other"] == "七人の侍")
        #expect(item.fields.value["column-2"] == "p")
        #expect(item.fields.value["column-6"] == "1")
        #expect(shape.role(of: "Two") == nil, "it may be either")
    }

    @Test func `of a folder of music is a jukebox`() throws {
        let folder = try TemporaryDirectory()
        _ = try folder.write("My Music/notes.txt", "nothing to hear")
        let path = folder.path + "/My Music"
        #expect(throws: CommandFailure.self) { try MusicFolder(path) }
        _ = try folder.write("My Music/An album/01.FLAC", "")
        _ = try folder.write("My Music/02.mp3", "")
        let text = try MusicFolder(path).definition(name: "my-music", output: "my-music.yaml")
        #expect(text.contains("2 files of music"))
        #expect(text.contains("container: my-music\ntitle: My music\n"))
        #expect(text.contains("    plugin: org.atrium.music\n    settings: { folder: \""))
    }

    @Test func `has no fields where a file has ids alone`() throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write("ids.json", #"[{"id": "a"}, {"id": "b"}]"#)
        #expect(try Self.definition(path).text.contains("\nfields: {}\ncomponents:\n"))
    }

    @Test func `a name that is none is refused before anything is written`() async throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write("ok.csv", "id,title\na,A\n")
        let output = folder.path + "/out.yaml"
        for (name, problem) in [
            ("Foo", "'Foo' is no name"), ("daemon", "the name 'daemon' is reserved"),
        ] {
            let command = try InitCommand.parse([path, "--name", name, "-o", output, "--yes"])
            let failure = await #expect(throws: CommandFailure.self) { try await command.run() }
            #expect(failure?.sentence == problem)
        }
        #expect(!FileManager.default.fileExists(atPath: output))
    }

    @Test func `makes no folder, and takes none for a file`() async throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write("ok.csv", "id,title\na,A\n")
        for (output, problem) in [
            (folder.path + "/missing/out.yaml", "No such file or directory"),
            (folder.path, "is a folder"),
        ] {
            let command = try InitCommand.parse(
                [path, "-o", output, "--socket", folder.path + "/none"])
            let failure = await #expect(throws: CommandFailure.self) { try await command.run() }
            #expect(failure?.sentence.contains(problem) == true)
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/missing"))
    }

    @Test func `columns whose names are no words in YAML are quoted`() throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write("odd.csv", "id,n,Yes,off\na,1,x,p\nb,2,x,p\nc,3,y,q\nd,4,y,q\n")
        let text = try Self.definition(path).text
        for line in [
            "\n  \"n\":   { type", "\n  \"yes\": { type", "id: \"off\", title", "field: \"off\",",
        ] {
            #expect(text.contains(line), "\(line): \(text)")
        }
    }

    @Test func `a container whose name is no word in YAML is quoted`() throws {
        let folder = try TemporaryDirectory()
        for name in ["no", "null", "y"] {
            let path = try folder.write("\(name).csv", "id,title\na,A\n")
            let text = try Self.definition(path).text
            #expect(text.contains("\ncontainer: \"\(name)\"\n"), "\(text)")
            _ = try folder.write("\(name)/a.mp3", "")
            let jukebox = try MusicFolder("\(folder.path)/\(name)")
                .definition(name: name, output: "x.yaml")
            #expect(jukebox.contains("\ncontainer: \"\(name)\"\n"), "\(jukebox)")
        }
    }

    @Test func `texts and keywords are searched, dates that stayed text are not`() throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write(
            "films.csv",
            """
            id,title,director,tags,seen,notes,year
            a,Alien,Scott,space|horror,03/04/2021,Great,1979
            b,Heat,Mann,crime|space,04/04/2021,,1995
            c,Ronin,Scott,crime,05/04/2021,Cars,1998

            """)
        let text = try Self.definition(path).text
        for line in [
            "title:    { type: text, required: true, search: true }\n",
            "director: { type: text, search: true }\n",
            "tags:     { type: keywords, search: true }",
            "seen:     { type: text }", "notes:    { type: text, search: true }",
            "year:     { type: integer }\n",
            "# A search looks at the fields with 'search: true': all texts and keywords",
        ] {
            #expect(text.contains(line), "\(line): \(text)")
        }
    }

    @Test func `the words that import a file are no options, and name columns that can be named`()
        throws
    {
        let folder = try TemporaryDirectory()
        let path = try folder.write(
            "-x.csv", "\"last,first\",-code,n\nA,q1,1\nB,q2,1\nC,q3,2\n")
        let definition = try Self.definition(path)
        #expect(definition.importWords == ["import", "x", "./-x.csv", "--id=-code"])
    }

    @Test(arguments: [
        ("title,Title\nA,b\n", "the columns 'title' and 'Title' mean the same"),
        ("a,a,b\nA,b,c\n", "the columns 'a' and 'a' mean the same"),
        ("\"a,b\"\nX\n", "no column makes ids"),
    ])
    func `what import would refuse is refused at once`(table: String, problem: String) async throws
    {
        let folder = try TemporaryDirectory()
        let path = try folder.write("same.csv", table)
        let command = try InitCommand.parse([path, "--output", "-"])
        let failure = await #expect(throws: CommandFailure.self) { try await command.run() }
        #expect(failure?.sentence.hasSuffix(problem) == true, "\(failure as Any)")
    }

    @Test func `a file that holds no item is refused`() throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write("empty.csv", "id,title\n")
        #expect(throws: CommandFailure.self) { try FileProfile(file) }
    }

    @Test(arguments: [
        ("007", [ValueTrait.number, .integer, .leadingZero]), ("0", [.number, .integer]),
        ("0.5", [.number]), ("1e400", []), ("nan", []), ("Yes", [.boolean]),
        ("2024-02-30", [.noDay]),
        ("2024-13-01", [.noDay]), ("2024/2/3", [.time]), ("2024-01-31T10:00:00Z", [.time]),
        ("2024-01-31 10:00", [.timeWithoutZone]),
        ("2024-01-31T10:00", [.timeWithoutZone]), ("2024-01-31T10:00:00.5", [.timeWithoutZone]),
        ("2024-01-31T10:00:00.5+01:00", [.time]), ("2024-01-31 at ten", [.otherDate]),
        ("2024/13/3", [.otherDate]), ("3/4/2021", [.otherDate]),
        ("31.12.99", [.otherDate]), ("1h57m", [.duration]), ("1:57:00", [.duration]),
        ("2:30", [.clock]),
        ("https://a.example/b", [.url]), ("https://a.example/b.JPG?w=1", [.url, .picture]),
        ("12 monkeys", []),
    ])
    func `values are looked at`(text: String, traits: [ValueTrait]) {
        #expect(ValueTrait.of(text, allowsDecimalComma: false) == Set(traits))
    }
}
