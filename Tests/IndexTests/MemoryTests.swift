import AtriumKit
import TestSupport
import Testing

@testable import Index

/// What an index has in memory, in forms that take little of it: each holds whatever may be in it.
@Suite struct MemoryTests {
    private static let fields = [
        Field(name: "title", type: .text, search: true), Field(name: "year", type: .integer),
    ]

    /// An index of records, as a start makes it, and the items for their component.
    private func load(
        _ records: [(id: String, json: String)], fields: [Field] = fields
    ) throws -> (ContentIndex, RecordItems) {
        let index = ContentIndex(fields: fields)
        let loader = IndexLoader(index)
        loader.reserve(records.count)
        var batcher = RecordBatcher(fields: fields, expecting: records.count)
        for (number, record) in records.enumerated() {
            var (id, json) = record
            try id.withUTF8 { id in
                try json.withUTF8 { json in
                    _ = try batcher.append(
                        key: UnsafeRawBufferPointer(id), value: UnsafeRawBufferPointer(json),
                        revision: Int64(number))
                }
            }
            if batcher.isFull { loader.append(batcher.takeBatch()) }
        }
        loader.append(batcher.takeBatch())
        loader.finish(batcher.items)
        return (index, batcher.restored)
    }

    private func record(_ number: Int, parent: String? = nil, title: String? = nil) -> (
        id: String, json: String
    ) {
        let parent = parent.map { ",\"parent\":\"\($0)\"" } ?? ""
        let title = title ?? "The \(number) nights"
        return (
            "i\(String(number + 1_000_000))",
            "{\"fields\":{\"title\":\"\(title)\",\"year\":\(number)}\(parent)}"
        )
    }

    private func insert(_ text: String, owner: Int, into texts: FoldedTexts) {
        Array(text.utf8).withUnsafeBytes { original in
            Folding.fold(text).withUnsafeBytes {
                texts.insert($0, original: original, owner: owner)
            }
        }
    }

    @Test(arguments: [0, 1, 15, 16, 17, 33, 30_000])
    func `restored items are found by id and by place, in all chunks of memory`(count: Int) throws {
        let (index, items) = try load((0..<count).map { record($0) })
        #expect(items.count == count)
        // What comes and goes later changes nothing of what was restored.
        index.put([Item(id: "later", fields: [:])], revision: 1)
        index.remove((0..<count / 2).map { record($0).id })
        for number in 0..<count {
            let id = record(number).id
            #expect(items.item(at: number)?.id == id)
            #expect(items.item(id)?.fields["year"] == .int(Int64(number)))
            #expect(items.contains(id))
        }
        for id in ["", "a", "i1000000a", "i100", "i1000016 ", "later", "z"] {
            #expect(!items.contains(id), "\(id)")
            #expect(items.item(id) == nil)
        }
    }

    @Test func `many keywords of a restored item count once each`() throws {
        let words = (Array(0..<100) + (0..<100)).map { "\"w\($0)\"" }.joined(separator: ",")
        var records = (0..<2).map { (id: "i\($0)", json: "{\"fields\":{\"words\":[\(words)]}}") }
        // The rows of few among many are counted one by one.
        records += (0..<50).map { (id: "other\($0)", json: "{\"fields\":{}}") }
        let (index, _) = try load(records, fields: [Field(name: "words", type: .keywords)])
        let all = (0..<101).map { Predicate.equals(field: "words", value: .text("w\($0)")) }
        var query = IndexQuery(limit: 0, countsFacets: true)
        query.sections = [
            SectionQuery(id: "all", offered: all), SectionQuery(id: "one", selected: [all[0]]),
        ]
        #expect(try index.query(query).counts.first == Array(repeating: 2, count: 100) + [0])
        // What is put in the place of one removes each of its words once.
        index.put([Item(id: "i0", fields: ["words": .list([.text("w0")])])], revision: 9)
        #expect(try index.query(query).counts.first == [2] + Array(repeating: 1, count: 99) + [0])
    }

    @Test func `items of any length are kept, beside short ones`() throws {
        let long = String(repeating: "long ", count: 13_200)
        let huge = String(repeating: "0123456789abcdef", count: 1 << 17)
        let name = String(repeating: "n", count: 200)
        let far = String(repeating: "p", count: 254)
        let farther = String(repeating: "q", count: 300)
        let titles = [nil, long, huge, nil, "", long, nil]
        let parents = [nil, name, far, farther, nil, "i1000000", name]
        var records = titles.indices.map { record($0, parent: parents[$0], title: titles[$0]) }
        records.append((farther + "z", "{\"fields\":{}}"))
        let (index, items) = try load(records)
        for (number, (id, _)) in records.enumerated() {
            let item = try #require(index.item(id))
            #expect(item.parent == (number < parents.count ? parents[number] : nil))
            #expect(items.item(at: number)?.parent == item.parent)
            #expect(items.item(id)?.id == id)
            if number < titles.count, let title = titles[number] {
                #expect(items.item(id)?.fields["title"] == .text(title))
            }
        }
        // Changed in place of another, and moved when the others go.
        let other = Item(id: records[1].id, fields: ["title": .text(huge)], parent: far)
        index.put([other], revision: 9)
        index.remove(records.map(\.id).filter { $0 != records[1].id })
        #expect(index.item(records[1].id)?.parent == far)
        #expect(index.item(records[1].id)?.fields.count == huge.utf8.count + 12)
    }

    @Test func `a revision may be any number`() {
        let index = ContentIndex(fields: Self.fields)
        let revisions: [Int64] = [1, 1 << 32 - 1, 1 << 32, 1 << 40 + 7, .max, 2]
        for (number, revision) in revisions.enumerated() {
            index.put([Item(id: "\(number)", fields: [:])], revision: revision)
        }
        for (number, revision) in revisions.enumerated() {
            #expect(index.revision(of: "\(number)") == revision)
        }
        index.setRevision(3, of: "4")
        index.setRevision(1 << 50, of: "0")
        #expect(index.revision(of: "4") == 3)
        #expect(index.revision(of: "0") == 1 << 50)
    }

    @Test func `postings that were copied stay as they are when the others change`() {
        var postings = Postings()
        for row in 0..<1_000 { postings.insert(row) }
        let copy = postings
        postings.insert(5_000)
        postings.remove(3)
        #expect(copy.count == 1_000 && copy.contains(3) && !copy.contains(5_000))
        #expect(postings.count == 1_000 && !postings.contains(3) && postings.contains(5_000))
        #expect(MemoryLayout<Postings>.stride == 8)
    }

    @Test(arguments: [0, 1, 40_000, 70_000, 200_000])
    func `texts keep their own form, wherever the first is whose folded form has another length`(
        first: Int
    ) {
        let texts = FoldedTexts()
        // Short ones: more of them in a run than its bytes would let in.
        let all = (0..<150_000).map { number in
            number >= first && number % 3 == 0 ? "ſ\(number)ẞ" : "X\(number)"
        }
        for (owner, text) in all.enumerated() {
            insert(text, owner: owner, into: texts)
        }
        for (owner, text) in all.enumerated() where owner % 7 == 0 || owner > 149_000 {
            #expect(texts.withOriginal(of: owner) { $0.text } == text)
            #expect(texts.withText(of: owner) { Array($0) } == Folding.fold(text))
        }
        for owner in all.indices where owner % 4 != 0 { texts.remove(owner: owner) }
        for owner in all.indices where owner % 4 != 0 {
            insert(all[owner], owner: owner, into: texts)
        }
        let isSame = all.indices.allSatisfy { owner in
            texts.withOriginal(of: owner) { $0.text } == all[owner]
        }
        #expect(isSame)
        var found: [Int] = []
        if let needle = Needle(Array("x149999".utf8)) {
            texts.visitOwners(containing: needle) { found.append($0) }
        }
        #expect(found == [149_999])
    }

    @Test func `a column of zeros answers as one whose zeros are written`() {
        let (plain, written) = (NumberColumn(type: .integer), NumberColumn(type: .integer))
        // Anything but 0 has them written; what is missing again is missing in both.
        written.set(7 as Double, row: 0)
        written.set(nil as Double?, row: 0)
        var random = RepeatableRandom(3)
        for step in 0..<3_000 {
            let row = Int.random(in: 0..<700, using: &random)
            let isThere = Int.random(in: 0..<4, using: &random) > 0
            let number = isThere ? (step % 2 == 0 ? 0 : -0.0) : nil as Double?
            for column in [plain, written] { column.set(number, row: row) }
        }
        let ranges = [
            NumberRange(lower: nil, upper: nil),
            NumberRange(lower: .init(0), upper: nil),
            NumberRange(lower: .init(0, isIncluded: false), upper: nil),
            NumberRange(lower: nil, upper: .init(-1)),
        ]
        func members(_ rows: Bitset) -> [Int] {
            var members: [Int] = []
            rows.visit { members.append($0) }
            return members
        }
        for range in ranges {
            #expect(members(plain.rows(in: range)) == members(written.rows(in: range)))
            for part in [0..<64, 64..<200, 128..<128, 640..<plain.rowCount, 3..<90] {
                #expect(
                    members(plain.rows(in: range, among: part))
                        == members(written.rows(in: range, among: part)), "\(part)")
            }
        }
        for end in [0, 1, 63, 64, 100, 700, 5_000] {
            #expect(
                members(plain.rowsWithValue(below: end))
                    == members(written.rowsWithValue(below: end)))
        }
        for row in 0..<800 { #expect(plain.number(of: row) == written.number(of: row)) }
        #expect(plain.rowCount == written.rowCount)
        #expect(plain.sortedNumbers == [0])
        plain.set(3 as Double, row: 2)
        #expect(plain.sortedNumbers == [0, 3])
        #expect(plain.number(of: 2) == 3 && plain.lists(2))
    }

    @Test func `a list without votes has none of them, whoever asks`() throws {
        let (index, _) = try load((0..<2_000).map { record($0) })
        func ids(_ predicate: Predicate) throws -> [String] {
            let section = SectionQuery(id: "votes", selected: [predicate])
            let page = try index.page(of: IndexQuery(sections: [section], limit: 5))
            return try #require(page).rows.map(\.id)
        }
        let zero = Predicate.range(field: "votes.count", lower: nil, upper: .init(0))
        let some = Predicate.range(field: "votes.count", lower: .init(1), upper: nil)
        let first = (0..<5).map { record($0).id }
        #expect(try ids(zero) == first)
        #expect(try ids(some) == [])
        index.setTally(Tally(count: 2, score: 4, histogram: ["4": 2]), for: record(3).id)
        #expect(try ids(some) == [record(3).id])
        #expect(try ids(zero) == [0, 1, 2, 4, 5].map { record($0).id })
        index.remove([record(3).id])
        #expect(try ids(some) == [])
    }
}
