import Glibc
public import Logging

/// Chooses where the process logs to, once, at its start.
public enum LoggingSetup {
    /// The destination of the process's log.
    enum Destination {
        /// The journal, with fields.
        case journal
        /// Standard error, which a service manager reads line by line.
        case manager
        /// Standard error, which people read.
        case people
    }

    /// Installs the journal as the destination of all loggers where the journal reads this process's standard error,
    /// and standard error itself everywhere else.
    ///
    /// Call it once, before the first logger is made; swift-log stops the process at a second call. The returned
    /// threshold can be changed while the process runs.
    @discardableResult
    public static func bootstrap(level: Logger.Level) -> LogThreshold {
        let threshold = LogThreshold(level)
        let destination = destination(
            stream: variable("JOURNAL_STREAM"), isManaged: variable("NOTIFY_SOCKET") != nil,
            journalSocket: "/run/systemd/journal/socket")
        LoggingSystem.bootstrap { label in
            switch destination {
            case .journal: JournalLogHandler(label: label, threshold: threshold)
            case .manager:
                StderrLogHandler(label: label, threshold: threshold, isForManager: true)
            case .people: StderrLogHandler(label: label, threshold: threshold)
            }
        }
        return threshold
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// Returns the destination of this process's log.
    ///
    /// libsystemd drops messages where the journal's socket does not exist, as in a root directory of the process's
    /// own. There, the journal still reads standard error, with the priority at the start of each line. Any other
    /// program that started the process as a service and reads its standard error gets the same lines; a file or a
    /// terminal does not, because nobody would add the time.
    static func destination(stream: String?, isManaged: Bool, journalSocket: String) -> Destination
    {
        if journalReadsStandardError(stream: stream) {
            return access(journalSocket, W_OK) == 0 ? .journal : .manager
        }
        return isManaged && isPipe(STDERR_FILENO) ? .manager : .people
    }

    private static func isPipe(_ descriptor: Int32) -> Bool {
        var file = stat()
        guard fstat(descriptor, &file) == 0 else { return false }
        return [S_IFIFO, S_IFSOCK].contains(file.st_mode & S_IFMT)
    }

    /// `JOURNAL_STREAM` is inherited by children whose standard error was redirected since: only a
    /// match of device and inode means that the journal still reads it.
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
