import Foundation
import TestSupport
import Testing

/// The sample data under `Examples/`, and the program that makes more of it.
@Suite(.timeLimit(.minutes(3)))
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

    @Test func `a package that two indexes have is printed in its newest version`() async throws {
        let lists = try TemporaryDirectory()
        try lists.write(
            "a_main_Packages", index([package("hello", "1:1.0~rc1-1"), package("zsh", "5.9-4")]))
        try lists.write(
            "b_security_Packages",
            index([package("hello", "1:1.0-1"), package("hello", "0.9-10")]))
        let result = try await runDebianIndex(lists)
        #expect(result.status == 0, "\(result.errors)")
        let lines = result.output.split(separator: "\n")
        try #require(lines.count == 2)
        #expect(
            lines[0] == """
                {"id":"hello","fields":{"name":"hello","version":"1:1.0-1","section":["games"],\
                "tags":["role::program","use::gameplaying"],"maintainer":"Jörg Example",\
                "summary":"says hello","role":["program"],"use":["gameplaying"],"size":2048}}
                """)
    }

    @Test func `a packed index is read through apt`() async throws {
        let lists = try TemporaryDirectory()
        let plain = try lists.write("a_main_Packages", index([package("zsh", "5.9-4")]))
        #expect(try await run(["gzip", plain]).status == 0)
        let result = try await runDebianIndex(lists)
        #expect(result.output.hasPrefix(#"{"id":"zsh","#), "\(result.errors)")
    }

    @Test func `a damaged index is named, with a status for it`() async throws {
        let lists = try TemporaryDirectory()
        try lists.write("a_main_Packages.xz", "no archive")
        let result = try await runDebianIndex(lists)
        #expect(result.status == 1)
        #expect(result.errors.contains("a_main_Packages.xz can't be unpacked"))
    }

    @Test func `without an index the program says what to run`() async throws {
        let lists = try TemporaryDirectory()
        let result = try await runDebianIndex(lists)
        #expect(result.status == 1)
        #expect(result.errors.contains("run `apt-get update` as root"))
    }

    private func runDebianIndex(_ lists: TemporaryDirectory) async throws -> Finished {
        try await run([
            "python3", "-B", "\(Checkout.root)/Examples/debian-index", "--lists", lists.path,
        ])
    }

    private func index(_ packages: [String]) -> String { packages.joined(separator: "\n") }

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
