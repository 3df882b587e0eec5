import Glibc
import LogMessages
import Logging
import Testing

@testable import Systemd

@Suite(.timeLimit(.minutes(3)))
struct LogHandlerTests {
    private let threshold = LogThreshold(.info)

    private func event(
        _ message: Logger.Message, level: Logger.Level = .info, metadata: Logger.Metadata? = nil
    ) -> LogEvent {
        LogEvent(
            level: level, message: message, metadata: metadata, source: "Host",
            file: "Host/Lane.swift",
            function: "append()", line: 12)
    }

    @Test func `a line has the level, the message and the metadata in the order of keys`() {
        var handler = StderrLogHandler(label: "host", threshold: threshold)
        handler[metadataKey: "container"] = "films"
        let line = handler.line(
            for: event("entry refused", level: .warning, metadata: ["actor": "unix:1000"]))
        #expect(line == "warning entry refused actor=unix:1000 container=films")
    }

    @Test func `the event's own metadata wins over the logger's`() {
        var handler = StderrLogHandler(label: "host", threshold: threshold)
        handler[metadataKey: "container"] = "films"
        let line = handler.line(for: event("moved", metadata: ["container": "books"]))
        #expect(line == "info moved container=books")
    }

    @Test func `input can't forge a line or reach the terminal`() {
        let handler = StderrLogHandler(label: "host", threshold: threshold)
        let line = handler.line(for: event("a\nb", metadata: ["text": "\u{1B}[31m \"red\""]))
        #expect(line == #"info a\nb text="\u{1B}[31m \"red\"""#)
    }

    @Test func `the journal gets every field under its own name`() {
        let handler = JournalLogHandler(label: "host", threshold: threshold)
        let fields = handler.journalFields(
            for: event("refused\ntwice", level: .error, metadata: ["container": "films"]))
        #expect(
            fields == [
                #"MESSAGE=refused\ntwice container=films"#, "PRIORITY=3", "LOGGER=host",
                "CODE_FILE=Host/Lane.swift",
                "CODE_LINE=12", "CODE_FUNC=append()", "ATRIUM_CONTAINER=films",
            ])
    }

    @Test func `the number of a message is a field of the journal's and in no line`() {
        let event = event(
            "the daemon is ready", metadata: [LogMessage.key: "aa2aa12c044e45c39701e84db8201f8d"])
        let journal = JournalLogHandler(label: "host", threshold: threshold)
        let fields = journal.journalFields(for: event)
        #expect(fields.contains("MESSAGE_ID=aa2aa12c044e45c39701e84db8201f8d"))
        #expect(fields.contains("MESSAGE=the daemon is ready"))
        let stderr = StderrLogHandler(label: "host", threshold: threshold)
        #expect(stderr.line(for: event) == "info the daemon is ready")
    }

    @Test(arguments: [
        ("container", "ATRIUM_CONTAINER"), ("retry-after", "ATRIUM_RETRY_AFTER"),
        ("größe", "ATRIUM_GR_SSE"),
        (String(repeating: "x", count: 80), "ATRIUM_" + String(repeating: "X", count: 57)),
    ])
    func `a metadata key becomes a name that the journal takes`(key: String, name: String) {
        #expect(JournalLogHandler.fieldName(for: key) == name)
    }

    @Test func `a changed threshold holds for loggers made before`() {
        let early = StderrLogHandler(label: "host", threshold: threshold)
        var own = JournalLogHandler(label: "store", threshold: threshold)
        own.logLevel = .error
        threshold.level = .debug
        #expect(early.logLevel == .debug)
        #expect(own.logLevel == .error)
    }

    @Test func `a line goes to standard error with its time`() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            LoggingSetup.bootstrap(level: .info)
            Logger(label: "test").info("the socket answers", metadata: ["path": "/run/a b"])
            Logger(label: "test").debug("not this")
        }
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(
            text.wholeMatch(of: /\d\d:\d\d:\d\d info the socket answers path="\/run\/a b"\n/) != nil
        )
    }

    @Test func `an event that the journal can't take goes to standard error`()
        async throws
    {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            // No descriptor is left for the socket to the journal, as in a daemon with too many
            // clients.
            var limit = rlimit(rlim_cur: 3, rlim_max: 3)
            guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
                exit(1)
            }
            let handler = JournalLogHandler(label: "test", threshold: LogThreshold(.info))
            Logger(label: "test") { _ in handler }.error("too many clients")
        }
        #expect(
            String(decoding: result.standardErrorContent, as: UTF8.self)
                == "<3>error too many clients\n")
    }

    @Test func `a journal stream counts only while standard error is that stream`() {
        var file = stat()
        #expect(fstat(STDERR_FILENO, &file) == 0)
        let stream = "\(file.st_dev):\(file.st_ino)"
        #expect(LoggingSetup.journalReadsStandardError(stream: stream))
        #expect(
            !LoggingSetup.journalReadsStandardError(stream: "\(file.st_dev):\(file.st_ino + 1)"))
        #expect(!LoggingSetup.journalReadsStandardError(stream: "nonsense"))
        #expect(!LoggingSetup.journalReadsStandardError(stream: nil))
    }

    @Test
    func `a manager that reads standard error through a pipe gets priorities, people the time`()
        async throws
    {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardErrorContent]
        ) {
            setenv("NOTIFY_SOCKET", "/run/somebody", 1)
            LoggingSetup.bootstrap(level: .info)
            Logger(label: "test").log(.ready, ["socket": "/run/a"])
        }
        #expect(
            String(decoding: result.standardErrorContent, as: UTF8.self)
                == "<5>notice the daemon is ready socket=/run/a\n")
    }

    @Test func `without the journal's socket its stream gets lines with priorities`() {
        var file = stat()
        #expect(fstat(STDERR_FILENO, &file) == 0)
        let stream = "\(file.st_dev):\(file.st_ino)"
        func destination(socket: String) -> LoggingSetup.Destination {
            LoggingSetup.destination(stream: stream, isManaged: true, journalSocket: socket)
        }
        #expect(destination(socket: "/nowhere/socket") == .manager)
        #expect(destination(socket: "/tmp") == .journal)
    }
}
