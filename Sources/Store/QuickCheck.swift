internal import GRDB

/// SQLite's own look at the structure of the file: its pages, and whether rows and indexes fit together.
///
/// It reads the whole file in one go, on a connection of its own, while others read and write; the log can't be
/// shortened meanwhile.
public final class QuickCheck: Sendable {
    private let file: String
    private let queue: DatabaseQueue

    /// A check of the store's file.
    ///
    /// - Parameter store: an open store.
    /// - Throws: `StoreError` when the file can't be read.
    public init(of store: Store) throws(StoreError) {
        file = store.file
        // Its connection would be a new one to the file, which may be another process's by now.
        guard !store.writer.isClosed else { throw .closed(file: file) }
        var configuration = Configuration()
        configuration.label = "atrium.check"
        configuration.readonly = true
        do {
            queue = try DatabaseQueue(path: file, configuration: configuration)
        } catch {
            throw StoreError(error, file: file, operation: "checking")
        }
    }

    /// Looks: may take minutes, so call it on a thread of its own.
    ///
    /// - Returns: what is wrong, ten lines of SQLite at most; empty when nothing is.
    /// - Throws: `StoreError` when the file can't be read, and after ``interrupt()``.
    public func run() throws(StoreError) -> [String] {
        do {
            let lines = try queue.read { db in
                try String.fetchAll(db, sql: "PRAGMA quick_check(10)")
            }
            return lines == ["ok"] ? [] : lines
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
            return [error.reason]
        } catch {
            throw StoreError(error, file: file, operation: "checking")
        }
    }

    /// Ends it; on any thread.
    public func interrupt() { queue.interrupt() }
}
