import AtriumKit

@testable import Index

/// A thousand different queries that are kept answered while films are voted on and changed.
struct LiveCases {
    private static let count = 1_000
    let listing: Listing

    /// Prints what one change costs each of them.
    func run() throws {
        let genres = listing.genres.compactMap(\.text)
        var live: [LiveQuery] = []
        for number in 0..<Self.count {
            let chosen = [genres[number % 20], genres[(number / 20 + 1) % 20]]
            var query = listing.query(genres: chosen, rated: Double(number % 9))
            query.sort = [SortKey(number.isMultiple(of: 2) ? "-votes.score" : "-rating")]
            var looks = Int.max
            if let query = try LiveQuery(query, in: listing.index, within: &looks) {
                live.append(query)
            }
        }
        var (judging, number) = ([Double](), 0)
        for _ in 0..<200 {
            number += 1
            vote(on: number)
            judging.append(Timing.milliseconds { advance(live) })
        }
        Case.report(
            "a vote, judged by each of 1000 live queries", "us",
            judging.median * 1_000 / Double(Self.count))
        judging = []
        for _ in 0..<200 {
            number += 1
            change(number, genre: genres[number % 20])
            judging.append(Timing.milliseconds { advance(live) })
        }
        Case.report(
            "a film with other fields, followed by each of them", "us",
            judging.median * 1_000 / Double(Self.count))
    }

    /// Brings all queries up to date, as the daemon does once a turn.
    private func advance(_ live: [LiveQuery]) {
        while listing.index.live.follow() {}
        for query in live {
            var looks = Int.max
            _ = query.advance(within: &looks)
        }
    }

    private func id(_ number: Int) -> String {
        let digits = String(1 + number * 7_919 % listing.index.count)
        return String(repeating: "0", count: 7 - digits.count) + digits
    }

    private func vote(on number: Int) {
        listing.index.setTally(
            Tally(count: 1, score: Double(number % 5 + 1), histogram: [:]), for: id(number))
    }

    private func change(_ number: Int, genre: String) {
        let item = Item(
            id: id(number),
            fields: [
                "title": .text("Another \(number)"), "genre": .list([.text(genre)]),
                "rating": .number(Double(number % 100) / 10), "duration": 6_000, "year": 2_000,
            ])
        listing.index.put([item], revision: 2)
    }
}
