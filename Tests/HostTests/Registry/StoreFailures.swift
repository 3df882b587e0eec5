import Store
import StoreFaults

@testable import Host

extension TestRegistry {
    /// Has the database refuse entries, by default all of them, until it is healed.
    func refuseEntries(where condition: String = "1") throws -> OtherProgram {
        let program = try OtherProgram(at: store.file)
        try program.refuseEntries(where: condition)
        return program
    }

    /// Holds the store's writer at an entry, that of the call that is made next.
    func heldWriter() throws -> HeldWriter { try HeldWriter(store) }

    /// Waits until the held writer has a container's only call.
    func reach(_ writer: HeldWriter, in container: String = "films") async {
        while await on({ $0.containers[container]?.lane.count }) != 1 { await Task.yield() }
        while !writer.hasTakenAll { await Task.yield() }
    }

    /// What one call writes to the file: the keys of the records that it names, and its purges.
    func written(
        by call: () async throws -> Void
    ) async throws -> (keys: Set<String>, purges: [Purge]) {
        // Changes of before are not counted.
        _ = try store.recordRows()
        let program = try OtherProgram(at: store.file)
        let isPurged = "EXISTS(SELECT 1 FROM purges WHERE component = OLD.component)"
        try program.execute(
            """
            CREATE TABLE noted(key BLOB, container TEXT, component TEXT, item BLOB, prefix BLOB);
            CREATE TRIGGER put AFTER INSERT ON records
            BEGIN INSERT INTO noted(key) VALUES (NEW.key); END;
            CREATE TRIGGER changed AFTER UPDATE ON records
            BEGIN INSERT INTO noted(key) VALUES (NEW.key); END;
            CREATE TRIGGER removed AFTER DELETE ON records WHEN NOT \(isPurged)
            BEGIN INSERT INTO noted(key) VALUES (OLD.key); END;
            CREATE TRIGGER purged AFTER INSERT ON purges
            BEGIN INSERT INTO noted SELECT NULL, o.name, c.name, NEW.item, NEW.first
            FROM components c JOIN containers o ON o.id = c.container WHERE c.id = NEW.component; END;
            """)
        try await call()
        _ = try store.recordRows()
        let keys = try program.rows("SELECT CAST(key AS TEXT) FROM noted WHERE key IS NOT NULL")
        let purges = try program.rows(
            """
            SELECT container, component, CAST(item AS TEXT), CAST(prefix AS TEXT) FROM noted
            WHERE key IS NULL
            """)
        try program.execute(
            """
            DROP TRIGGER put; DROP TRIGGER changed; DROP TRIGGER removed; DROP TRIGGER purged;
            DROP TABLE noted;
            """)
        return (
            Set(keys.map { $0[0] }),
            purges.map { row in
                row[2].isEmpty
                    ? Purge(container: row[0], component: row[1], prefix: row[3])
                    : Purge(container: row[0], component: row[1], item: row[2])
            }
        )
    }
}
