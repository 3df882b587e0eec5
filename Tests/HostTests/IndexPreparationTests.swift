import AtriumKit
import Testing

@testable import Host

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
            let prepared = QueryPreparation(query, in: world.index)
            while prepared.step() {
                if world.chance(10) { world.change() }
            }
            #expect(!prepared.isHopeless)
            let context = "seed \(seed), round \(round): \(query)"
            try check(query, prepared, world, context)
            // What was found is kept for others, as it is by now.
            try check(query, nil, world, context)
            world.change()
            if prepared.catchUp() { try check(query, prepared, world, context) }
        }
    }

    @Test func `a step looks at one part, or judges one row`() {
        var world = IndexWorld(seed: 3)
        for _ in 0..<50 { world.change() }
        var query = IndexQuery()
        query.sections = [
            SectionQuery(
                id: "texts",
                selected: (0..<1_000).map { .contains(field: "title", text: "text \($0)") })
        ]
        let prepared = QueryPreparation(query, in: world.index)
        var steps = 0
        while prepared.step() { steps += 1 }
        #expect(steps >= 2_000, "a scan, and a look that no more texts are there")
        world.put(count: 3)
        #expect(prepared.catchUp())
        for _ in 0..<10 { world.put(count: 40) }
        #expect(!prepared.catchUp(), "so many are left to steps")
        while prepared.step() {}
        #expect(prepared.catchUp())
    }

    @Test func `a list that is made anew all the time refuses in the end`() {
        var world = IndexWorld(seed: 4)
        world.put(count: 10)
        var query = IndexQuery()
        query.search = "the"
        let prepared = QueryPreparation(query, in: world.index)
        var steps = 0
        while prepared.step(), steps < 100 {
            world.index.removeAll()
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
        let prepared = QueryPreparation(query, in: world.index)
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
        let prepared = QueryPreparation(query, in: index)
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
            let prepared = QueryPreparation(query, in: world.index)
            steps.append(0)
            while prepared.step() { steps[steps.count - 1] += 1 }
            try check(query, prepared, world, "\(steps)")
            world.put(count: 3)
            #expect(prepared.catchUp())
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
        #expect(index.isLong(query))
        let prepared = QueryPreparation(query, in: index)
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
        #expect(!index.isLong(query))
        let expected = index.ids.filter { index.item($0)?.fields == Array(#"{"year":7}"#.utf8) }
        #expect(try index.query(query).total == expected.count)
        #expect(index.hasValues(of: "year", beyond: 1_000))
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
