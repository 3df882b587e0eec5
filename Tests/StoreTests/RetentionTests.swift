import Foundation
import GRDB
import Store
import TestSupport
import Testing

/// What is kept of the past, by count, bytes and age.
@Suite(.timeLimit(.minutes(3)))
struct RetentionTests {
    private static func told(
        _ number: Int, at time: Int64 = 1_000, bytes: Int = 10, record: Bool = false
    ) -> Entry {
        let changes = [
            RecordChange(container: "films", component: "list", key: "k\(number)", value: [1])
        ]
        return Entry(
            container: "films", epoch: 0, time: time, actor: nil, changes: record ? changes : [],
            notification: NotificationDraft(
                topic: "films.items.put", payload: [UInt8](repeating: 120, count: bytes)))
    }

    /// What it counts for.
    private static func bytes(_ notification: StoredNotification) -> Int {
        64 + notification.topic.utf8.count + notification.payload.count
            + (notification.restricted?.count ?? 0)
    }

    private static func past(_ bench: Bench) throws -> [StoredNotification] {
        bench.settle()
        bench.store.waitForTrimming()
        let past = try bench.store.notifications(after: 0, limit: 100_000)
        #expect(past.missing.isEmpty && bench.store.keptPast?.missing ?? 0 == 0)
        return past.notifications
    }

    @Test func `as entries come, no more are kept than the limit and a fiftieth`() throws {
        let bench = try Bench()
        bench.store.setRetention(Retention(count: 100))
        for batch in 0..<40 {
            for number in 0..<50 {
                bench.store.append(
                    Self.told(batch * 50 + number, record: true), ticket: 0)
            }
            let past = try Self.past(bench)
            #expect(past.count <= 102)
            #expect(past.count >= min(100, 50 * (batch + 1)))
            #expect(past.last?.sequence == Int64(50 * (batch + 1)), "the newest are kept")
            #expect(bench.store.keptPast?.count == past.count)
            #expect(try bench.store.trimmedThrough() == (past.first?.sequence ?? 1) - 1)
        }
        #expect(try bench.records("films", "list").count == 2_000, "records stay")
    }

    @Test func `bytes are counted as they are, and kept to`() throws {
        let bench = try Bench()
        let limit = 100_000
        bench.store.setRetention(Retention(bytes: limit))
        for number in 0..<1_000 {
            bench.store.append(Self.told(number, bytes: number % 7 * 100), ticket: 0)
            guard number % 100 == 99 else { continue }
            let sum = try Self.past(bench).reduce(0) { $0 + Self.bytes($1) }
            #expect(bench.store.keptPast?.bytes == sum)
            #expect(sum <= limit + limit / 50)
            if number > 400 { #expect(sum > limit - 1_000) }
        }
    }

    @Test func `age is counted from the newest entry, so that a clock set back trims nothing`()
        throws
    {
        let bench = try Bench()
        let day: Int64 = 86_400_000
        bench.store.setRetention(Retention(age: 10 * day))
        for number in 1...30 {
            bench.store.append(Self.told(number, at: day * Int64(number)), ticket: 0)
        }
        #expect(try Self.past(bench).first?.time == 20 * day)
        bench.write(Self.told(31, at: 0))
        #expect(try Self.past(bench).count == 12, "older than all of them, and the newest")
        bench.write(Self.told(32, at: 31 * day))
        #expect(try Self.past(bench).first?.time == 21 * day)
    }

    @Test func `limits of a start and of a reload are kept to at once`() throws {
        let scratch = try TemporaryDirectory()
        let first = try Bench(scratch)
        for number in 0..<500 { first.store.append(Self.told(number), ticket: 0) }
        #expect(try Self.past(first).count == 500, "without limits all is kept")
        #expect(first.store.keptPast == nil)
        first.store.close()
        let bench = try Bench(scratch)
        bench.store.setRetention(Retention(count: 200))
        #expect(try Self.past(bench).map(\.sequence) == Array(301...500))
        let limits = Retention(count: 199)
        bench.store.setRetention(limits)
        #expect(try Self.past(bench).count == 199)
        #expect(bench.store.keptPast?.bytes == 199 * (64 + 15 + 10))
        #expect(bench.store.keptPast?.limits == limits)
        bench.store.setRetention(Retention(count: 0))
        #expect(try Self.past(bench).map(\.sequence) == [500], "the newest always stays")
        #expect(bench.write(Self.told(501))?.sequence == 501)
        #expect(try Self.past(bench).map(\.sequence) == [501])
    }

    @Test func `what is kept while it is being counted is counted once`() throws {
        let bench = try Bench()
        for number in 0..<300 { bench.store.append(Self.told(number), ticket: 0) }
        bench.store.setRetention(Retention(count: 1_000))
        for number in 300..<700 { bench.store.append(Self.told(number), ticket: 0) }
        #expect(try Self.past(bench).count == 700)
        #expect(bench.store.keptPast?.count == 700)
    }

    @Test func `entries that are missing are not counted once the log begins behind them`() throws {
        let scratch = try TemporaryDirectory()
        let first = try Bench(scratch)
        for number in 0..<300 { first.store.append(Self.told(number), ticket: 0) }
        first.settle()
        first.store.close()
        try DatabaseQueue(path: scratch.database).write { db in
            try db.execute(sql: "DELETE FROM entries WHERE sequence BETWEEN 50 AND 59")
        }
        let bench = try Bench(scratch)
        bench.store.setRetention(Retention(count: 250))
        bench.store.waitForTrimming()
        #expect(bench.store.keptPast?.missing == 10)
        bench.store.setRetention(Retention(count: 100))
        bench.store.waitForTrimming()
        #expect(bench.store.keptPast?.missing == 0)
        #expect(try Self.past(bench).count == 100)
    }

    @Test func `the file gives back what it does not need, after a trim and after a purge`() throws
    {
        let bench = try Bench()
        for number in 0..<3_000 {
            bench.store.append(Self.told(number, bytes: 8_000), ticket: 0)
        }
        bench.settle()
        let before = try #require(try bench.store.pragma("page_count"))
        bench.store.setRetention(Retention(count: 100))
        #expect(try Self.past(bench).count == 100)
        let after = try #require(try bench.store.pragma("page_count"))
        #expect(after < before / 4, "\(before) pages before, \(after) after")
        for number in 0..<3_000 {
            bench.store.append(
                put("p\(number)", String(repeating: "x", count: 8_000)), ticket: 0)
        }
        bench.settle()
        let filled = try #require(try bench.store.pragma("page_count"))
        var purge = put("last", "x")
        purge.purges = [Purge(container: "films", component: "list", prefix: "p")]
        bench.write(purge)
        bench.store.waitForDeletion()
        bench.store.waitForTrimming()
        let purged = try #require(try bench.store.pragma("page_count"))
        #expect(purged < filled / 4, "\(filled) pages before, \(purged) after")
        _ = try bench.store.pragma("wal_checkpoint(TRUNCATE)")
        let size = try FileManager.default.attributesOfItem(atPath: bench.store.file)[.size] as? Int
        #expect(size == purged * 4_096)
    }
}
