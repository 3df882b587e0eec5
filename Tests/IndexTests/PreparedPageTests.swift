import AtriumKit
import Testing

@testable import Index

/// What one turn may look at, and what prepared pages hold when much of them went.
struct IndexPreparedPageTests {
    @Test(arguments: 1...10)
    func `a prepared page stays full while what comes first is removed`(limit: Int) throws {
        for sort in ["id", "-rank"] {
            for isOrdered in [false, true] {
                let index = try ranked(by: sort, isOrdered: isOrdered)
                let query = IndexQuery(sort: [SortKey(sort)], limit: limit)
                let context = "\(sort), \(isOrdered ? "walked" : "scanned")"
                let prepared = try QueryPreparation(query, in: index)
                while prepared.step() {}
                // A few that come next are known.
                try index.removeFirst(3, query)
                #expect(prepared.answer() != nil, "\(context)")
                for isRead in [false, true] {
                    try index.removeFirst(300, query)
                    if isRead {
                        #expect(prepared.answer() == nil, "\(context): others are to be looked for")
                        #expect(prepared.step(), "\(context)")
                        #expect(prepared.answer() == nil, "\(context): some were looked at")
                    }
                    while prepared.step() {}
                    let page = try index.query(query, prepared)
                    let expected = try index.query(query)
                    #expect(page.rows == expected.rows, "\(context)")
                    #expect(page.next == expected.next, "\(context)")
                    #expect(page.total == expected.total, "\(context)")
                }
            }
        }
    }

    @Test func `counting by row looks at no more rows than a turn may`() throws {
        let index = ContentIndex(fields: [Field(name: "year", type: .integer)])
        index.put(
            (0..<4_000).map { Item(id: "i\($0)", fields: ["year": .int(Int64($0 % 100))]) },
            revision: 1)
        let years = (0..<100).map { Predicate.equals(field: "year", value: .int(Int64($0))) }
        var query = IndexQuery(limit: 0, countsFacets: true)
        query.sections = [
            SectionQuery(id: "few", selected: [years[1], years[2], years[3]]),
            SectionQuery(id: "years", offered: years),
            SectionQuery(id: "again", offered: years),
        ]
        index.looksInTurn = 300
        #expect(try index.page(of: query)?.counts.last?.reduce(0, +) == 120)
        index.looksInTurn = 220
        #expect(try index.page(of: query) == nil, "the second time too few looks are left")
        // Two sections' sets are put together for a third that has its own selection.
        query.sections = (0..<3).map { SectionQuery(id: "\($0)", selected: [.not(years[$0])]) }
        index.looksInTurn = 100
        #expect(try index.page(of: query) == nil)
        index.looksInTurn = 1_000
        #expect(try index.page(of: query) != nil)
    }

    @Test(arguments: ["name", "-name"])
    func `a page of items that share the first key looks at few of them`(second: String) throws {
        let index = ContentIndex(
            fields: [Field(name: "rank", type: .integer), Field(name: "name", type: .text)])
        let places = (0..<3_000).map { place in
            (id: "i\(place)", name: "\(place * 7 % 3_000)", rank: place % 100 == 0 ? 1 : 0)
        }
        index.put(
            places.map { place in
                Item(
                    id: place.id,
                    fields: ["rank": .int(Int64(place.rank)), "name": .text(place.name)])
            }, revision: 1)
        var query = IndexQuery(sort: [SortKey("rank"), SortKey(second)], limit: 20)
        // After some scans both orders exist.
        for _ in 0..<20 { _ = try index.query(query) }
        let expected = places.filter { $0.rank == 0 }
            .sorted { second == "name" ? $0.name < $1.name : $0.name > $1.name }
            .map(\.id)
        index.looksInTurn = 1_000
        for page in 0..<100 {
            let found = try #require(try index.page(of: query), "page \(page) looked at too many")
            #expect(found.rows.map(\.id) == Array(expected[(page * 20)...].prefix(20)))
            query.cursor = found.next
        }
    }

    /// 1,500 items with a rank, of which pages may be read off rows in order.
    private func ranked(by sort: String, isOrdered: Bool) throws -> ContentIndex {
        let index = ContentIndex(fields: [Field(name: "rank", type: .integer)])
        let items = (0..<1_500).map { place in
            Item(id: "i\(place)", fields: ["rank": .int(Int64(place * 7 % 1_500))])
        }
        index.put(items, revision: 1)
        guard isOrdered else { return index }
        for _ in 0..<20 { _ = try index.query(IndexQuery(sort: [SortKey(sort)], limit: 1)) }
        #expect(!index.orders.isEmpty)
        return index
    }
}

extension ContentIndex {
    /// Removes what comes first.
    fileprivate func removeFirst(_ count: Int, _ query: IndexQuery) throws {
        var query = query
        query.limit = count
        remove(try self.query(query).rows.map(\.id))
    }
}
