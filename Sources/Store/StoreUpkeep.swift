internal import GRDB

extension Store {
    /// Deletes the oldest notifications, and the entries they belong to, except the newest ones.
    ///
    /// Records stay. It works in small transactions between which entries are committed, and only
    /// returns when it is through: call it away from the event loop.
    ///
    /// - Parameter count: how many notifications to keep; less than 0 counts as 0.
    /// - Throws: `StoreError`; what was deleted until then stays deleted.
    package func trimNotifications(keeping count: Int) throws(StoreError) {
        do {
            try writer.checkSound()
            try writer.finishTail()
            let newest = try pool.read { db in
                try Int64.fetchOne(
                    db,
                    sql: """
                        SELECT sequence FROM entries WHERE topic IS NOT NULL
                        ORDER BY sequence DESC LIMIT 1 OFFSET ?
                        """, arguments: [max(0, count)])
            }
            guard let newest else { return }
            try pool.write { db in
                try db.execute(
                    sql: "UPDATE meta SET value = MAX(value, ?) WHERE name = 'trimmed'",
                    arguments: [newest])
            }
            while try pool.write({ try Self.deleteSlice(of: $0, through: newest) }) {}
        } catch {
            throw failure(error, "trimming")
        }
    }

    /// Deletes some rows; false when there were no more.
    ///
    /// The last entry stays: it is the store's sequence. Those whose changes wait stay, too.
    private static func deleteSlice(of db: Database, through newest: Int64) throws -> Bool {
        try db.execute(
            sql: """
                DELETE FROM entries WHERE sequence IN (
                    SELECT sequence FROM entries
                    WHERE sequence <= ? AND sequence < (SELECT MAX(sequence) FROM entries)
                        AND sequence <= (SELECT value FROM meta WHERE name = 'applied')
                    ORDER BY sequence LIMIT 4000)
                """, arguments: [newest])
        return db.changesCount > 0
    }
}
