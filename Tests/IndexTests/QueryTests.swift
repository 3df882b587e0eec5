import AtriumKit
import TestSupport
import Testing

@testable import Index

struct IndexQueryTests {
    private let index: ContentIndex

    init() {
        index = ContentIndex(fields: [
            Field(name: "title", type: .text, required: true, search: true),
            Field(name: "genres", type: .keywords),
            Field(name: "rating", type: .number),
        ])
        index.put(
            [
                film("amelie-2001", "Amélie", ["comedy", "romance"], 8.3),
                film("heat-1995", "Heat", ["crime", "drama"], 8.3),
                film("alien-1979", "Alien", ["horror"], 8.5),
                film("the-godfather-1972", "The Godfather", ["crime", "drama"], 9.2),
                film("untitled", "untitled", [], nil),
            ], revision: 7)
    }

    private func film(_ id: String, _ title: String, _ genres: [String], _ rating: Double?) -> Item
    {
        var fields: [String: Value] = [
            "title": .text(title), "genres": .list(genres.map(Value.text)),
        ]
        fields["rating"] = rating.map(Value.number)
        return Item(id: id, fields: fields)
    }

    private func genre(_ name: String) -> Predicate { .equals(field: "genres", value: .text(name)) }

    private func ids(_ query: IndexQuery) throws -> [String] {
        try index.query(query).rows.map(\.id)
    }

    @Test func `URLs and Markdown are found as texts, a picture not at all`() throws {
        let index = ContentIndex(fields: [
            Field(name: "plot", type: .markdown), Field(name: "poster", type: .image),
            Field(name: "site", type: .url),
        ])
        let poster = Value.text("https://example.org/a.png")
        index.put(
            [
                Item(
                    id: "a", fields: ["plot": "*Zoo*", "site": "https://b.org", "poster": poster]),
                Item(
                    id: "b", fields: ["plot": "*Ark*", "site": "https://a.org", "poster": poster]),
            ], revision: 1)
        func ids(_ query: IndexQuery) throws -> [String] { try index.query(query).rows.map(\.id) }
        #expect(try ids(IndexQuery(sort: [SortKey("plot")])) == ["b", "a"])
        #expect(try ids(IndexQuery(sort: [SortKey("site")])) == ["b", "a"])
        #expect(try ids(IndexQuery(search: "zoo")) == ["a"])
        #expect(try ids(IndexQuery(search: "a.png")) == [])
        #expect(
            throws: IndexError.sortFieldUnknown(
                field: "poster",
                known: ["comments.count", "id", "plot", "site", "votes.count", "votes.score"])
        ) { try ids(IndexQuery(sort: [SortKey("poster")])) }
        let byPoster = IndexQuery(sections: [
            SectionQuery(id: "poster", selected: [.equals(field: "poster", value: poster)])
        ])
        #expect(try ids(byPoster) == [])
        #expect(index.values.distinct(of: "poster").isEmpty)
        #expect(
            IndexCheck.isIndexed(
                "a", ["plot": "*Zoo*", "site": "https://b.org", "poster": poster], in: index))
    }

    @Test func `rows that many change at once are put in their places step by step`() throws {
        let index = ContentIndex(fields: [Field(name: "year", type: .integer)])
        func item(_ place: Int, _ year: Int) -> Item {
            Item(id: "i\(place)", fields: ["year": .int(Int64(year))])
        }
        index.put((0..<20_000).map { item($0, $0) }, revision: 1)
        let query = IndexQuery(sort: [SortKey("year")], limit: 10)
        for _ in 0..<10 { _ = try index.query(query) }
        while index.orders.grow() {}
        let column = try #require(index.columns.number(of: "year"))
        #expect(index.orders.finished(column) != nil)
        index.put([item(3, 70_000), item(4, 80_000)], revision: 2)
        #expect(index.orders.finished(column) != nil, "two are at once")
        index.put((0..<1_000).map { item($0, 50_000 - $0) }, revision: 3)
        index.remove((5_000..<5_200).map { "i\($0)" })
        #expect(index.orders.finished(column) == nil)
        #expect(try index.query(query).rows.first?.id == "i1000", "the rows are looked at")
        var steps = 0
        while index.orders.grow() {
            steps += 1
            guard steps == 1 else { continue }
            index.put([item(7, 1_000), item(900, 1), item(30_000, 2)], revision: 4)
        }
        #expect((9...20).contains(steps), "128 rows in each: \(steps)")
        let order = try #require(index.orders.finished(column))
        #expect(order.count == 19_801)
        let years = order.rows(0..<order.count).map {
            index.columns.numbered[column].value(of: Int($0))
        }
        let numbers = years.map { if case .number(let number) = $0 { number } else { Double.nan } }
        #expect(numbers == numbers.sorted() && numbers.first == 1)
    }

    @Test func `filters add up within a section and narrow across sections`() throws {
        let high = Predicate.range(field: "rating", lower: .init(8.4), upper: nil)
        let genres = SectionQuery(id: "genre", selected: [genre("drama"), genre("horror")])
        #expect(
            try ids(IndexQuery(sections: [genres])) == [
                "alien-1979", "heat-1995", "the-godfather-1972",
            ])
        let ratings = SectionQuery(id: "rating", selected: [high])
        #expect(
            try ids(IndexQuery(sections: [genres, ratings])) == [
                "alien-1979", "the-godfather-1972",
            ])
    }

    @Test func `a section's own selection does not reduce its counts`() throws {
        let offered = ["comedy", "crime", "drama", "horror", "western"].map(genre)
        let high = Predicate.range(field: "rating", lower: .init(8.4), upper: nil)
        let low = Predicate.range(
            field: "rating", lower: nil, upper: .init(8.4, isIncluded: false))
        let page = try index.query(
            IndexQuery(
                sections: [
                    SectionQuery(id: "genre", selected: [genre("drama")], offered: offered),
                    SectionQuery(id: "rating", selected: [high], offered: [high, low]),
                ], countsFacets: true))
        #expect(page.total == 1)
        #expect(page.counts == [[0, 1, 1, 1, 0], [1, 1]])
    }

    @Test func `search and place reduce all counts`() throws {
        index.put(
            [
                Item(
                    id: "sequel", fields: ["title": "The Godfather II", "genres": ["crime"]],
                    parent: "the-godfather-1972")
            ], revision: 8)
        var query = IndexQuery(
            sections: [SectionQuery(id: "genre", offered: [genre("crime"), genre("drama")])],
            search: "GODFATHER", countsFacets: true)
        #expect(try index.query(query).counts == [[2, 1]])
        query.parent = .under("the-godfather-1972")
        #expect(try index.query(query).counts == [[1, 0]])
        query.parent = .roots
        #expect(try index.query(query).counts == [[1, 1]])
    }

    @Test(arguments: ["amelie", "AMÉLIE", "mél", "e\u{301}lie", "é"])
    func `search folds case and diacritics at any length`(text: String) throws {
        #expect(try ids(IndexQuery(search: text)).contains("amelie-2001"))
    }

    @Test func `several words are one text`() throws {
        #expect(try ids(IndexQuery(search: "the god")) == ["the-godfather-1972"])
        #expect(try ids(IndexQuery(search: "god the")).isEmpty)
    }

    @Test func `without a searched field all texts are searched`() throws {
        let open = ContentIndex(fields: [
            Field(name: "title", type: .text), Field(name: "tags", type: .keywords),
        ])
        open.put([Item(id: "a", fields: ["title": "one", "tags": ["two"]])], revision: 1)
        #expect(try open.query(IndexQuery(search: "TW")).total == 1)
        #expect(try open.query(IndexQuery(search: "on")).total == 1)
    }

    @Test func `many keywords of an item count once each, also once others are in their place`()
        throws
    {
        let open = ContentIndex(fields: [Field(name: "words", type: .keywords)])
        func item(_ id: String, _ words: Range<Int>) -> Item {
            Item(id: id, fields: ["words": .list((Array(words) + words).map { .text("w\($0)") })])
        }
        // The rows of few among many are counted one by one.
        open.put((0..<50).map { Item(id: "other\($0)", fields: [:]) }, revision: 1)
        open.put([item("a", 0..<100), item("b", 90..<99)], revision: 1)
        open.put([item("a", 50..<150)], revision: 2)
        let all = (0..<150).map { Predicate.equals(field: "words", value: .text("w\($0)")) }
        var query = IndexQuery(limit: 0, countsFacets: true)
        query.sections = [
            SectionQuery(id: "all", offered: all), SectionQuery(id: "one", selected: [all[95]]),
        ]
        let counts = (0..<150).map { $0 < 50 ? 0 : (90..<99).contains($0) ? 2 : 1 }
        #expect(try open.query(query).counts.first == counts)
    }

    @Test func `what is missing comes last in both directions and ties go by id`() throws {
        #expect(
            try ids(IndexQuery(sort: [SortKey("-rating")])) == [
                "the-godfather-1972", "alien-1979", "amelie-2001", "heat-1995", "untitled",
            ])
        #expect(
            try ids(IndexQuery(sort: [SortKey("rating")])) == [
                "amelie-2001", "heat-1995", "alien-1979", "the-godfather-1972", "untitled",
            ])
    }

    @Test func `texts sort by folded form`() throws {
        #expect(
            try ids(IndexQuery(sort: [SortKey("title")])) == [
                "alien-1979", "amelie-2001", "heat-1995", "the-godfather-1972", "untitled",
            ])
    }

    @Test func `tallies and comment counts can be sorted and filtered by`() throws {
        index.setTally(Tally(count: 2, score: 4.5, histogram: ["4": 1, "5": 1]), for: "heat-1995")
        index.setTally(Tally(count: 1, score: 5, histogram: ["5": 1]), for: "alien-1979")
        index.setCommentCount(3, for: "untitled")
        #expect(
            try ids(IndexQuery(sort: [SortKey("-votes.score")], limit: 2)) == [
                "alien-1979", "heat-1995",
            ])
        #expect(
            try ids(IndexQuery(sort: [SortKey("-comments.count")], limit: 1)) == ["untitled"])
        let voted = Predicate.range(field: "votes.count", lower: .init(1), upper: nil)
        let section = SectionQuery(id: "voted", selected: [voted])
        #expect(try index.query(IndexQuery(sections: [section])).total == 2)
        #expect(index.item("heat-1995")?.tally.histogram == ["4": 1, "5": 1])
    }

    @Test func `a removed item's tally and comments return with its id`() throws {
        let tally = Tally(count: 1, score: 4, histogram: ["4": 1])
        index.setTally(tally, for: "heat-1995")
        index.remove(["heat-1995"])
        index.setCommentCount(2, for: "heat-1995")
        #expect(index.item("heat-1995") == nil)
        index.put([film("heat-1995", "Heat", [], nil)], revision: 9)
        #expect(index.item("heat-1995")?.tally == tally)
        #expect(index.item("heat-1995")?.comments == 2)
        #expect(try ids(IndexQuery(sort: [SortKey("-votes.score")], limit: 1)) == ["heat-1995"])
        #expect(Array(index.derived.tallies.keys) == ["heat-1995"])
        index.setTally(Tally(), for: "heat-1995")
        #expect(Array(index.derived.tallies.keys).isEmpty)
        #expect(index.item("heat-1995")?.tally == Tally())
    }

    @Test func `an item knows its fields and its revision`() throws {
        let item = try #require(index.item("alien-1979"))
        #expect(
            String(decoding: item.fields, as: UTF8.self)
                == #"{"genres":["horror"],"rating":8.5,"title":"Alien"}"#)
        #expect(item.revision == 7)
        #expect(index.revision(of: "alien-1979") == 7)
        #expect(!index.contains("aliens-1986"))
    }

    @Test func `only the fields that are asked for are given`() throws {
        let item = try #require(index.item("alien-1979"))
        func text(_ names: Set<String>) -> String {
            String(decoding: item.fields(named: names), as: UTF8.self)
        }
        #expect(text(["title", "nothing"]) == #"{"title":"Alien"}"#)
        #expect(text(["title", "genres"]) == #"{"genres":["horror"],"title":"Alien"}"#)
        #expect(text([]) == "{}")
    }

    @Test func `a range that ends at no number holds nothing`() throws {
        for (lower, upper) in [(Double.nan, 10.0), (0, .nan), (9, 1)] {
            let range = Predicate.range(field: "rating", lower: .init(lower), upper: .init(upper))
            let section = SectionQuery(id: "rating", selected: [range])
            #expect(try index.query(IndexQuery(sections: [section])).total == 0)
        }
    }

    @Test func `the values' version changes with the set of values alone`() {
        let version = index.values.version(of: ["genres"])
        index.put([film("heat-1995", "Heat!", ["drama"], 8)], revision: 8)
        #expect(index.values.version(of: ["genres"]) == version)
        index.put([film("alien-1979", "Alien", ["scifi"], 8)], revision: 9)
        #expect(index.values.version(of: ["genres"]) != version)
        #expect(
            index.values.distinct(of: "genres") == ["comedy", "crime", "drama", "romance", "scifi"])
        let before = index.values.version(of: ["genres"])
        index.remove(index.ids(inRows: 0..<index.rowCount))
        #expect(index.values.version(of: ["genres"]) != before)
        #expect(index.values.distinct(of: "genres").isEmpty)
    }

    @Test func `an unknown sort field is refused with those there are`() {
        #expect(
            throws: IndexError.sortFieldUnknown(
                field: "ratng",
                known: [
                    "comments.count", "genres", "id", "rating", "title", "votes.count",
                    "votes.score",
                ])
        ) { try index.query(IndexQuery(sort: [SortKey("-ratng")])) }
    }

    @Test func `a cursor of another sort, or of nobody, is refused with the reason`() throws {
        let next = try index.query(IndexQuery(sort: [SortKey("-rating")], limit: 1)).next
        #expect {
            try index.query(IndexQuery(sort: [SortKey("title")], cursor: next))
        } throws: { error in
            guard case .cursorInvalid(let reason) = error as? IndexError else { return false }
            return reason.contains("'-rating'") && reason.contains("'title'")
        }
        for text in ["", "x", "e30", "{}", "bnVsbA", "é"] {
            #expect(throws: IndexError.self) { try index.query(IndexQuery(cursor: text)) }
        }
    }

    @Test(arguments: [false, true])
    func `a cursor stays short, and goes on behind a long text`(descending: Bool) throws {
        let index = ContentIndex(fields: [Field(name: "title", type: .text)])
        let long = String(repeating: "e\u{301}東 ", count: 40_000)
        let titles = [long, long + "a", long + "b", long + "c", "e", "東"]
        index.put(
            titles.enumerated().map { Item(id: "\($0)", fields: ["title": .text($1)]) }, revision: 1
        )
        let sort = [SortKey(field: "title", descending: descending)]
        let all = try index.query(IndexQuery(sort: sort)).rows.map(\.id)
        for length in 1...5 {
            let query = IndexQuery(sort: sort, limit: length)
            let next = try #require(try index.query(query).next)
            #expect(next.utf8.count < 2_048)
            var rest = IndexQuery(sort: sort)
            rest.cursor = next
            #expect(try index.query(rest).rows.map(\.id) == Array(all.dropFirst(length)))
            // Without the item some may come twice, and none is left out.
            let last = all[length - 1]
            let item = Item(id: last, fields: ["title": .text(titles[Int(last) ?? 0])])
            index.remove([last])
            let found = try index.query(rest).rows.map(\.id)
            #expect(Set(found).isSuperset(of: all.dropFirst(length)), "\(length): \(found)")
            index.put([item], revision: 2)
        }
        let huge = String(repeating: "A", count: 65_537)
        #expect(throws: IndexError.self) { try index.query(IndexQuery(cursor: huge)) }
    }

    @Test func `texts in any normal form are in one order, page by page`() throws {
        let index = ContentIndex(fields: [Field(name: "title", type: .text)])
        let titles = ["e\u{301}", "\u{e9}", "\u{e9}a", "e\u{301}a", "e\u{300}", "\u{e8}z", "e"]
        index.put(
            titles.enumerated().map { Item(id: "\($0)", fields: ["title": .text($1)]) }, revision: 1
        )
        for sort in [[SortKey("title")], [SortKey("-title")]] {
            var query = IndexQuery(sort: sort, limit: 1)
            var ids: [String] = []
            repeat {
                let page = try index.query(query)
                ids += page.rows.map(\.id)
                query.cursor = page.next
            } while query.cursor != nil && ids.count < 10
            #expect(Set(ids).count == 7 && ids.count == 7, "\(ids)")
        }
    }

    @Test(arguments: [1, 2, UInt64.random(in: 3...UInt64.max)], [false, true])
    func `long texts that go on in other ways are on one page each`(
        seed: UInt64, descending: Bool
    ) throws {
        var random = RepeatableRandom(seed)
        let index = ContentIndex(fields: [Field(name: "title", type: .text)])
        let ends = [
            "e", "\u{e9}", "\u{301}", "\u{323}", "\u{1100}", "\u{1161}", "\u{11A8}", "\u{AC00}",
            "か",
            "\u{3099}", "\u{94D}", "z", "E", "\u{10FFFF}",
        ]
        var titles: [String: String] = [:]
        for place in 0..<80 {
            // The cut of a cursor, at 256 bytes, falls among the last.
            let title = (0..<Int.random(in: 2...6, using: &random)).reduce(
                String(repeating: "a", count: Int.random(in: 246...256, using: &random))
            ) { title, _ in title + ends[Int.random(in: 0..<ends.count, using: &random)] }
            titles["i\(place)"] = title + String(repeating: "b", count: 8)
        }
        func put(_ id: String) {
            index.put([Item(id: id, fields: ["title": .text(titles[id] ?? "")])], revision: 1)
        }
        for id in titles.keys.sorted() { put(id) }
        for isRemoving in [false, false, true, true] {
            let limit = Int.random(in: 1...3, using: &random)
            var query = IndexQuery(
                sort: [SortKey(field: "title", descending: descending)], limit: limit)
            let all = try index.query(IndexQuery(sort: query.sort, limit: 100)).rows.map(\.id)
            var (ids, removed): ([String], [String]) = ([], [])
            repeat {
                let page = try index.query(query)
                ids += page.rows.map(\.id)
                query.cursor = page.next
                guard isRemoving, let last = page.rows.last?.id else { continue }
                index.remove([last])
                removed.append(last)
            } while query.cursor != nil && ids.count < 1_000
            let context = "seed \(seed), \(limit) a page"
            if !isRemoving { #expect(ids == all, "\(context)") }
            #expect(Set(ids) == Set(all), "\(context)")
            for id in removed { put(id) }
        }
    }

    @Test func `the first order of five thousand rows is made some rows in a step`() throws {
        let index = ContentIndex(fields: [Field(name: "year", type: .integer)])
        index.put(
            (0..<5_000).map { Item(id: "i\($0)", fields: ["year": .int(Int64($0 % 97))]) },
            revision: 1)
        let query = IndexQuery(sort: [SortKey("-year")], limit: 10)
        let first = try index.query(query).rows
        var asked = 0
        while !index.orders.isGrowing, asked < 20 {
            _ = try index.query(query)
            asked += 1
        }
        var steps = 0
        while index.orders.grow() { steps += 1 }
        #expect(steps >= 5_000 / 128, "\(asked) queries, \(steps) steps")
        #expect(try index.query(query).rows == first)
    }

    @Test func `a page of nothing still has its total and no next`() throws {
        let page = try index.query(IndexQuery(limit: 0))
        #expect(page.rows.isEmpty && page.next == nil && page.total == 5)
        #expect(try index.query(IndexQuery(limit: 5)).next == nil)
        #expect(try index.query(IndexQuery(limit: 4)).next != nil)
    }

    @Test func `a page ends at 4 MiB, and the next goes on behind it`() throws {
        let index = ContentIndex(fields: [Field(name: "title", type: .text)])
        let text = String(repeating: "x", count: 1 << 20)
        index.put(
            (0..<10).map { Item(id: "item-\($0)", fields: ["title": .text(text)]) }, revision: 1)
        var found: [String] = []
        var query = IndexQuery(limit: 100)
        var pages = 0
        repeat {
            let page = try index.query(query)
            #expect(page.rows.reduce(0) { $0 + $1.fields.count } <= IndexPage.mostBytes)
            found += page.rows.map(\.id)
            query.cursor = page.next
            pages += 1
        } while query.cursor != nil && pages < 10
        #expect(found == (0..<10).map { "item-\($0)" })
        #expect(pages == 4)
    }
}
