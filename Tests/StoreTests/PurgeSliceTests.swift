import GRDB
import StoreFaults
import Synchronization
import TestSupport
import Testing

@testable import Store

/// How much a slice deletes, and what the purges that wait cost others.
@Suite(.timeLimit(.minutes(2))) struct PurgeSliceTests {
    /// Notes what each slice deletes.
    private func noteSlices(of bench: Bench) throws -> OtherProgram {
        let program = try OtherProgram(at: bench.store.file)
        try program.noteDeletions()
        return program
    }

    private func entry(_ keys: some Sequence<String>, _ value: (String) -> [UInt8]) -> Entry {
        Entry(
            container: "films", epoch: 0, time: 1,
            changes: keys.map {
                RecordChange(container: "films", component: "list", key: $0, value: value($0))
            })
    }

    private func comment(on item: String) -> [UInt8] {
        Array(#"{"item":"\#(item)","state":"shown","text":"Good."}"#.utf8)
    }

    @Test func `what is about an item goes with one small entry, and the others' stays`() throws {
        let scratch = try TemporaryDirectory()
        var bench = try Bench(scratch)
        let program = try OtherProgram(at: bench.store.file)
        try program.keepPurged()
        for start in stride(from: 0, to: 3_000, by: 500) {
            let keys = (start..<start + 500).map { "\($0)" }
            bench.write(entry(keys) { comment(on: Int($0).map { $0 % 3 } == 0 ? "heat" : "ronin") })
        }
        // Not of the shape that tells an item.
        let odd = ["x": "heat", "y": #"{"item":5}"#, "z": #"["heat"]"#]
        bench.write(entry(odd.keys) { Array((odd[$0] ?? "").utf8) })
        let others = Set((0..<3_000).filter { $0 % 3 != 0 }.map(String.init)).union(odd.keys)
        var purge = Entry(
            container: "films", epoch: 0, time: 1,
            purges: ["heat", "alien"].map {
                Purge(container: "films", component: "list", item: $0)
            })
        // Written with the entry itself.
        purge.changes = entry(["new"]) { _ in comment(on: "heat") }.changes
        bench.write(purge)
        #expect(Set(try bench.records("films", "list").keys) == others.union(["new"]))
        let key = RecordKey(container: "films", component: "list", key: "3")
        #expect(try bench.store.records([key]) == [nil])
        let again = bench.write(entry(["3"]) { _ in comment(on: "heat") })
        #expect(try bench.store.records([key])[0]?.created == again?.sequence)
        #expect(try bench.store.recordRows() == 3_004)
        bench.store.abandon()

        try program.heal()
        bench = try Bench(scratch)
        bench.store.waitForDeletion()
        #expect(Set(try bench.records("films", "list").keys) == others.union(["new", "3"]))
        #expect(try bench.store.recordRows() == 2_005)
    }

    @Test func `items are looked for in one pass, a thousand rows at a time`() throws {
        let bench = try Bench()
        for start in stride(from: 0, to: 2_500, by: 500) {
            let keys = (start..<start + 500).map { "\($0)" }
            bench.write(entry(keys) { comment(on: $0) })
        }
        let program = try noteSlices(of: bench)
        bench.write(
            Entry(
                container: "films", epoch: 0, time: 1,
                purges: (0..<2_500).filter { $0 != 7 }.map {
                    Purge(container: "films", component: "list", item: "\($0)")
                }))
        bench.store.waitForDeletion()
        let slices = try program.deletions().map(\.records)
        #expect(slices.reduce(0, +) == 2_499)
        #expect(slices.count == 3)
        #expect(Array(try bench.records("films", "list").keys) == ["7"])
    }

    @Test func `the rows of many small purges go in one transaction`() throws {
        let bench = try Bench()
        let keys = (0..<1_500).map { "\($0)\nann" }
        bench.write(entry(keys) { _ in [1] })
        let program = try noteSlices(of: bench)
        bench.write(
            Entry(
                container: "films", epoch: 0, time: 1,
                purges: (0..<1_500).map {
                    Purge(container: "films", component: "list", prefix: "\($0)\n")
                }))
        bench.store.waitForDeletion()
        #expect(try program.deletions().map(\.records) == [1_000, 500])
        #expect(try bench.store.recordRows() == 0)
    }

    @Test func `a slice ends at eight mebibytes, too`() throws {
        let bench = try Bench()
        for key in 0..<15 {
            bench.write(entry(["\(key)"]) { _ in Array(repeating: 1, count: 900_000) })
        }
        let program = try noteSlices(of: bench)
        bench.write(
            Entry(
                container: "films", epoch: 0, time: 1,
                purges: [Purge(container: "films", component: "list")]))
        bench.store.waitForDeletion()
        #expect(try program.deletions().map(\.records) == [10, 5])
    }

    @Test func `rows go although entries never cease to wait, and not before sixteen groups`()
        throws
    {
        let chain = Chain()
        let bench = try Bench(TemporaryDirectory()) { chain.goOn(after: $0) }
        for start in stride(from: 0, to: 2_500, by: 500) {
            bench.write(entry((start..<start + 500).map { "\($0)" }) { _ in [1] })
        }
        let program = try noteSlices(of: bench)
        chain.store.withLock { $0 = bench.store }
        bench.write(
            Entry(
                container: "films", epoch: 0, time: 1,
                purges: [Purge(container: "films", component: "list")]))
        bench.store.waitForDeletion()
        bench.settle()
        // Each group is one entry.
        let all = try program.deletions().map(\.entry)
        #expect(all.count == 3)
        #expect(all.last ?? 200 < 66)
        #expect(zip(all, all.dropFirst()).allSatisfy { $1 - $0 == 16 })
        #expect(try bench.store.recordRows() == 1)
    }

    /// Has each answered entry be followed by another, before the writer looks for what waits.
    private final class Chain: Sendable {
        let store = Mutex<Store?>(nil)

        func goOn(after outcomes: [Outcome]) {
            guard let store = store.withLock({ $0 }), let ticket = outcomes.last?.ticket else {
                return
            }
            guard ticket < 200 else { return self.store.withLock { $0 = nil } }
            store.append(put("new", "\(ticket)"), ticket: ticket + 1)
        }
    }

    @Test func `beside a thousand pending purges a read looks for those that concern it`() throws {
        let bench = try Bench()
        try OtherProgram(at: bench.store.file).keepPurged()
        bench.write(entry((0..<1_000).map { "\($0)\nann" }) { _ in [1] })
        var purge = Entry(
            container: "films", epoch: 0, time: 1,
            purges: (0..<1_000).map {
                Purge(container: "films", component: "list", prefix: "\($0)\n")
            })
        purge.purges += (0..<1_000).map {
            Purge(container: "films", component: "list", item: "\($0)")
        }
        bench.write(purge)
        #expect(try bench.records("films", "list") == [:])
        // Each of its four parts goes through the index.
        let plan = try bench.store.pool.read { db in
            try Row.fetchAll(
                db,
                sql: """
                    EXPLAIN QUERY PLAN SELECT value FROM records
                    WHERE component = 1 AND key = x'41' AND NOT \(Purged.condition)
                    """
            ).map { $0["detail"] as String }
        }
        let parts = plan.filter { $0.contains("purges_place") }
        #expect(parts.count == 4)
        #expect(parts.allSatisfy { $0.hasPrefix("SEARCH") && $0.contains("component=? AND item") })
        #expect(!plan.contains { $0.hasPrefix("SCAN") })
        // The same purged again is no other row.
        bench.write(purge)
        let rows = try bench.store.pool.read { db in
            try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM purges")
        }
        #expect(rows == 2_000)
    }
}
