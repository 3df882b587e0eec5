import Store
import TestSupport
import Testing

/// Entries whose changes are written to the records at once, because they are many.
@Suite(.timeLimit(.minutes(1))) struct ManyChangesTests {
    private struct Known: Equatable {
        var value: [UInt8]
        var sequence: Int64
        var created: Int64
    }

    /// The records after each entry, of which some were purged with a prefix before.
    @Test(arguments: 1...5)
    func `new records, changed ones and removals in any order`(seed: Int) throws {
        let bench = try Bench()
        var random = RepeatableRandom(UInt64(seed))
        var known: [String: Known] = [:]
        for round in 1...4 {
            let keys = round * 150
            var entry = put("first", "x")
            entry.changes = (0..<400).map { number in
                let key = "\(number % 2)-\(Int.random(in: 0..<keys, using: &random))"
                let isRemoved = Int.random(in: 0..<8, using: &random) == 0
                return RecordChange(
                    container: "films", component: "list", key: key,
                    value: isRemoved ? nil : Array("\(round) \(number)".utf8))
            }
            if round == 3 {
                entry.purges = [Purge(container: "films", component: "list", prefix: "0-")]
                known = known.filter { !$0.key.hasPrefix("0-") }
            }
            let sequence = try #require(bench.write(entry)?.sequence)
            for change in entry.changes {
                known[change.key] = change.value.map {
                    Known(
                        value: $0, sequence: sequence,
                        created: known[change.key]?.created ?? sequence)
                }
            }
            let all = known.keys.sorted()
            let found = try bench.store.records(
                all.map { RecordKey(container: "films", component: "list", key: $0) })
            for (key, record) in zip(all, found) {
                let record = record.map {
                    Known(value: $0.value, sequence: $0.sequence, created: $0.created)
                }
                #expect(record == known[key], "\(key), after entry \(round)")
            }
            #expect(try bench.records("films", "list").count == known.count)
        }
        let difference = try bench.store.forEachRecord(container: "films", component: "list") {
            _, _, _ in
        }
        #expect(difference == nil, "the component's count and sum")
    }
}

/// Records of a component whose name is empty, as the registry's own are.
@Suite(.timeLimit(.minutes(3))) struct NamelessComponentTests {
    @Test(arguments: [("", ""), ("films", "")])
    func `its records are read at once, also from the entry that waits`(
        container: String, component: String
    ) throws {
        let bench = try Bench()
        var entry = put("films", "x", in: container)
        entry.notification = nil
        entry.changes[0].component = component
        #expect(bench.write(entry)?.sequence == 1)
        #expect(try bench.records(container, component) == ["films": "x"])
    }
}
