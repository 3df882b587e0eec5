import AtriumKit

@testable import Index

/// The index of some of the films, and the queries that are asked of it and of SQLite alike.
struct Listing {
    static let fields = [
        Field(name: "title", type: .text, required: true, search: true),
        Field(name: "genre", type: .keywords), Field(name: "rating", type: .number),
        Field(name: "duration", type: .duration), Field(name: "year", type: .integer),
    ]

    let index = ContentIndex(fields: fields)
    let genres: [Value]
    private let years: [Value]
    /// Milliseconds that it took to put all items.
    private(set) var putTime = 0.0
    /// Bytes that the index takes for each item, and those of its id and fields as JSON.
    private(set) var bytes = 0
    private(set) var ownBytes = 0

    /// Puts the first films into a new index.
    init(_ films: Database, count: Int) throws {
        let index = index
        var (time, own) = (0.0, 0)
        let before = ownMemory()
        try films.films(count) { batch in
            time += Timing.milliseconds { index.put(batch, revision: 1) }
            own += batch.reduce(0) { $0 + $1.id.utf8.count + $1.fields.jsonBytes.count }
        }
        genres = index.values.distinct(of: "genre")
        years = index.values.distinct(of: "year")
        (putTime, ownBytes) = (time, own / count)
        bytes = (ownMemory() - before) / count
    }

    /// Some genres, rated at least so, under two hours, best first; the first fifty, their number,
    /// and the counts of four sections.
    func query(genres chosen: [String] = ["Drama", "Comedy"], rated: Double = 7) -> IndexQuery {
        let long = (0..<8).map { half(Double($0) * 1_800, 1_800, "duration") }
        let rates = (0..<11).map { half(Double($0), 1, "rating") }
        return IndexQuery(
            sections: [
                SectionQuery(
                    id: "genre", selected: chosen.map { .equals(field: "genre", value: .text($0)) },
                    offered: genres.map { .equals(field: "genre", value: $0) }),
                SectionQuery(
                    id: "rating",
                    selected: [.range(field: "rating", lower: .init(rated), upper: nil)],
                    offered: rates),
                SectionQuery(
                    id: "duration",
                    selected: [
                        .range(
                            field: "duration", lower: nil, upper: .init(7_200, isIncluded: false))
                    ],
                    offered: long),
                SectionQuery(
                    id: "year", offered: years.map { .equals(field: "year", value: $0) }),
            ],
            sort: [SortKey("-rating")], limit: 50, countsFacets: true)
    }

    /// The same without counts.
    var pages: IndexQuery {
        var query = query()
        query.countsFacets = false
        return query
    }

    /// What a text is found in, best first.
    func search(_ text: String, limit: Int) -> IndexQuery {
        IndexQuery(search: text, sort: [SortKey("-rating")], limit: limit)
    }

    private func half(_ lower: Double, _ width: Double, _ field: String) -> Predicate {
        .range(field: field, lower: .init(lower), upper: .init(lower + width, isIncluded: false))
    }
}

/// The same questions in SQL.
enum Questions {
    static let selection = "genre IN ('Drama','Comedy') AND rating>=7 AND duration<7200"

    /// The page, the number and the four counts.
    static func listing(genres: [String] = ["Drama", "Comedy"]) -> [String] {
        let genre = "genre IN (\(genres.map { "'\($0)'" }.joined(separator: ",")))"
        let (rating, duration) = ("rating>=7", "duration<7200")
        let all = "\(genre) AND \(rating) AND \(duration)"
        let counts = "count(*) FROM movies INDEXED BY by_genre WHERE"
        return [
            page(all), "SELECT count(*) FROM movies WHERE \(all)",
            "SELECT genre, \(counts) \(rating) AND \(duration) GROUP BY 1",
            "SELECT year, \(counts) \(all) GROUP BY 1",
            "SELECT CAST(rating AS INT), \(counts) \(genre) AND \(duration) GROUP BY 1",
            "SELECT duration/1800, \(counts) \(genre) AND \(rating) GROUP BY 1",
        ]
    }

    /// Fifty rows, best first.
    static func page(_ condition: String, from offset: Int = 0) -> String {
        "SELECT id, title, genre, duration, rating, year FROM movies WHERE \(condition) "
            + "ORDER BY rating DESC LIMIT 50 OFFSET \(offset)"
    }

    /// How many titles hold a text, by the trigram index.
    static func trigram(_ text: String) -> String {
        "SELECT count(*) FROM trigrams WHERE trigrams MATCH '\"\(text)\"'"
    }

    /// The same by a look at each title.
    static func like(_ text: String) -> String {
        "SELECT count(*) FROM movies WHERE fold LIKE '%\(text)%'"
    }

    /// The best fifty of them.
    static func best(_ text: String) -> String {
        "SELECT m.id, m.title, m.rating FROM trigrams t JOIN movies m ON m.id=t.rowid "
            + "WHERE trigrams MATCH '\"\(text)\"' ORDER BY m.rating DESC LIMIT 50"
    }
}

extension ContentIndex {
    /// A query's page, in one turn however much it looks at.
    func query(_ query: IndexQuery) throws -> IndexPage {
        guard let page = try page(of: query, within: .max) else { throw CancellationError() }
        return page
    }
}
