import AtriumKit
import Foundation
import IndexModel
import TestSupport
import Testing

@testable import Index

/// Queries that are kept answered, against the model, which answers each anew.
///
/// A failure prints its seed; `ATRIUM_SEED=` that number, in the environment, replays it.
struct IndexLiveQueryTests {
    @Test func `live queries show what a plain look at every item does, a hundred thousand times`()
        throws
    {
        let given = ProcessInfo.processInfo.environment["ATRIUM_SEED"].flatMap { UInt64($0) }
        let seed = given ?? UInt64.random(in: 1...UInt64.max)
        print("live queries: ATRIUM_SEED=\(seed)")
        var random = RepeatableRandom(seed)
        for round in 0..<50 {
            var world = LiveWorld(seed: random.next())
            for step in 0..<2_000 {
                let difference = try world.step()
                try #require(
                    difference == nil,
                    "ATRIUM_SEED=\(seed), round \(round), step \(step): \(difference ?? "")")
            }
        }
    }

    @Test func `a query takes what it looked at off what may be looked at in its turn`() throws {
        let index = ContentIndex(fields: [Field(name: "title", type: .text)])
        index.put(
            (0..<2_000).map { Item(id: "i\($0)", fields: ["title": .text("\($0 * 7 % 2_000)")]) },
            revision: 1)
        let query = IndexQuery(sort: [SortKey("title")], limit: 10)
        var looks = 30_000
        let first = try LiveQuery(query, in: index, within: &looks)
        #expect(first?.window.count == 10)
        #expect(looks < 30_000)
        looks = 10
        #expect(try LiveQuery(query, in: index, within: &looks) == nil, "the next one is prepared")
    }
}

/// Live queries over an index that changes at random, and the model beside it.
private struct LiveWorld {
    private struct Kept {
        var live: LiveQuery
        var shown: IndexModel.Page
        var window: [IndexedItem]
    }

    private var world: IndexWorld
    private var kept: [Kept] = []

    init(seed: UInt64) {
        var random = RepeatableRandom(seed)
        world = IndexWorld(seed: seed, idCount: Int.random(in: 4...20, using: &random))
    }

    /// Makes a change, and compares one of the queries with the model; the others fall behind.
    ///
    /// - Returns: What differs.
    mutating func step() throws -> String? {
        world.change()
        if kept.count < 8 || world.chance(2) { try renew() }
        let place = world.pick(0...kept.count - 1)
        let live = kept[place].live
        if world.chance(60) {
            while world.index.live.follow() {}
            // One that no change affects shows what there is.
            if !live.isStale, let difference = difference(live) {
                return "not stale, but \(difference)"
            }
        }
        var looks = world.index.looksInTurn
        let isChanged = live.advance(within: &looks)
        if let difference = difference(live) { return difference }
        let page = IndexModel.Page(
            ids: live.window.map(\.id), total: live.total, counts: live.counts)
        let isOther = page != kept[place].shown || live.window != kept[place].window
        guard isChanged == isOther else {
            return "\(live.query): told \(isChanged ? "a" : "no") change, and there was "
                + (isOther ? "one" : "none")
        }
        kept[place].shown = page
        kept[place].window = live.window
        return nil
    }

    /// What a query shows otherwise than the model has it.
    private func difference(_ live: LiveQuery) -> String? {
        let page = IndexModel.Page(
            ids: live.window.map(\.id), total: live.total, counts: live.counts)
        let expected = world.model.page(live.query, after: nil)
        guard page == expected else { return "\(live.query): \(page) instead of \(expected)" }
        for item in live.window where item != world.index.item(item.id) {
            return "\(live.query): \(item) is not as it is now"
        }
        return nil
    }

    private mutating func renew() throws {
        var query = world.query()
        query.limit = world.pick(0...8)
        // As few as tell: it is the plain look at each that takes the time.
        for place in query.sections.indices {
            query.sections[place].offered = Array(query.sections[place].offered.suffix(3))
        }
        var looks = world.index.looksInTurn
        let live = try #require(try LiveQuery(query, in: world.index, within: &looks))
        let shown = IndexModel.Page(
            ids: live.window.map(\.id), total: live.total, counts: live.counts)
        let new = Kept(live: live, shown: shown, window: live.window)
        if kept.count < 8 { kept.append(new) } else { kept[world.pick(0...7)] = new }
    }
}
