import AtriumKitTesting
import Host
import Logging
import Synchronization
import Testing

@testable import Workers

@Suite struct `What a worker prints` {
    private let log = CapturedLog()

    @Test func `when it crashes reaches the log, with where it belongs`() async throws {
        let component = Installed.component(of: Installed.breaker, logger: log.logger)
        try await component.start()
        let process = try #require(await component.processID)
        await #expect(throws: PortFailure.self) { try await component.put("trap") }
        try await eventually("its last words are told") {
            log.events.contains { $0["text"]?.contains("Told to trap.") == true }
        }
        let words = try #require(
            log.events.first { $0["text"]?.contains("Told to trap.") == true })
        #expect(words["message"] == "a worker printed")
        #expect(words["container"] == "test")
        #expect(words["component"] == "component")
        #expect(words["plugin"] == "org.atrium.breaker")
        #expect(words["worker"] == "\(process)")
    }

    @Test func `without end is counted, and its lines are cut`() async throws {
        let component = Installed.component(of: Installed.breaker, logger: log.logger)
        try await component.start()
        try await component.put("chatter")
        await component.stop()
        try await eventually("the rest is counted") {
            log.events.contains { $0["message"] == "a worker printed more than is told" }
        }
        let lines = log.events.compactMap { $0["text"] }
        #expect(lines.count == 200)
        #expect(lines.allSatisfy { $0.utf8.count == 2_000 })
        #expect(log.events.last?["count"] == "300")
    }
}

/// Keeps what is logged, by key.
private final class CapturedLog: Sendable {
    private struct Handler: LogHandler {
        let log: CapturedLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            var fields = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { "\($0)" }
            fields["message"] = "\(event.message)"
            log.kept.withLock { [fields] in $0.append(fields) }
        }
    }

    private let kept = Mutex<[[String: String]]>([])

    var events: [[String: String]] { kept.withLock { $0 } }

    var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }
}
