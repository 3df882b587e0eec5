import TestSupport
import Testing

@testable import Store

/// What a cluster would send of an entry: bounded, and complete with those before it.
@Suite(.timeLimit(.minutes(2))) struct EntrySizeTests {
    /// An entry of which so many bytes are one value's.
    private func entry(_ key: String, _ bytes: Int, epoch: Int = 0) -> Entry {
        put(key, String(repeating: "x", count: bytes), epoch: epoch)
    }

    @Test func `an entry of more than a mebibyte is refused, and the others of its group are kept`()
        throws
    {
        let bench = try Bench()
        let rest = Entry.mostBytes - entry("a", 0).encodedSize
        let outcomes = try bench.writeTogether([
            entry("a", rest), entry("b", rest + 1), entry("c", 1), entry("d", 1, epoch: 1),
            put("e", "x", in: "books"),
        ]).map(\.result)
        #expect(outcomes[0].sequence == 2)
        #expect(outcomes[1].failure == .tooLarge(bytes: Entry.mostBytes + 1))
        // It may rest on what was refused.
        #expect(outcomes[2].failure == .olderEpoch(epoch: 0))
        #expect(outcomes[3].sequence == 3)
        #expect(outcomes[4].sequence == 4)
        #expect(Set(try bench.records("films", "list").keys) == ["a", "d"])
    }

    @Test func `whatever an entry is made of counts`() throws {
        let bench = try Bench()
        let long = String(repeating: "x", count: 200)
        var entries = [put("a", "x"), put("a", "x"), put("a", "x"), put("a", "x"), put("a", "x")]
        entries[0].notification?.payload = Array(repeating: 1, count: 1 << 20)
        entries[1].notification?.restricted = Array(repeating: 1, count: 1 << 20)
        entries[2].purges = (0..<6_000).map {
            Purge(container: "films", component: "list", prefix: "\(long)\($0)")
        }
        entries[3].actors = (0..<6_000).map { Actor(number: Int64($0), name: "\(long)\($0)") }
        entries[4].changes = (0..<6_000).map {
            RecordChange(container: "films", component: "list", key: "\(long)\($0)", value: nil)
        }
        for (epoch, entry) in entries.enumerated() {
            var entry = entry
            entry.epoch = epoch + 1
            guard case .tooLarge? = bench.write(entry)?.failure else {
                Issue.record("entry \(epoch) was taken")
                continue
            }
        }
        #expect(bench.store.lastSequence == 0)
    }

    @Test func `an entry counts as more than it takes encoded, and not as much more`() {
        var random = RepeatableRandom(11)
        for _ in 0..<500 {
            func text(_ most: Int) -> String {
                String(repeating: "é", count: Int.random(in: 0...most, using: &random))
            }
            let places = [("films", "list"), ("films", text(20)), (text(20), "votes")]
            var entry = Entry(
                container: text(30), epoch: .max, time: .max, actor: .max,
                changes: (0..<Int.random(in: 0...50, using: &random)).map { _ in
                    let place = places.randomElement(using: &random) ?? places[0]
                    return RecordChange(
                        container: place.0, component: place.1, key: text(40),
                        value: Bool.random(using: &random) ? Array(text(400).utf8) : nil)
                }, expectedPosition: .max)
            entry.notification = NotificationDraft(
                topic: text(40), payload: Array(text(400).utf8), restricted: Array(text(9).utf8))
            // What the row holds, and the rest by name.
            let taken =
                ChangesCode.encode(entry.changes).count + 5 * 10 + 200
                + entry.container.utf8.count + (entry.notification?.topic.utf8.count ?? 0)
                + (entry.notification?.payload.count ?? 0)
                + (entry.notification?.restricted?.count ?? 0)
            #expect(entry.encodedSize >= taken)
            #expect(entry.encodedSize < taken + 200 + entry.changes.count * 100)
        }
    }

    @Test func `the actors that entries name by number can be read from the file`() throws {
        let bench = try Bench()
        let people = (0..<50).map { Actor(number: Int64.max - Int64($0), name: "unix:\($0)") }
        // The first entry of each, and later ones with the number alone.
        for round in 0..<2 {
            for person in people {
                var entry = put("\(person.number)", "x")
                entry.actor = person.number
                if round == 0 { entry.actors = [person] }
                bench.write(entry)
            }
        }
        let names = Dictionary(
            uniqueKeysWithValues: try bench.store.actors().map { ($0.number, $0.name) })
        let told = try bench.store.notifications(after: 0, limit: 1_000).notifications
        #expect(told.count == 100)
        #expect(told.map { $0.actor.flatMap { names[$0] } } == (people + people).map(\.name))
    }
}
