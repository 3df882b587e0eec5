import AtriumKit
import IndexModel
import Testing

@testable import Index

/// Queries that are prepared step by step while the index changes, against the model.
///
/// A failure prints its seed; put it among the arguments to see it again.
struct IndexPreparationTests {
    @Test(arguments: [1, 2, UInt64.random(in: 4...UInt64.max)])
    func `a query prepared in steps is answered as of the last step`(seed: UInt64) throws {
        var world = IndexWorld(seed: seed, idCount: 60)
        for round in 0..<300 {
            world.change()
            var query = world.query()
            if world.chance(50) { addTexts(to: &query, &world) }
            let prepared = try QueryPreparation(query, in: world.index)
            while prepared.step() {
                if world.chance(10) { world.change() }
            }
            #expect(!prepared.isHopeless)
            let context = "seed \(seed), round \(round): \(query)"
            try check(query, prepared, world, context)
            // What was found is kept for others, as it is by now.
            try check(query, nil, world, context)
            world.change()
            if prepared.answer() != nil { try check(query, prepared, world, context) }
        }
    }

    @Test(arguments: [1, 2, UInt64.random(in: 4...UInt64.max)])
    func `a page found some rows in a step is right while rows change`(seed: UInt64) throws {
        var world = IndexWorld(seed: seed, idCount: 1_500)
        for _ in 0..<40 { world.put(count: 40) }
        world.index.wordsInStep = 1
        for round in 0..<40 {
            var query = world.query()
            // Most share what comes first: a boolean, a word, and nothing at all.
            query.sort.insert(SortKey(["seen", "-genres", "-votes.score"][round % 3]), at: 0)
            query.limit = world.pick(0...30)
            let prepared = try QueryPreparation(query, in: world.index)
            var steps = 0
            while prepared.step() {
                steps += 1
                if world.chance(15) { world.put(count: 2) }
                if world.chance(5) { world.remove((0..<2).map { _ in world.id() }) }
                if world.chance(10) { world.vote(on: world.id()) }
                try #require(steps < 10_000)
            }
            let context = "seed \(seed), round \(round): \(query)"
            try check(query, prepared, world, context)
            let page = try world.index.query(query, prepared)
            guard let next = page.next else { continue }
            query.cursor = next
            let rest = try QueryPreparation(query, in: world.index)
            while rest.step() {}
            let expected = try world.index.query(query)
            #expect(try world.index.query(query, rest).rows == expected.rows, "\(context)")
            #expect(try world.index.query(query, rest).next == expected.next, "\(context)")
        }
    }

    @Test func `a page whose first key all share is found some rows in a step`() throws {
        let index = ContentIndex(fields: [
            Field(name: "kind", type: .text), Field(name: "title", type: .text),
        ])
        let items = (0..<20_000).map { place in
            Item(id: "i\(place)", fields: ["kind": "one", "title": .text("\(place * 7 % 20_000)")])
        }
        index.put(items, revision: 1)
        index.looksInTurn = 500_000
        index.wordsInStep = 16
        let plain = IndexQuery(sort: [SortKey("title")], limit: 10)
        #expect(try index.page(of: plain) != nil, "few share a title")
        let query = IndexQuery(sort: [SortKey("kind"), SortKey("title")], limit: 10)
        #expect(try index.page(of: query) == nil, "each is compared")
        let prepared = try QueryPreparation(query, in: index)
        var steps = 0
        while prepared.step() { steps += 1 }
        #expect((20...30).contains(steps), "a thousand rows in each: \(steps)")
        #expect(
            try index.query(query, prepared).rows.map(\.id) == index.query(plain).rows.map(\.id))
    }

    @Test func `a section's filters are counted some in a step`() throws {
        let index = ContentIndex(fields: [Field(name: "words", type: .keywords)])
        let items = (0..<4_000).map { place in
            Item(
                id: "i\(place)",
                fields: ["words": .list((0..<4).map { .text("w\((place + $0 * 50) % 200)") })])
        }
        index.put(items, revision: 1)
        index.looksInTurn = 2_000
        let offered = (0..<200).map { Predicate.equals(field: "words", value: .text("w\($0)")) }
        var query = IndexQuery(limit: 0, countsFacets: true)
        query.sections = [SectionQuery(id: "words", offered: offered)]
        #expect(try index.page(of: query)?.counts == [Array(repeating: 80, count: 200)])
        query.sections.append(SectionQuery(id: "other", selected: [.not(offered[0])]))
        #expect(try index.page(of: query) == nil, "the rows of each are looked at")
        let prepared = try QueryPreparation(query, in: index)
        var steps = 0
        while prepared.step() {
            steps += 1
            guard steps < 20 else { continue }
            if steps.isMultiple(of: 4) { index.put([items[steps], items[steps + 7]], revision: 2) }
            if steps == 3 { index.remove(["i0", "i1"]) }
            if steps == 5 { index.put([items[1], Item(id: "new", fields: [:])], revision: 2) }
        }
        #expect(steps >= 3, "\(steps)")
        #expect(try index.query(query, prepared).counts == index.query(query).counts)
    }

    @Test func `a step looks at one part, or judges one row`() throws {
        var world = IndexWorld(seed: 3)
        for _ in 0..<50 { world.change() }
        var query = IndexQuery()
        query.sections = [
            SectionQuery(
                id: "texts",
                selected: (0..<1_000).map { .contains(field: "title", text: "text \($0)") })
        ]
        let prepared = try QueryPreparation(query, in: world.index)
        var steps = 0
        while prepared.step() { steps += 1 }
        #expect(steps >= 2_000, "a scan, and a look that no more texts are there")
        world.put(count: 3)
        #expect(prepared.answer() != nil)
        for _ in 0..<10 { world.put(count: 40) }
        #expect(prepared.answer() == nil, "so many are left to steps")
        while prepared.step() {}
        #expect(prepared.answer() != nil)
    }

    @Test func `a list that changes faster than it is followed refuses in the end`() throws {
        let index = ContentIndex(fields: [Field(name: "title", type: .text)])
        index.put(
            (0..<ChangeLog.length).map {
                Item(id: "i\($0)", fields: ["title": "the"], parent: "parent")
            }, revision: 1)
        let prepared = try QueryPreparation(IndexQuery(search: "the"), in: index)
        var steps = 0
        while prepared.step(), steps < 100 {
            // Each time more children become roots, or are no roots any more, than the log holds.
            let parent = Item(id: "parent", fields: [:])
            if steps % 2 == 0 { index.put([parent], revision: 2) } else { index.remove(["parent"]) }
            steps += 1
        }
        #expect(prepared.isHopeless)
        #expect(steps < 20)
    }

    @Test func `the parts of a predicate are found one by one`() throws {
        var world = IndexWorld(seed: 5)
        for _ in 0..<50 { world.change() }
        let texts = (0..<100).map { Predicate.contains(field: "note", text: "text \($0)") }
        var query = IndexQuery()
        query.sections = [
            SectionQuery(id: "any", selected: [.not(.and([.or(texts), .not(.and(texts))]))])
        ]
        let prepared = try QueryPreparation(query, in: world.index)
        var steps = 0
        while prepared.step() { steps += 1 }
        #expect(steps >= 400, "a scan, and the end of it, for each text: \(steps)")
        try check(query, prepared, world, "a hundred texts, twice")
    }

    @Test func `a step judges a thousand ids`() throws {
        let index = ContentIndex(fields: [])
        index.put((0..<10_000).map { Item(id: "i\($0)", fields: [:]) }, revision: 1)
        var query = IndexQuery()
        query.sections = [
            SectionQuery(id: "id", selected: [.not(.contains(field: "id", text: "7"))])
        ]
        let prepared = try QueryPreparation(query, in: index)
        var steps = 0
        while prepared.step() { steps += 1 }
        #expect(steps >= 10, "\(steps)")
        #expect(try index.query(query, prepared).total == 6_561)
    }

    @Test func `of a warm query with a hundred written filters nothing is looked at again`() throws
    {
        var world = IndexWorld(seed: 6)
        for _ in 0..<50 { world.change() }
        var query = IndexQuery()
        let texts = (0..<100).map { Predicate.contains(field: "title", text: "text \($0)") }
        query.sections = [SectionQuery(id: "texts", selected: texts, offered: texts)]
        query.countsFacets = true
        var steps: [Int] = []
        for _ in 0..<2 {
            let prepared = try QueryPreparation(query, in: world.index)
            steps.append(0)
            while prepared.step() { steps[steps.count - 1] += 1 }
            try check(query, prepared, world, "\(steps)")
            world.put(count: 3)
            #expect(prepared.answer() != nil)
            try check(query, prepared, world, "\(steps), followed")
        }
        #expect(steps[0] >= 300, "\(steps)")
        #expect(steps[1] <= 110, "a look into the cache for each: \(steps)")
    }

    @Test func `rows are listed by their numbers some thousand in a step`() throws {
        let index = ContentIndex(fields: [Field(name: "year", type: .integer)])
        func item(_ place: Int, _ year: Int) -> Item {
            Item(id: "i\(place)", fields: ["year": .int(Int64(year))])
        }
        index.put((0..<20_000).map { item($0, $0) }, revision: 1)
        var query = IndexQuery()
        query.sections = [
            SectionQuery(id: "year", selected: [.equals(field: "year", value: 7)])
        ]
        #expect(query.isLong(in: index))
        let prepared = try QueryPreparation(query, in: index)
        var steps = 0
        while prepared.step() {
            steps += 1
            guard steps <= 4 else { continue }
            // Rows that are listed already, rows that are not, and a new one.
            index.put(
                [item(steps, 7), item(19_999 - steps, 7), item(20_000 + steps, 7)], revision: 2)
            index.remove(["i\(19_000 - steps)"])
        }
        #expect((9...40).contains(steps), "\(steps)")
        #expect(!query.isLong(in: index))
        let expected = index.ids(inRows: 0..<index.rowCount).filter {
            index.item($0)?.fields == Array(#"{"year":7}"#.utf8)
        }
        #expect(try index.query(query).total == expected.count)
        #expect(index.values.count(of: "year") > 1_000)
    }

    private func check(
        _ query: IndexQuery, _ prepared: QueryPreparation?, _ world: IndexWorld, _ context: String
    ) throws {
        let page = try world.index.query(query, prepared)
        let answer = IndexModel.Page(
            ids: page.rows.map(\.id), total: page.total, counts: page.counts)
        #expect(answer == world.model.page(query, after: nil), "\(context)")
    }

    /// Selects so many texts that no set is kept for each.
    private func addTexts(to query: inout IndexQuery, _ world: inout IndexWorld) {
        let texts = (0..<20).map { _ in
            Predicate.contains(field: world.chance(50) ? "title" : "note", text: world.word())
        }
        query.sections.append(SectionQuery(id: "texts", selected: texts + [world.predicate()]))
    }
}
