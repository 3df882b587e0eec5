import AtriumKit
import Index
import Store
import StoreFaults
import Testing

@testable import Host

@Suite(.timeLimit(.minutes(3))) struct RecordsTests {
    @Test func `what was exported makes another daemon the same`() async throws {
        let one = try await TestRegistry.filled()
        let other = try await TestRegistry.start()
        let records = try await one.export().records
        try await other.apply(.films)
        // The same person has another number there.
        try await other.cast(1, by: .moderator)
        let result = try await other.restore(records)
        #expect(result == RestoreResult(restored: records.count, unchanged: 0, sequence: 3))
        #expect(try await other.list().items == one.list().items)
        let tally = try await other.tally(of: "heat", actor: "unix:1001").tally
        #expect(try await one.tally(of: "heat", actor: "unix:1001").tally == tally)
        #expect(try await other.said(on: "heat") == one.said(on: "heat"))
        #expect(try await other.tally().tally.tally.count == 2)
        let again = try await other.restarted()
        #expect(try await again.said(on: "heat") == one.said(on: "heat"))
        #expect(try await again.tally(of: "heat", actor: "unix:1001").tally == tally)
        #expect(try await again.list().items == one.list().items)
        try await one.end()
        try await again.end()
    }

    @Test func `an export has items first and then the others in order, actors by name`()
        async throws
    {
        let host = try await TestRegistry.filled()
        let export = try await host.export()
        #expect(export.sequence == host.store.lastSequence)
        let (items, others) = (export.records.prefix(2), export.records.dropFirst(2))
        #expect(items.map(\.kind) == ["contents", "contents"])
        #expect(items.map(\.key) == ["alien", "heat"])
        #expect(items.allSatisfy { $0.actor == nil && $0.component == "list" })
        #expect(others.map(\.kind) == ["votes", "votes", "votes", "comments", "comments"])
        #expect(others.prefix(3).map(\.key) == ["", "heat", "heat"])
        // The numbers of actors, which ballots of one item are ordered by, are random.
        #expect(Set(others[3..<5].map(\.actor)) == ["unix:1000", "unix:1001"])
        #expect(others[2].actor == "unix:1000")
        #expect(others.suffix(2).map(\.actor) == ["unix:1000", "unix:1001"])
        let comment = try #require(others.last.flatMap { try? Value(jsonBytes: $0.value) })
        #expect(comment.object?["author"] == nil)
        #expect(comment.object?["text"] == "No!")
        try await host.end()
    }

    @Test func `an export has no digest of a text that was deleted`() async throws {
        let host = try await TestRegistry.filled()
        func digest() async throws -> String? {
            let records = try await host.export().records
            let record = try #require(records.first { $0.key == "a" })
            return try Value(jsonBytes: record.value).object?["fingerprint"]?.text
        }
        #expect(try await digest()?.count == 16)
        try await host.delete("a")
        #expect(try await digest() == "")
        try await host.end()
    }

    @Test func `a repeated post of a deleted comment is answered with what is left of it`()
        async throws
    {
        let host = try await TestRegistry.filled()
        try await host.delete("a")
        // A client that had no reply repeats its post; another text is not kept, and not confirmed either.
        for text in ["Slow.", "Fast!"] {
            let comment = try await host.post(text, on: "heat", id: "a").comment.entry.comment
            #expect(comment.state == .removed && comment.text == nil && comment.author == nil)
        }
        await #expect(throws: HostError.self) { try await host.post("Slow.", id: "a") }
        try await host.end()
    }

    @Test func `an export of many records comes in parts, all of the moment at which it began`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        for first in [1_000, 2_000] {
            try await host.put((first..<first + 700).map { .film("film-\($0)") })
        }
        let id: ExportID = try await host.call { $0.export("films", $1) }
        let sequence = host.store.lastSequence
        try await host.put(.film("film-2699", rating: 1), .film("later"))
        try await host.remove("film-2698")
        var parts: [ExportPart] = []
        while parts.last?.isLast != true {
            parts.append(try await host.call { $0.exports.pull(id, $1) })
        }
        #expect(parts.map(\.records.count) == [500, 500, 399])
        #expect(parts.allSatisfy { $0.sequence == sequence })
        let records = parts.flatMap(\.records)
        #expect(records.last?.key == "film-2699")
        #expect(Set(records.map(\.key)).count == 1_399)
        let last = try Value(jsonBytes: try #require(records.last).value)
        #expect(last.object?["fields"]?.object?["rating"]?.number == 7)
        #expect(await host.on { $0.exports.open.count } == 0)
        try await host.end()
    }

    @Test func `a part ends at its size in bytes, and a container without records has one`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        let id: ExportID = try await host.call { $0.export("films", $1) }
        let empty: ExportPart = try await host.call { $0.exports.pull(id, $1) }
        #expect(empty == ExportPart(records: [], sequence: 1, isLast: true, lost: []))
        for number in 1...3 {
            var film = Item.film("film-\(number)")
            film.fields["title"] = .text(String(repeating: "x", count: 300 << 10))
            try await host.put(film)
        }
        let big: ExportID = try await host.call { $0.export("films", $1) }
        let first: ExportPart = try await host.call { $0.exports.pull(big, $1) }
        #expect(first.records.map(\.key) == ["film-1", "film-2"])
        #expect(!first.isLast)
        try await host.end()
    }

    @Test func `few exports are open at a time, and a forsaken one is ended`() async throws {
        var limits = HostLimits()
        limits.exports = 2
        let host = try await TestRegistry.start(limits: limits)
        try await host.apply(.films)
        await expect(.containerNotFound("books")) {
            let _: ExportID = try await host.call { $0.export("books", $1) }
        }
        let ids: [ExportID] = [
            try await host.call { $0.export("films", $1) },
            try await host.call { $0.export("films", $1) },
        ]
        await expect(.limitExceeded(limit: "exports", value: 2, retryAfter: 10)) {
            let _: ExportID = try await host.call { $0.export("films", $1) }
        }
        await host.on { $0.exports.close(ids[0]) }
        await host.on { $0.exports.open.endUnused() }
        #expect(await host.on { $0.exports.open.count } == 1)
        await host.on { $0.exports.open.endUnused() }
        await expectUnavailable {
            let _: ExportPart = try await host.call { $0.exports.pull(ids[1], $1) }
        }
        let _: ExportID = try await host.call { $0.export("films", $1) }
        try await host.end()
    }

    @Test func `what is there just so stays untouched, and one entry has all the rest`()
        async throws
    {
        let host = try await TestRegistry.filled()
        let records = try await host.export().records
        let sequence = host.store.lastSequence
        let nothing = try await host.restore(records)
        #expect(
            nothing
                == RestoreResult(restored: 0, unchanged: records.count, sequence: sequence))
        try await host.put(.film("heat", rating: 1))
        try await host.cast(1, on: "heat")
        let comments = try await host.thread(of: "heat").comments
        let _: CommentResult = try await host.call {
            $0.delete("films", component: nil, comment: "a", by: .ann, $1)
        }
        let result = try await host.restore(records)
        #expect(result.restored == 3)
        #expect(result.unchanged == records.count - 3)
        #expect(result.sequence == host.store.lastSequence)
        let told = try host.store.notifications(after: result.sequence - 1, limit: 10).notifications
        #expect(told.map(\.topic) == ["films.records.restored"])
        #expect(told.map { String(decoding: $0.payload, as: UTF8.self) } == [#"{"count":3}"#])
        #expect(try await host.thread(of: "heat").comments == comments)
        #expect(try await host.tally(of: "heat").tally.tally.score == 3)
        #expect(try await host.list(sort: ["-rating"]).items.first?.id == "heat")
        try await host.end()
    }

    @Test func `a failed entry leaves nothing of the records anywhere`() async throws {
        let other = try await TestRegistry.filled()
        let records = try await other.export().records
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        let fault = try host.refuseEntries()
        await expectUnavailable { try await host.restore(records) }
        try fault.heal()
        try await host.undone()
        #expect(host.store.lastSequence == 1)
        #expect(try await host.list().items.isEmpty)
        // The components are not ahead either: each takes its part as new.
        try await host.put(.film("heat"))
        #expect(try await host.tally(of: "heat", actor: "unix:1001").tally.mine == nil)
        #expect(try await host.thread(of: "heat").comments.isEmpty)
        #expect(try await host.restore(records).restored == records.count)
        try await host.end()
        try await other.end()
    }

    @Test func `votes and comments wait while records are put back, and then see them`()
        async throws
    {
        let other = try await TestRegistry.filled()
        let records = try await other.export().records
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        let results: [Result<Int64, HostError>] = try await host.callAll(2) {
            registry, index, reply in
            if index == 0 {
                registry.restore("films", records, by: .moderator) { reply($0.map(\.sequence)) }
            } else {
                registry.cast(SubjectAddress(container: "films"), value: 1, by: .ann) {
                    reply($0.map(\.sequence))
                }
            }
        }
        #expect(results == [.success(2), .success(3)])
        #expect(
            try await host.tally().tally.tally == Tally(count: 1, score: 1, histogram: ["1": 1]))
        try await host.end()
        try await other.end()
    }

    @Test func `more than a thousand records or a mebibyte are refused`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        let many = (0...1_000).map { RecordView.film("film-\($0)") }
        await expect(.limitExceeded(limit: "batchItems", value: 1_000, retryAfter: nil)) {
            try await host.restore(many)
        }
        let big = RecordView.film("big", title: String(repeating: "x", count: 1 << 20))
        await expect(.limitExceeded(limit: "batchBytes", value: 1 << 20, retryAfter: nil)) {
            try await host.restore([big])
        }
        #expect(host.store.lastSequence == 1)
        try await host.end()
    }
}

extension TestRegistry {
    /// Two films, three votes and two comments.
    static func filled() async throws -> TestRegistry {
        let host = try await start()
        try await host.apply(.films)
        try await host.put(.film("heat", ["crime"], rating: 8.3), .film("alien"))
        try await host.cast(4, on: "heat")
        try await host.cast(2, on: "heat", by: .bob)
        try await host.cast(5)
        try await host.post("Slow.", on: "heat", id: "a")
        try await host.post("No!", on: "heat", under: "a", id: "b", by: .bob)
        return host
    }

    func export() async throws -> (records: [RecordView], sequence: Int64) {
        let id: ExportID = try await call { $0.export("films", $1) }
        var records: [RecordView] = []
        while true {
            let part: ExportPart = try await call { $0.exports.pull(id, $1) }
            records += part.records
            if part.isLast { return (records, part.sequence) }
        }
    }

    /// Waits until what failed is undone: reads of the store come back in their order.
    func undone() async throws {
        try await call { registry, reply in
            registry.domain.read { _ in
            } then: { _ in
                reply(.success(()))
            }
        }
    }

    /// A thread, without the authors' numbers.
    func said(on item: String) async throws -> [CommentView] {
        try await thread(of: item).comments.map { comment in
            var comment = comment
            comment.entry.comment.author = nil
            return comment
        }
    }

    @discardableResult
    func restore(_ records: [RecordView]) async throws -> RestoreResult {
        try await call { $0.restore("films", records, by: .moderator, $1) }
    }
}

extension RecordView {
    static func film(_ id: String, title: String = "A film") -> RecordView {
        let fields: [String: Value] = ["fields": ["title": .text(title)]]
        return RecordView(component: "list", kind: "contents", key: id, value: fields.jsonBytes)
    }
}
