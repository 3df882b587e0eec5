import Foundation
import Testing

/// The sample data under `Examples/`, and the program that makes more of it.
struct ExampleTests {
    private struct Film: Decodable {
        struct Fields: Decodable {
            let title: String
            let genres: [String]
            let duration: Int
            let rating: Double
            let year: Int
        }

        let id: String
        let fields: Fields
    }

    private func films() throws -> [Film] {
        let file = Repository.root.appending(path: "Examples/films.ndjson")
        return try Data(contentsOf: file).split(separator: UInt8(ascii: "\n")).map {
            try JSONDecoder().decode(Film.self, from: $0)
        }
    }

    @Test func `each film has an id of its own and plausible facts`() throws {
        let films = try films()
        #expect(films.count >= 100)
        #expect(Set(films.map(\.id)).count == films.count)
        for film in films {
            #expect(try /[a-z0-9-]+-\d{4}/.wholeMatch(in: film.id) != nil)
            #expect(film.id.hasSuffix("-\(film.fields.year)"))
            #expect(!film.fields.genres.isEmpty, "\(film.id)")
            #expect(try film.fields.genres.allSatisfy { try /[a-z-]+/.wholeMatch(in: $0) != nil })
            #expect((3_600...15_000).contains(film.fields.duration), "\(film.id)")
            #expect((0...10).contains(film.fields.rating), "\(film.id)")
        }
    }

    @Test func `there is enough to filter`() throws {
        let dramas = try films().filter {
            $0.fields.genres.contains("drama") && $0.fields.rating >= 8
        }
        #expect(dramas.count >= 20)
    }

    @Test func `a package that two indexes have is printed in its newest version`() throws {
        let lists = try Repository.temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: lists) }
        try index([package("hello", "1:1.0~rc1-1"), package("zsh", "5.9-4")])
            .write(to: lists.appending(path: "a_main_Packages"))
        try index([package("hello", "1:1.0-1"), package("hello", "0.9-10")])
            .write(to: lists.appending(path: "b_security_Packages"))
        let result = try runDebianIndex(lists)
        #expect(result.status == 0, "\(result.complaints)")
        let lines = result.text.split(separator: "\n")
        try #require(lines.count == 2)
        #expect(
            lines[0] == """
                {"id":"hello","fields":{"name":"hello","version":"1:1.0-1","section":["games"],\
                "tags":["role::program","use::gameplaying"],"maintainer":"Jörg Example",\
                "summary":"says hello","role":["program"],"use":["gameplaying"],"size":2048}}
                """)
    }

    @Test func `a packed index is read through apt`() throws {
        let lists = try Repository.temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: lists) }
        let plain = lists.appending(path: "a_main_Packages")
        try index([package("zsh", "5.9-4")]).write(to: plain)
        #expect(try run("gzip", plain.plainPath).status == 0)
        let result = try runDebianIndex(lists)
        #expect(result.text.hasPrefix(#"{"id":"zsh","#), "\(result.complaints)")
    }

    @Test func `a damaged index is named, with a status that tells`() throws {
        let lists = try Repository.temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: lists) }
        try Data("no archive".utf8).write(to: lists.appending(path: "a_main_Packages.xz"))
        let result = try runDebianIndex(lists)
        #expect(result.status == 1)
        #expect(result.complaints.contains("a_main_Packages.xz can't be unpacked"))
    }

    @Test func `without an index the program says what to run`() throws {
        let lists = try Repository.temporaryDirectory()
        defer { try? FileManager.default.removeItem(at: lists) }
        let result = try runDebianIndex(lists)
        #expect(result.status == 1)
        #expect(result.complaints.contains("run `apt-get update` as root"))
    }

    private func runDebianIndex(_ lists: URL) throws -> CommandResult {
        let program = Repository.root.appending(path: "Examples/debian-index")
        return try run("python3", "-B", program.plainPath, "--lists", lists.plainPath)
    }

    private func index(_ packages: [String]) -> Data {
        Data(packages.joined(separator: "\n").utf8)
    }

    private func package(_ name: String, _ version: String) -> String {
        """
        Package: \(name)
        Version: \(version)
        Installed-Size: 2
        Maintainer: Jörg Example <joerg@example.org>
        Description: says hello
         and more, which is not wanted: at all
        Tag: role::program,
         use::gameplaying
        Section: contrib/games

        """
    }
}
