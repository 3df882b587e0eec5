import AtriumKit
import Testing

@testable import Index

/// Random changes and random queries, against the model.
///
/// A failure prints its seed; put it among the arguments to see it again.
struct IndexPropertyTests {
    @Test(arguments: [1, 2, UInt64.random(in: 4...UInt64.max)])
    func `the index answers as a plain look at every item does`(seed: UInt64) throws {
        var world = IndexWorld(seed: seed)
        for step in 0..<250 {
            world.change()
            try world.checkQuery("seed \(seed), step \(step)")
            if step % 20 == 0 { world.checkValues("seed \(seed), step \(step)") }
        }
    }

    @Test(arguments: [1, 2, UInt64.random(in: 4...UInt64.max)])
    func `an index made from records is the one that changes would have made`(
        seed: UInt64
    ) throws {
        // So many that batches are full.
        var world = IndexWorld(seed: seed, idCount: 3_000)
        for step in 0..<60 {
            world.change()
            if step % 5 == 0 { try world.restart() }
            try world.checkQuery("seed \(seed), step \(step)")
            if step % 5 == 0 { world.checkValues("seed \(seed), step \(step)") }
        }
    }

    @Test(arguments: [1, 2, UInt64.random(in: 4...UInt64.max)])
    func `an order that is made step by step is right while rows change`(seed: UInt64) throws {
        var world = IndexWorld(seed: seed, idCount: 120)
        world.index.orders.mostAtOnce = 0
        // Most changes are of more rows than that.
        world.index.orders.mostMoved = 3
        for _ in 0..<20 { world.put(count: 20) }
        for field in ["title", "rating", "id"] {
            for _ in 0..<20 {
                _ = try world.index.query(IndexQuery(sort: [SortKey(field)], limit: 1))
            }
        }
        var steps = 0
        for step in 0..<150 {
            if world.index.orders.grow(rows: 8) { steps += 1 }
            world.change()
            try world.checkQuery("seed \(seed), step \(step)")
        }
        #expect(steps > 0)
    }

    @Test(arguments: [1, 2, UInt64.random(in: 4...UInt64.max)])
    func `a cursor goes on behind its place while items come and go`(seed: UInt64) throws {
        var world = IndexWorld(seed: seed)
        for _ in 0..<30 { world.change() }
        for walk in 0..<10 {
            try world.walkPages("seed \(seed), walk \(walk)")
        }
    }

    @Test(arguments: [1, 2, UInt64.random(in: 4...UInt64.max)])
    func `pages of items that share values are read off the order of the next key`(
        seed: UInt64
    ) throws {
        var world = IndexWorld(seed: seed, idCount: 200)
        world.index.orders.mostSorted = 3
        for _ in 0..<20 { world.put(count: 20) }
        let sorts = [["seen", "title"], ["-year", "-id"], ["seen", "-year", "title"]]
        for step in 0..<40 {
            world.change()
            for sort in sorts {
                var query = IndexQuery(sort: sort.map { SortKey($0) }, limit: 5)
                try world.walkPages(&query, "seed \(seed), step \(step), \(sort)")
            }
        }
    }
}
