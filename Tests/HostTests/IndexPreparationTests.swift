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
