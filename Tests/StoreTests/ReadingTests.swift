import Foundation
import Store
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3))) struct ReadingTests {
    private struct Stop: Error {}

    @Test func `records come in the order of their keys' bytes, with both sequences`() throws {
        let bench = try Bench()
        for key in ["b", "é", "a", "Z", ""] { bench.write(put(key, "1")) }
        bench.write(put("a", "2"))
        var (expected, told) = (0, [""])
        let difference = try bench.store.forEachRecord(container: "films", component: "list") {
            expected = $0
        } _: {
            told.append("\(String(decoding: $0, as: UTF8.self))=\($1?.count ?? -1)@\($2)")
        }
        #expect(difference == nil)
        #expect(expected <= 5)
        #expect(told.dropFirst() == ["=1@5", "Z=1@4", "a=1@6", "b=1@1", "é=1@2"])
        let keys = ["", "a"].map { RecordKey(container: "films", component: "list", key: $0) }
        #expect(try bench.store.records(keys).map { $0?.created } == [5, 3])
    }

    @Test func `a record that was removed is made anew`() throws {
        let bench = try Bench()
        bench.write(put("a", "1"))
        bench.write(put("a", nil))
        bench.write(put("nothing", nil))
        let key = RecordKey(container: "films", component: "list", key: "a")
        #expect(try bench.store.records([key]) == [nil])
        bench.write(put("a", "2"))
        let record = StoredRecord(value: [UInt8]("2".utf8), sequence: 4, created: 4)
        let other = RecordKey(container: "films", component: "stars", key: "a")
        #expect(try bench.store.records([other, key, key]) == [nil, record, record])
    }

    @Test func `empty values and payloads are not missing ones`() throws {
        let bench = try Bench()
        var entry = put("a", "")
        entry.notification?.payload = []
        entry.notification?.restricted = []
        bench.write(entry)
        #expect(try bench.records("films", "list") == ["a": ""])
        let told = try #require(
            try bench.store.notifications(after: 0, limit: 1).notifications.first)
        #expect(told.payload.isEmpty)
        #expect(told.restricted == [])
    }

    @Test func `what the body throws ends the reading and comes out as it is`() throws {
        let bench = try Bench()
        for key in ["a", "b"] { bench.write(put(key, "1")) }
        var seen = 0
        #expect(throws: Stop.self) {
            try bench.store.forEachRecord(container: "films", component: "list") { _, _, _ in
                seen += 1
                throw Stop()
            }
        }
        #expect(seen == 1)
    }

    @Test func `one entry may change several containers, and only its own one moves on`() throws {
        let bench = try Bench()
        var entry = put("a", "1", in: "")
        entry.changes.append(
            RecordChange(container: "films", component: "list", key: "x", value: [1]))
        entry.changes.append(
            RecordChange(container: "films", component: "talk", key: "y", value: [2]))
        bench.write(entry)
        #expect(try bench.store.containers() == ["", "films"])
        #expect(try bench.store.position(of: "") == 1)
        #expect(try bench.store.position(of: "films") == 0)
        #expect(try bench.store.position(of: "unknown") == 0)
        #expect(try bench.store.components(of: "films") == ["list", "talk"])
    }

    @Test func `notifications are replayed after a cursor and up to a limit`() throws {
        let bench = try Bench()
        for number in 1...5 { bench.write(put("\(number)", "x")) }
        bench.write(Entry(container: "films", epoch: 0, time: 1))
        bench.write(put("7", "x"))
        let past = try bench.store.notifications(after: 2, limit: 5)
        #expect(past.through == 7 && past.missing.isEmpty)
        let told = past.notifications
        #expect(told.map(\.sequence) == [3, 4, 5, 7])
        #expect(told.first?.topic == "films.items.put")
        #expect(told.first?.time == 1_000)
        #expect(try bench.store.notifications(after: 7, limit: 4).notifications.isEmpty)
        #expect(try bench.store.notifications(after: 0, limit: 0).notifications.isEmpty)
    }

    @Test func `trimming keeps the newest notifications, all records and the sequence`() throws {
        let scratch = try TemporaryDirectory()
        let bench = try Bench(scratch)
        for number in 1...5 { bench.write(put("\(number)", "x")) }
        func keep(_ count: Int) {
            bench.store.setRetention(Retention(count: count))
            bench.store.waitForTrimming()
        }
        keep(9)
        #expect(try bench.store.trimmedThrough() == 0)
        keep(2)
        #expect(try bench.store.trimmedThrough() == 3)
        #expect(
            try bench.store.notifications(after: 0, limit: 9).notifications.map(\.sequence) == [
                4, 5,
            ])
        keep(0)
        // The last entry is the store's sequence.
        #expect(try bench.store.trimmedThrough() == 4)
        bench.store.close()
        let again = try Bench(scratch)
        #expect(again.store.lastSequence == 5)
        #expect(again.write(put("6", "x"))?.sequence == 6)
        #expect(try again.records("films", "list").count == 6)
    }

    @Test func `erasing an actor leaves the number and nothing else`() throws {
        let bench = try Bench()
        var entry = put("a", "x")
        entry.actors = [Actor(number: 1, name: "unix:1"), Actor(number: 2, name: "club:\0zoe")]
        bench.write(entry)
        #expect(try bench.store.actors() == entry.actors)
        try bench.store.erase(2, notifications: [])
        try bench.store.erase(99, notifications: [])
        #expect(bench.store.copies == [])
        let old = bench.store.file + ".v2"
        try Data().write(to: URL(filePath: old))
        #expect(bench.store.copies == [old])
        let kept = [Actor(number: 1, name: "unix:1"), Actor(number: 2, name: "")]
        #expect(try bench.store.actors() == kept)
        bench.write(entry)
        #expect(try bench.store.actors() == kept)
    }
}
