import Foundation
import JSONCodec
import TestSupport
import Testing

extension Stories {
    /// The commands of the README's first screen, as typed.
    @Suite struct Films {
        private static let dramas =
            "atriumctl list films --filter genre=drama --filter rating=8+ --sort -rating --limit 5"

        @Test func `dramas rated 8 and up, best first`() async throws {
            try await withFilms { daemon in
                let dramas = try await daemon.type(Self.dramas + " --json")
                let wanted = try Film.all(daemon).filter { $0.is("drama") && $0.rating >= 8 }
                #expect(try dramas.json.ids == Film.best(5, of: wanted))
                #expect(try dramas.json["total"]?.int == wanted.count)

                let both = try await daemon.type(Self.dramas + " --filter genre=crime --json")
                let either = try Film.all(daemon).filter {
                    ($0.is("drama") || $0.is("crime")) && $0.rating >= 8
                }
                #expect(try both.json["total"]?.int == either.count)
                #expect(either.count > wanted.count)

                let table = try await daemon.type(Self.dramas)
                for id in Film.best(5, of: wanted) { #expect(table.output.contains(id)) }
            }
        }

        @Test func `a section's own selection does not reduce its counts`() async throws {
            try await withFilms { daemon in
                let reply = try await daemon.type(
                    "atriumctl filters films --filter genre=drama --json")
                let sections = try #require(try reply.json["sections"]?.array)
                let genres = try #require(sections.first { $0["id"]?.string == "genre" })
                let films = try Film.all(daemon)
                let wanted = Dictionary(grouping: films.flatMap(\.genres)) { $0 }
                    .mapValues(\.count)
                for filter in genres["filters"]?.array ?? [] {
                    let id = try #require(filter["id"]?.string)
                    #expect(filter["count"]?.int == wanted[id], "\(id)")
                    #expect(filter["selected"]?.bool == (id == "drama"))
                }
                #expect(genres["filters"]?.array?.count == wanted.count)
                let ratings = try #require(sections.first { $0["id"]?.string == "rating" })
                #expect(
                    ratings["filters"]?[0]?["count"]?.int
                        == films.count { $0.is("drama") && $0.rating >= 8 },
                    "another section's counts are reduced")
            }
        }

        @Test func `pages join up to the whole list`() async throws {
            try await withFilms { daemon in
                let whole = try await daemon.type(
                    "atriumctl list films --sort -year --all --limit 7 --json")
                let ids = try whole.jsonLines.flatMap(\.ids)
                #expect(ids.count == (try Film.all(daemon).count))
                #expect(Set(ids).count == ids.count)

                let found = try await daemon.type("atriumctl list films --search GODFATHER --json")
                #expect(try found.json.ids.contains("the-godfather-1972"))
            }
        }
    }
}

/// A film of the examples, read without our own catalogue.
struct Film {
    let id: String
    let genres: [String]
    let rating: Double

    func `is`(_ genre: String) -> Bool { genres.contains(genre) }

    /// All films of the examples.
    static func all(_ daemon: DaemonUnderTest) throws -> [Film] {
        let text = try String(
            contentsOfFile: daemon.tree.examples + "/films.ndjson", encoding: .utf8)
        return try text.split(separator: "\n").map { line in
            let item = try JSON.decode(JSONValue.self, from: String(line))
            let genres = item["fields"]?["genres"]?.array ?? []
            return Film(
                id: try #require(item["id"]?.string), genres: genres.compactMap(\.string),
                rating: item["fields"]?["rating"]?.double ?? 0)
        }
    }

    /// The ids of the best rated; ties by id.
    static func best(_ count: Int, of films: [Film]) -> [String] {
        films.sorted { ($1.rating, $0.id) < ($0.rating, $1.id) }.prefix(count).map(\.id)
    }
}

extension JSONValue {
    /// The ids of the items of a page.
    var ids: [String] { (self["items"]?.array ?? []).compactMap { $0["id"]?.string } }
}
