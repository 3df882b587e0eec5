internal import GRDB

/// SQLite's own check of the file's structure: its pages, and whether rows and indexes match.
///
/// It reads the whole file at once, on a connection of its own, while other connections read and write. The log can't
/// be shortened meanwhile.
public final class QuickCheck: Sendable {
    private let file: String
    private let queue: DatabaseQueue

    /// A check of an open store's file; throws if that can't be read.
    public init(of store: Store) throws(StoreError) {
        file = store.file
        // A closed store's path may by now be a file of another process.
        guard !store.writer.condition.isClosed else { throw .closed(file: file) }
        if let lost = store.writer.condition.findChangedFile(store.pool) { throw .gone(file: lost) }
        var configuration = Configuration()
        configuration.label = "atrium.check"
        configuration.readonly = true
        do {
            queue = try DatabaseQueue(path: file, configuration: configuration)
        } catch {
            throw StoreError(error, file: file, operation: "checking")
        }
    }

    /// Runs the check, and returns the problems that SQLite found, at most ten lines.
    ///
    /// It may take minutes, so call it on a thread of its own; it throws if the file can't be read, and after
    /// ``interrupt()``.
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

    /// Ends the check; may be called on any thread.
    public func interrupt() { queue.interrupt() }
}
