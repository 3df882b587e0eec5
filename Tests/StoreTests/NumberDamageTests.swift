import GRDB
import Store
import StoreFaults
import TestSupport
import Testing

/// Numbers of a damaged file that no store ever has: they end no process.
@Suite(.timeLimit(.minutes(2))) struct NumberDamageTests {
    private static let most = "9223372036854775807"
    private static let least = "-9223372036854775808"

    /// A closed store of four entries, in whose file something is then changed behind its back.
    private func closed(after sql: String) throws -> TemporaryDirectory {
        let bench = try Bench()
        for key in ["a", "b", "c", "d"] { bench.write(put(key, "x")) }
        bench.store.close()
        try OtherProgram(at: bench.scratch.database).execute(sql)
        return bench.scratch
    }

    @Test(arguments: [
        "UPDATE meta SET value = \(most) WHERE name = 'applied'",
        "UPDATE meta SET value = \(least) WHERE name = 'applied'",
        "UPDATE meta SET value = -1 WHERE name = 'applied'",
        "UPDATE entries SET sequence = \(most) WHERE sequence = 4",
        "UPDATE entries SET sequence = \(most) - 1 WHERE sequence = 4",
    ])
    func `a sequence that no entry can have is damage, and nothing is opened`(sql: String) throws {
        let scratch = try closed(after: sql)
        let error = #expect(throws: StoreError.self) { try Bench(scratch) }
        guard case .corrupt(let file, let reason)? = error else {
            throw error ?? CancellationError()
        }
        #expect(file == scratch.database)
        #expect(reason.contains("is given as an entry's sequence"))
    }

    @Test(arguments: [
        "UPDATE components SET records = \(most)", "UPDATE components SET records = \(least)",
        "UPDATE meta SET value = \(most) WHERE name = 'actors'",
        "UPDATE meta SET value = \(most) WHERE name = 'components'",
        "UPDATE meta SET value = \(least) WHERE name = 'containers'",
        "UPDATE meta SET value = \(most) WHERE name = 'trimmed'",
        "UPDATE containers SET position = \(least)",
    ])
    func `a count that is damaged may be any number, and stays damaged after it was written`(
        sql: String
    ) throws {
        let bench = try Bench(closed(after: sql))
        #expect(!bench.store.damages.isEmpty)
        var entry = put("e", "x", epoch: 1)
        entry.actors = [Actor(number: 9, name: "unix:9")]
        #expect(bench.write(entry)?.sequence == 5)
        #expect(bench.write(put("f", "x", in: "books", epoch: 1))?.sequence == 6)
        #expect(bench.write(put("d", nil, epoch: 1))?.sequence == 7)
        let difference = try bench.store.forEachRecord(container: "films", component: "list") {
            _, _, _ in
        }
        #expect((difference == nil) == !sql.contains("components SET"))
        _ = try bench.store.recordRows()
        #expect(bench.store.unavailability == nil)
        bench.store.close()
        #expect(try !Bench(bench.scratch).store.damages.isEmpty)
    }

    @Test(arguments: [
        "UPDATE containers SET position = \(most)", "UPDATE components SET id = \(most)",
    ])
    func `behind a number that is the last one nothing is written`(sql: String) throws {
        let bench = try Bench(closed(after: sql))
        #expect(!bench.store.damages.isEmpty)
        let entry = Entry(
            container: "films", epoch: 1, time: 1,
            changes: [
                RecordChange(container: "films", component: "new", key: "a", value: [0x78])
            ])
        // Final, as for the later ones: another try would not help.
        guard case .damaged? = bench.write(entry)?.failure else {
            Issue.record("the entry was not refused as one for a damaged store")
            return
        }
        #expect(bench.store.isDamaged)
    }

    @Test(arguments: [most, "1000000000000000", "-1"])
    func `room is made for no more records than the file can hold`(records: String) throws {
        let bench = try Bench(closed(after: "UPDATE components SET records = \(records)"))
        var expected: Int?
        let difference = try bench.store.forEachRecord(container: "films", component: "list") {
            expected = $0
        } _: { _, _, _ in
        }
        #expect(difference?.found == 4)
        // The file has a few pages.
        #expect((0..<10_000).contains(try #require(expected)))
    }

    @Test func `an entry without its time is trimmed like any other`() throws {
        let bench = try Bench(
            closed(
                after: """
                    PRAGMA writable_schema = ON;
                    UPDATE sqlite_schema SET sql = replace(sql, 'time INTEGER NOT NULL', 'time INTEGER')
                    WHERE name = 'entries';
                    PRAGMA writable_schema = RESET;
                    UPDATE entries SET time = NULL WHERE sequence = 2;
                    """))
        bench.store.setRetention(Retention(count: 1))
        bench.store.waitForTrimming()
        #expect(try bench.store.notifications(after: 0, limit: 9).notifications.count == 1)
    }
}
