import AtriumKit
import IndexModel
import TestSupport
import Testing

@testable import Index

/// An index and its model, changed alike.
struct IndexWorld {
    static let fields = [
        Field(name: "title", type: .text, required: true, search: true),
        Field(name: "note", type: .text),
        Field(name: "genres", type: .keywords, search: true),
        Field(name: "rating", type: .number),
        Field(name: "year", type: .integer),
        Field(name: "length", type: .duration),
        Field(name: "seen", type: .boolean),
        Field(name: "added", type: .time),
        // Midnight is not where UTC has it.
        Field(name: "day", of: "added", by: .day, zone: "Asia/Kathmandu"),
        Field(name: "week", of: "added", by: .week, zone: "Pacific/Apia"),
        Field(name: "month", of: "added", by: .month, zone: "America/New_York"),
    ]
    static let words = [
        "José", "jose", "STRASSE", "Straße", "École", "ecole", "Amélie", "the", "The", "of", "a",
        "Zażółć", "Ωμέγα", "ΏΜΕΓΑ", "東京", "각", "가", "", "long words that go on and on", "x y",
        "e\u{301}cole", "e\u{301}", "é e", "E\u{301}", "Éa", "e\u{301}\u{323}",
    ]

    private(set) var index = ContentIndex(fields: fields)
    var model = IndexModel(fields: fields)
    var random: RepeatableRandom
    var sequence: Int64 = 0
    var versions: [String: (version: UInt64, values: Set<IndexModel.ModelValue>)] = [:]

    /// How many ids there are: few, and the same items come and go.
    let idCount: Int

    init(seed: UInt64, idCount: Int = 400) {
        random = RepeatableRandom(seed)
        self.idCount = idCount
    }

    mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    mutating func chance(_ percent: Int) -> Bool { pick(1...100) <= percent }
    mutating func word() -> String { IndexWorld.words[pick(0...IndexWorld.words.count - 1)] }
    mutating func id() -> String { chance(3) ? "é\(pick(0...9))" : "item-\(pick(0...idCount))" }

    mutating func change() {
        sequence += 1
        switch pick(1...100) {
        case ...60: put(count: pick(1...max(1, idCount / 10)))
        case ...75: remove((0..<pick(1...max(1, idCount / 20))).map { _ in id() })
        case ...87: vote(on: id())
        case ...98: comment(on: id())
        case 99: remove(model.items.keys.sorted().filter { _ in chance(70) })
        default:
            index.remove(Array(model.items.keys))
            model.items = [:]
        }
    }

    /// Makes the index anew from the records of its items, in batches, as a start does.
    mutating func restart() throws {
        let records = model.items.values.map { (item: $0.item, revision: $0.revision) }
            .sorted { $0.item.id.utf8.lexicographicallyPrecedes($1.item.id.utf8) }
        index = ContentIndex(fields: Self.fields)
        var batcher = RecordBatcher(fields: Self.fields, expecting: records.count)
        let loader = IndexLoader(index)
        loader.reserve(records.count)
        for (item, revision) in records {
            let value = item.record.value?.jsonBytes ?? []
            _ = try value.withUnsafeBytes { value in
                try Array(item.id.utf8).withUnsafeBytes { key in
                    try batcher.append(key: key, value: value, revision: revision)
                }
            }
            if batcher.isFull || chance(5) { loader.append(batcher.takeBatch()) }
        }
        loader.append(batcher.takeBatch())
        loader.finish(batcher.items)
        for (id, tally) in model.tallies { index.setTally(tally, for: id) }
        for (id, count) in model.comments { index.setCommentCount(count, for: id) }
        versions = [:]
    }

    mutating func put(count: Int) {
        let items = (0..<count).map { _ in item() }
        if chance(60) { write(items) }
        index.put(items, revision: sequence)
        for item in items { model.items[item.id] = .init(item: item, revision: sequence) }
    }

    /// Writes the items' records before they are put, now and then those of others with the same ids.
    private mutating func write(_ items: [Item]) {
        var written = WrittenFields()
        let isOther = chance(20)
        for item in items {
            let item = isOther && chance(10) ? Item(id: item.id, fields: ["title": "other"]) : item
            #expect(written.write(item.record) == item.record.value?.jsonBytes)
        }
        index.written = written
    }

    mutating func remove(_ ids: [String]) {
        index.remove(ids)
        for id in ids { model.items[id] = nil }
    }

    mutating func vote(on id: String) {
        let score = Double(pick(10...50)) / 10
        let tally = chance(25) ? Tally() : Tally(count: pick(1...5), score: score)
        index.setTally(tally, for: id)
        model.tallies[id] = tally
    }

    mutating func comment(on id: String) {
        let count = pick(0...4)
        index.setCommentCount(count, for: id)
        model.comments[id] = count
    }

    mutating func item() -> Item {
        var fields: [String: Value] = [:]
        if chance(95) { fields["title"] = .text("\(word()) \(word())") }
        if chance(50) { fields["note"] = .text(word()) }
        if chance(80) { fields["genres"] = .list((0..<pick(0...4)).map { _ in .text(word()) }) }
        if chance(80) { fields["rating"] = .number(Double(pick(-20...100)) / 10) }
        if chance(80) { fields["year"] = .int(Int64(pick(1990...2024))) }
        if chance(60) { fields["length"] = .int(Int64(pick(0...9_000))) }
        if chance(60) { fields["seen"] = .bool(chance(50)) }
        if chance(60) {
            fields["added"] = .text("2024-0\(pick(1...9))-\(pick(11...30))T\(pick(10...23)):30:00Z")
        }
        // Values that are checked elsewhere, and must do no harm here.
        if chance(3) { fields["rating"] = .text("good") }
        if chance(3) { fields["title"] = chance(50) ? .null : .int(7) }
        if chance(3) { fields["genres"] = .list([.int(1), .text("jose"), .text("jose")]) }
        if chance(3) { fields["day"] = .text("2024-02-11") }
        if chance(3) { fields["other"] = .text("undeclared") }
        return Item(id: id(), fields: fields, parent: chance(30) ? id() : nil)
    }

    mutating func predicate(depth: Int = 0) -> Predicate {
        switch pick(1...(depth < 2 ? 13 : 9)) {
        case 1: return .equals(field: "genres", value: .text(word()))
        case 2: return .equals(field: "note", value: .text(word()))
        case 3: return .equals(field: "year", value: .int(Int64(pick(1990...2024))))
        case 4: return .equals(field: "seen", value: .bool(chance(50)))
        case 5:
            if chance(30) {
                let date = Value.text("2024-0\(pick(1...9))-\(pick(10...28))")
                return .equals(field: chance(50) ? "day" : "week", value: date)
            }
            if chance(20) {
                return .equals(field: "month", value: .text("2024-0\(pick(1...9))-01"))
            }
            return range(
                of: ["rating", "year", "length", "votes.score", "comments.count", "day"])
        case 6: return .contains(field: chance(50) ? "title" : "genres", text: word())
        case 7: return .equals(field: chance(50) ? "added" : "rating", value: .null)
        case 8: return .equals(field: chance(50) ? "id" : "nothing", value: .text(id()))
        case 9: return chance(50) ? .all : range(of: ["title", "nothing", "votes.count"])
        case 10: return .and((0..<pick(0...3)).map { _ in predicate(depth: depth + 1) })
        case 11: return .or((0..<pick(0...3)).map { _ in predicate(depth: depth + 1) })
        default: return .not(predicate(depth: depth + 1))
        }
    }

    mutating func range(of fields: [String]) -> Predicate {
        let field = fields[pick(0...fields.count - 1)]
        let scales = ["year": 2_000.0, "length": 4_000, "day": 1_714_521_600]
        let scale = scales[field] ?? 3
        func bound(_ random: inout RepeatableRandom) -> Predicate.Bound? {
            guard Bool.random(using: &random) else { return nil }
            let value = (scale + Double.random(in: -3...3, using: &random)).rounded()
            return Predicate.Bound(value, isIncluded: Bool.random(using: &random))
        }
        return .range(field: field, lower: bound(&random), upper: bound(&random))
    }

    mutating func query() -> IndexQuery {
        let known = [
            "title", "note", "genres", "rating", "year", "length", "seen", "added", "day", "week",
            "month", "votes.score", "votes.count", "comments.count", "id",
        ]
        var query = IndexQuery()
        query.parent = chance(70) ? .all : chance(50) ? .roots : .under(id())
        query.sections = (0..<pick(0...3)).map { number in
            let genres = IndexWorld.words.map {
                Predicate.equals(field: "genres", value: .text($0))
            }
            let years = (1990...2024).map {
                Predicate.equals(field: "year", value: .int(Int64($0)))
            }
            return SectionQuery(
                id: "section-\(number)",
                selected: (0..<pick(0...2)).map { _ in predicate() },
                offered: chance(40)
                    ? chance(50) ? genres : years : (0..<pick(0...3)).map { _ in predicate() })
        }
        query.search = chance(40) ? String(word().prefix(pick(1...4))) : nil
        query.sort = (0..<pick(0...3)).map { _ in
            SortKey(field: known[pick(0...known.count - 1)], descending: chance(50))
        }
        query.limit = chance(10) ? 10_000 : pick(0...40)
        query.countsFacets = chance(70)
        return query
    }

    mutating func checkQuery(_ context: String) throws {
        let query = query()
        let page = try index.query(query)
        let ids = page.rows.map(\.id)
        let answer = IndexModel.Page(ids: ids, total: page.total, counts: page.counts)
        #expect(answer == model.page(query, after: nil), "\(context): \(query)")
        #expect(index.count == model.items.count, "\(context)")
        for row in page.rows {
            let stored = model.items[row.id]
            #expect(row.fields == stored?.item.fields.jsonBytes, "\(context)")
            #expect(row.parent == stored?.item.parent, "\(context)")
            #expect(row.revision == stored?.revision, "\(context)")
            #expect(row.tally == model.tallies[row.id] ?? Tally(), "\(context)")
            #expect(row.comments == model.comments[row.id] ?? 0, "\(context)")
        }
    }

    mutating func checkValues(_ context: String) {
        for field in ["title", "genres", "rating", "year", "seen", "added", "week", "votes.score"] {
            let expected = model.distinctValues(of: field)
            #expect(
                index.values.distinct(of: field).count == expected.count, "\(context): \(field)")
            let version = index.values.version(of: [field])
            if let before = versions[field], before.values != expected {
                #expect(version != before.version, "\(context): \(field)")
            }
            versions[field] = (version, expected)
        }
    }

    mutating func walkPages(_ context: String) throws {
        var query = query()
        query.limit = pick(1...30)
        try walkPages(&query, context)
    }

    /// Follows the cursors of a query while items change.
    mutating func walkPages(_ query: inout IndexQuery, _ context: String) throws {
        var place: IndexModel.Place?
        for _ in 0..<20 {
            let page = try index.query(query)
            let expected = model.page(query, after: place)
            #expect(page.rows.map(\.id) == expected.ids, "\(context): \(query)")
            #expect(page.total == expected.total, "\(context)")
            guard let next = page.next, let last = page.rows.last,
                let item = model.items[last.id]?.item
            else {
                #expect(page.next == nil, "\(context)")
                return
            }
            place = model.place(of: item, query.sort)
            query.cursor = next
            change()
            if chance(30) { remove([last.id]) }
        }
    }
}

extension ContentIndex {
    /// A query's page, as prepared if it was, else at once.
    func query(_ query: IndexQuery, _ prepared: QueryPreparation? = nil) throws -> IndexPage {
        guard let prepared else { return try #require(try page(of: query, within: .max)) }
        return IndexPage(try #require(prepared.answer()))
    }
}

extension Field {
    /// A date that follows from another field.
    init(name: String, of: String, by: Bucket, zone: String) {
        self.init(name: name, type: .date)
        derivation = Derivation(of: of, by: by, zone: zone)
    }
}
