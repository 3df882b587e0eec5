import Dispatch
import Foundation
import Store
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3))) struct DurabilityTests {
    @Test func `every commit on its own is synced`() throws {
        let bench = try Bench()
        let before = SyncCounter.count(under: bench.scratch.path)
        for number in 0..<300 { bench.write(put("\(number)", "x")) }
        #expect(SyncCounter.count(under: bench.scratch.path) - before >= 300)
        #expect(bench.store.lastSequence == 300)
    }

    @Test func `the count of syncs would show a writer that does not sync`() throws {
        let bench = try Bench()
        _ = try bench.store.pragma("synchronous = NORMAL")
        let before = SyncCounter.count(under: bench.scratch.path)
        for number in 0..<300 { bench.write(put("\(number)", "x")) }
        #expect(SyncCounter.count(under: bench.scratch.path) - before < 30)
    }

    @Test func `what waits is written together with few syncs`() throws {
        let bench = try Bench()
        let before = SyncCounter.count(under: bench.scratch.path)
        let outcomes = try bench.writeTogether((0..<50).map { put("\($0)", "x") })
        #expect(SyncCounter.count(under: bench.scratch.path) - before <= 4)
        #expect(outcomes.compactMap(\.result.sequence) == (2...51).map(Int64.init))
        #expect(bench.groups.map(\.count) == [1, 50])
    }

    @Test func `appending from many threads loses and doubles nothing`() throws {
        let bench = try Bench()
        DispatchQueue.concurrentPerform(iterations: 50) { thread in
            for number in 0..<20 {
                let ticket = UInt64(thread * 20 + number)
                bench.store.append(put("\(ticket)", "x", in: "c\(thread)"), ticket: ticket)
            }
        }
        let outcomes = bench.settle()
        #expect(outcomes.compactMap(\.result.sequence) == (1...1_000).map(Int64.init))
        #expect(Set(outcomes.map(\.ticket)) == Set(0..<1_000))
        #expect(try bench.store.position(of: "c49") == 20)
    }

    @Test func `a group is no larger than a thousand entries or eight mebibytes`() throws {
        let bench = try Bench()
        _ = try bench.writeTogether((0..<2_500).map { put("\($0)", "x") })
        #expect(bench.groups.map(\.count) == [1, 1_000, 1_000, 500])
        let large = String(repeating: "x", count: 900_000)
        let other = try Bench()
        _ = try other.writeTogether((0..<20).map { put("\($0)", large) })
        #expect(other.groups.map(\.count) == [1, 10, 10])
    }

    @Test func `a restart returns everything`() throws {
        let scratch = try TemporaryDirectory()
        let first = try Bench(scratch)
        var entry = put("a", "1")
        entry.actor = 7
        entry.actors = [Actor(number: 7, name: "unix:1000")]
        entry.notification?.restricted = [9]
        first.write(entry)
        first.write(put("b", "2", in: "books"))
        first.write(put("a", "3"))
        first.store.close()

        let second = try Bench(scratch)
        #expect(second.store.identity == first.store.identity)
        #expect(second.store.lastSequence == 3)
        #expect(try second.records("films", "list") == ["a": "3"])
        #expect(try second.records("books", "list") == ["b": "2"])
        #expect(try second.store.position(of: "films") == 2)
        #expect(try second.store.actors() == [Actor(number: 7, name: "unix:1000")])
        let told = try second.store.notifications(after: 0, limit: 10).notifications
        #expect(told.map(\.sequence) == [1, 2, 3])
        #expect(told.first?.actor == 7)
        #expect(told.first?.restricted == [9])
        #expect(second.write(put("c", "4"))?.sequence == 4)
    }

    @Test func `closing settles what was appended and refuses what comes later`() throws {
        let bench = try Bench()
        for number in 0..<200 { bench.store.append(put("\(number)", "x"), ticket: UInt64(number)) }
        bench.store.close()
        bench.store.close()
        #expect(bench.groups.flatMap { $0 }.compactMap(\.result.sequence).count == 200)
        #expect(throws: StoreError.closed(file: bench.scratch.database)) {
            try bench.store.actors()
        }
        #expect(bench.write(put("late", "x"))?.isStorageFailure == true)
        #expect(!FileManager.default.fileExists(atPath: bench.scratch.database + "-wal"))
    }

    @Test func `a read that was enqueued sees everything appended before it`() throws {
        let bench = try Bench()
        let seen = Mutex<[Int64]>([])
        for number in 0..<50 {
            bench.store.append(put("\(number)", "x"), ticket: 0)
            bench.store.enqueueRead { store in
                let position = (try? store.position(of: "films")) ?? -1
                seen.withLock { $0.append(position) }
            }
        }
        bench.settle()
        let positions = seen.withLock { $0 }
        #expect(positions.count == 50)
        for (index, position) in positions.enumerated() { #expect(position > index) }
    }
}
