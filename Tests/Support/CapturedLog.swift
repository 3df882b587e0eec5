import LogMessages
public import Logging
import Synchronization

/// Keeps what is logged.
public final class CapturedLog: Sendable {
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
            fields[LogMessage.key] = nil
            log.kept.withLock { [fields] in $0.append(("\(event.message)", fields)) }
        }
    }

    private let kept = Mutex<[(message: String, fields: [String: String])]>([])

    /// Has nothing yet.
    public init() {}

    /// What logs into it, from `info` on.
    public var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    /// The messages alone.
    public var messages: [String] { kept.withLock { $0.map(\.message) } }

    /// A line for each, with its metadata in the order of keys.
    public var lines: [String] {
        kept.withLock { kept in
            kept.map { message, fields in
                ([message] + fields.map { "\($0)=\($1)" }.sorted()).joined(separator: " ")
            }
        }
    }

    /// The metadata of each, with its message under `message`.
    public var events: [[String: String]] {
        kept.withLock { kept in
            kept.map { message, fields in fields.merging(["message": message]) { $1 } }
        }
    }
}
