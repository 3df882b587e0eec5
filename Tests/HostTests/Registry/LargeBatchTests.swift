import AtriumKit
import Index
import JSONCodec
import Synchronization
import Testing

@testable import Host

/// Batches of so many items that they are checked on a thread.
@Suite(.timeLimit(.minutes(3))) struct LargeBatchTests {
    private static let large = BatchCheck.few * 2

    private func films(_ count: Int, rating: (Int) -> Double = { _ in 5 }) -> [Item] {
        (0..<count).map { .film("f\(1_000 + $0)", rating: rating($0)) }
    }

    @Test(arguments: [0, large])
    func `a bad batch is refused whole for the same reason, however many items it has`(
        _ others: Int
    ) async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        let films = films(others)
        await expect(
            .fieldInvalid(item: "b", field: "rating", expected: "at most 10", found: "11")
        ) { try await host.put(films + [.film("b", rating: 11)]) }
        await expect(
            .itemInvalid(item: "b", reason: "The id occurs twice in the batch.")
        ) { try await host.put([.film("b")] + films + [.film("b")]) }
        let long = Item(
            id: "long", fields: ["title": .text(String(repeating: "x", count: 1 << 20))])
        await expect(.limitExceeded(limit: "batchBytes", value: 1 << 20, retryAfter: nil)) {
            try await host.put(films + [long])
        }
        await expect(.revisionMismatch(item: "b", expected: 7, found: 0)) {
            let drafts = films.map { ItemDraft(item: $0) }
            _ = try await host.call {
                $0.put(
                    "films", component: nil,
                    drafts + [ItemDraft(item: .film("b"), ifRevision: 7)], by: .ann, $1)
            }
        }
        #expect(try await host.list().total == 0)
        try await host.end()
    }

    @Test func `of a large batch those items are written that changed`() async throws {
        var host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put(films(Self.large))
        let changed = films(Self.large) { $0.isMultiple(of: 3) ? 8 : 5 }
        let put = try await host.put(changed)
        let count = (0..<Self.large).count { $0.isMultiple(of: 3) }
        #expect(put.updated == count)
        #expect(put.unchanged == Self.large - count)
        for _ in 0..<2 {
            // The second time as the records have them.
            let found = await host.on { registry in
                let list = try? registry.containers["films"]?.list(nil).list
                return changed.map { list?.item($0.id)?.fields }
            }
            for (film, fields) in zip(changed, found) {
                let fields: [String: Value] = try JSON.decode(from: try #require(fields))
                #expect(fields["rating"]?.number == film.fields["rating"]?.number, "\(film.id)")
            }
            host = try await host.restarted()
        }
        try await host.end()
    }

    @Test func `a batch that follows a large one is decided after it`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        let films = films(Self.large)
        let results = try await host.callAll(2) { registry, index, reply in
            let items = index == 0 ? films : [.film(films[0].id, rating: 9)]
            registry.put(
                "films", component: nil, items.map { ItemDraft(item: $0) }, by: .ann, reply)
        }
        #expect(try results[0].get().inserted == Self.large)
        #expect(try results[1].get().updated == 1)
        try await host.end()
    }

    @Test func `purges and batches, of any size, come one after another in their order`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        let films = films(Self.large)
        // What is purged is put again each time.
        let results = try await host.callAll(5) {
            (registry, index, reply: @escaping Reply<Int64>) in
            guard index.isMultiple(of: 2) else {
                return registry.remove(
                    "films", component: nil, [films[0].id], purge: true, by: .ann
                ) { reply($0.map(\.sequence)) }
            }
            let items = index == 4 ? [.film(films[0].id, rating: 9)] : films
            registry.put(
                "films", component: nil, items.map { ItemDraft(item: $0) }, by: .ann
            ) { reply($0.map(\.sequence)) }
        }
        let sequences = try results.map { try $0.get() }
        #expect(sequences == sequences.sorted() && Set(sequences).count == 5, "\(sequences)")
        #expect(try await host.list().total == Self.large)
        try await host.end()
    }

    @Test func `a large batch that is refused at once is not decoded`() async throws {
        var limits = HostLimits()
        limits.waitingCalls = 10
        let host = try await TestRegistry.start(limits: limits)
        try await host.apply(.films)
        await host.on { $0.containers["films"]?.gates.close(["list"]) {} }
        let decoded = Mutex(0)
        let films = films(Self.large)
        async let results = host.callAll(8) { (registry, _, reply: @escaping Reply<PutResult>) in
            let batch = ItemBatch(count: films.count, isConditional: false) {
                () throws(HostError) in
                decoded.withLock { $0 += 1 }
                return films.map { ItemDraft(item: $0) }
            }
            registry.containers["films"]?.contents.put(batch, in: nil, by: .ann, reply)
        }
        while await host.on({ $0.containers["films"]?.slot("list")?.requests.waitingCount }) != 5 {
            await Task.yield()
        }
        await host.on { $0.containers["films"]?.gates.open(["list"]) }
        #expect(try await results.count { (try? $0.get()) != nil } == 5)
        #expect(decoded.withLock { $0 } == 5)
        try await host.end()
    }
}
