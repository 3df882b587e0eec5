import AtriumKit
import AtriumKitTesting
import Catalog
import Testing

@Suite struct `The catalog` {
    private func item(_ id: String, _ fields: [String: Value] = [:], in parent: String? = nil)
        -> Item
    {
        Item(id: id, fields: fields, parent: parent)
    }

    @Test func `what is put is reported as inserted, updated or unchanged`() throws {
        let host = try MemoryHost(Catalog.self)
        try host.run(.putItems([item("a", ["year": 1972]), item("b")]))
        let decision = try host.run(
            .putItems([item("a", ["year": 1974]), item("b"), item("c")]))
        #expect(decision.answer == .items(inserted: ["c"], updated: ["a"], unchanged: 1))
        #expect(decision.changes.map(\.key) == ["a", "c"])
        #expect(
            decision.events == [
                .contents(.update([item("a", ["year": 1974])])), .contents(.insert([item("c")])),
            ])
    }

    @Test func `a thousand items are one event`() throws {
        let host = try MemoryHost(Catalog.self)
        let items = (0..<1000).map { item("item-\($0)") }
        #expect(try host.run(.putItems(items)).events == [.contents(.insert(items))])
        let removed = try host.run(.removeItems(items.map(\.id)))
        #expect(removed.events == [.contents(.remove(items.map(\.id)))])
    }

    @Test func `the same item, its numbers written otherwise, is unchanged`() throws {
        let host = try MemoryHost(Catalog.self)
        try host.run(.putItems([item("a", ["rating": 8.0, "tags": ["x"], "none": nil])]))
        let decision = try host.run(.putItems([item("a", ["rating": 8, "tags": ["x"]])]))
        #expect(decision.answer == .items(inserted: [], updated: [], unchanged: 1))
        #expect(decision.changes == [])
    }

    @Test func `a text in another normal form is an update`() throws {
        let host = try MemoryHost(Catalog.self)
        try host.run(.putItems([item("a", ["title": "\u{e9}", "tags": ["\u{e9}"]])]))
        for fields: [String: Value] in [
            ["title": "e\u{301}", "tags": ["\u{e9}"]], ["title": "e\u{301}", "tags": ["e\u{301}"]],
        ] {
            let decision = try host.run(.putItems([item("a", fields)]))
            #expect(decision.answer == .items(inserted: [], updated: ["a"], unchanged: 0))
        }
    }

    @Test func `of an id that stands twice the last counts`() throws {
        let host = try MemoryHost(Catalog.self)
        let decision = try host.run(
            .putItems([item("a", ["year": 1]), item("b"), item("a", ["year": 2])]))
        #expect(decision.changes == [item("a", ["year": 2]).record, item("b").record])
    }

    @Test func `a parent may come later, and go earlier`() throws {
        let host = try MemoryHost(Catalog.self)
        try host.run(.putItems([item("leaf", in: "branch")]))
        try host.run(.putItems([item("branch")]))
        try host.run(.removeItems(["branch"]))
        #expect(host.records.keys.sorted() == ["leaf"])
    }

    @Test func `an item that would lie under itself is refused with its batch`() throws {
        let host = try MemoryHost(Catalog.self)
        try host.run(.putItems([item("a"), item("b", in: "a"), item("c", in: "b")]))
        for items in [
            [item("d", in: "d")], [item("a", in: "c")],
            [item("new"), item("x", in: "y"), item("y", in: "x")],
        ] {
            let refusal = try #require(
                #expect(throws: Refusal.self) { try host.run(.putItems(items)) })
            #expect(refusal.evidence["field"] == "parent")
        }
        #expect(host.records.keys.sorted() == ["a", "b", "c"])
    }

    @Test func `removing names what was there, once`() throws {
        let host = try MemoryHost(Catalog.self)
        try host.run(.putItems([item("a"), item("b")]))
        let decision = try host.run(.removeItems(["b", "nothing", "b"]))
        #expect(decision.answer == .removed(["b"]))
        #expect(try host.run(.removeItems(["b"])).changes == [])
    }

    @Test func `a record that is no item is skipped and logged`() throws {
        let host = try MemoryHost(Catalog.self)
        let events = host.restore([
            .put(key: "a", value: "text"), .put(key: "b", value: ["fields": 1]),
            item("c").record,
        ])
        #expect(events == [.contents(.replaceAll), .contents(.insert([item("c")]))])
        #expect(host.services.messages.map(\.level) == [.warning, .warning])
    }

    @Test(arguments: [7, UInt64.random(in: 0...UInt64.max)])
    func `restored at once it is what it is when restored one by one`(seed: UInt64) throws {
        var random = Random(state: seed)
        let (one, other) = (try MemoryHost(Catalog.self), try MemoryHost(Catalog.self))
        for step in 0..<300 {
            let context = one.nextContext()
            let ids = (0..<4).map { _ in "item-\(Int.random(in: 0..<40, using: &random))" }
            let command: ComponentCommand =
                if Bool.random(using: &random) {
                    .removeItems(ids)
                } else {
                    .putItems(
                        ids.map { item($0, ["year": .int(.random(in: 0..<3, using: &random))]) })
                }
            let fails = Int.random(in: 0..<8, using: &random) == 0
            (one.failNextCommit, other.failNextCommit) = (fails, fails)
            let (left, right) = (
                Result { try one.run(command, context) }, Result { try other.run(command, context) }
            )
            #expect((try? left.get()) == (try? right.get()), "seed \(seed), step \(step)")
            if step % 20 == 0 {
                try one.restart()
                try other.restart(atOnce: true)
            }
            (one.failNextCommit, other.failNextCommit) = (false, false)
            #expect(items(of: one) == items(of: other), "seed \(seed), step \(step)")
        }
    }

    private func items(of host: MemoryHost) -> [Item] {
        host.restore([]).flatMap { event -> [Item] in
            if case .contents(.insert(let items)) = event { items } else { [] }
        }
        .sorted { $0.id < $1.id }
    }
}

/// Repeatable randomness.
private struct Random: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 29
    }
}
