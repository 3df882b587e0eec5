import AtriumKit

@testable import Index

extension Questions {
    /// Makes sure that both sides answer alike before anything is measured.
    static func check(_ listing: Listing, _ films: Database) throws {
        let number = try films.run("SELECT count(*) FROM movies WHERE \(selection)").first
        let total = try listing.index.query(listing.pages).total
        guard number == total else {
            throw DatabaseError(description: "SQLite finds \(number) films, the index \(total)")
        }
        for text in ["glik", "ouhar", "gl"] {
            let number = try films.run(like(text)).first
            let total = try listing.index.query(listing.search(text, limit: 0)).total
            guard number == total else {
                throw DatabaseError(description: "\(text): SQLite \(number), the index \(total)")
            }
        }
    }
}

/// A million films: filtered, counted, sorted, searched.
struct ListingCases {
    let listing: Listing
    let films: Database

    /// Runs all of it in turn.
    func run() throws {
        // An order is made once queries have asked for it for long enough.
        for _ in 0..<200 { _ = try listing.index.query(listing.pages) }
        listing.index.makeOrders()
        try Case.measure(
            try listings() + deepPages() + searches(), in: listing.index, rounds: 15)
    }

    private func listings() -> [Case] {
        let names = listing.genres.compactMap(\.text).filter { !["Drama", "Comedy"].contains($0) }
        func clicked(_ round: Int) -> [String] { ["Drama", "Comedy", names[round % names.count]] }
        return [
            Case(
                name: "page, number and four counts of 1000000",
                ours: { _ in _ = try listing.index.query(listing.query()) },
                peer: ("SQLite", { _ in for text in Questions.listing() { try films.run(text) } })),
            Case(
                name: "the same after one more click",
                ours: { _ = try listing.index.query(listing.query(genres: clicked($0))) },
                peer: (
                    "SQLite",
                    { for text in Questions.listing(genres: clicked($0)) { try films.run(text) } }
                )),
        ]
    }

    private func deepPages() throws -> [Case] {
        var pages = listing.pages
        var cases: [Case] = []
        for page in 1...1_000 {
            if page == 1 || page == 1_000 {
                let (query, text) = (
                    pages, Questions.page(Questions.selection, from: (page - 1) * 50)
                )
                cases.append(
                    Case(
                        name: "page \(page)",
                        ours: { _ in _ = try listing.index.query(query) },
                        peer: ("SQLite", { _ in try films.run(text) })))
            }
            pages.cursor = try listing.index.query(pages).next
        }
        return cases
    }

    private func searches() throws -> [Case] {
        let rare = try films.texts(
            "SELECT DISTINCT substr(fold, 2, 5) FROM words WHERE rank >= 2800 "
                + "AND length(fold) >= 6 ORDER BY rank DESC")
        let common = try films.texts(
            "SELECT DISTINCT substr(fold, 1, 4) FROM words WHERE rank < 20")
        // What was found before is kept, so that each search is for another text.
        let others = Array(rare.dropFirst(rare.count / 2))
        let pairs = "aeiou".flatMap { one in "lnrsmt".map { "\(one)\($0)" } }
        func ask(_ text: String, limit: Int) throws {
            _ = try listing.index.query(listing.search(text, limit: limit))
        }
        return [
            Case(
                name: "rare text, number", ours: { try ask(rare[$0 % rare.count], limit: 0) },
                peer: (
                    "FTS5 trigram", { try films.run(Questions.trigram(rare[$0 % rare.count])) }
                )),
            Case(
                name: "rare text, number, beside LIKE",
                ours: { try ask(others[$0 % others.count], limit: 0) },
                peer: ("LIKE", { try films.run(Questions.like(others[$0 % others.count])) })),
            Case(
                name: "common text, first 50 by rating",
                ours: { try ask(common[$0 % common.count], limit: 50) },
                peer: (
                    "FTS5 trigram", { try films.run(Questions.best(common[$0 % common.count])) }
                )),
            Case(
                name: "two letters, number",
                ours: { try ask(pairs[$0 % pairs.count], limit: 0) },
                peer: ("LIKE", { try films.run(Questions.like(pairs[$0 % pairs.count])) })),
        ]
    }
}
