import Glibc
public import Logging

/// Chooses where the process logs to, once, at its start.
public enum LoggingSetup {
    /// Installs the journal as the destination of all loggers where the journal reads this
    /// process's standard error, and standard error itself everywhere else.
    ///
    /// Call it once, before the first logger is made; swift-log stops the process at a second call.
    ///
    /// - Parameter level: The least important level that is logged.
    /// - Returns: The threshold to change while the process runs.
    @discardableResult
    public static func bootstrap(level: Logger.Level) -> LogThreshold {
        let threshold = LogThreshold(level)
        let journal = journalReadsStandardError(
            stream: getenv("JOURNAL_STREAM").map { String(cString: $0) })
        LoggingSystem.bootstrap { label in
            guard journal else { return StderrLogHandler(label: label, threshold: threshold) }
            return JournalLogHandler(label: label, threshold: threshold)
        }
        return threshold
    }

    /// `JOURNAL_STREAM` is inherited by children whose standard error was redirected since: only a
    /// match of device and inode tells that the journal still reads it.
    static func journalReadsStandardError(stream: String?) -> Bool {
        guard let numbers = stream?.split(separator: ":").map({ UInt64($0) }), numbers.count == 2
        else {
            return false
        }
        var file = stat()
        guard fstat(STDERR_FILENO, &file) == 0 else { return false }
        return numbers[0] == UInt64(file.st_dev) && numbers[1] == UInt64(file.st_ino)
    }
}
