import CSystemd
import Glibc
import LogMessages
import Logging

/// Sends events to the systemd journal with their fields.
///
/// `MESSAGE`, `PRIORITY`, `LOGGER` (the label), `CODE_FILE`, `CODE_LINE`, `CODE_FUNC`, `MESSAGE_ID`
/// where an administrator may act on it, and each metadata value as `ATRIUM_<KEY>`, so that
/// `journalctl ATRIUM_CONTAINER=films` finds what concerns one container. `MESSAGE` repeats the
/// metadata, since that is all that most people see: the message and `key=value`, escaped and on one
/// line. The fields themselves are as they are. An event that can't be sent to the journal (no descriptor or
/// memory is left) goes to standard error instead.
struct JournalLogHandler: FieldLogHandler {
    var fields: LogFields

    /// Makes a handler; the logger's name is the field `LOGGER`, its level that of all others.
    init(label: String, threshold: LogThreshold) {
        fields = LogFields(label: label, threshold: threshold)
    }

    /// Sends the event.
    func log(event: LogEvent) {
        guard send(journalFields(for: event)) else {
            StderrLogHandler(fields: fields, isForManager: true).log(event: event)
            return
        }
        LogMeters.count(event.level)
    }

    /// The event as the journal's assignments, `NAME=value`.
    func journalFields(for event: LogEvent) -> [String] {
        [
            "MESSAGE=\(fields.line(for: event))",
            "PRIORITY=\(event.level.priority)",
            "LOGGER=\(fields.label)",
            "CODE_FILE=\(event.file)",
            "CODE_LINE=\(event.line)",
            "CODE_FUNC=\(event.function)",
        ] + fields.pairs(of: event).map { "\(Self.fieldName(for: $0.key))=\($0.value)" }
    }

    /// The journal takes names of up to 64 upper-case letters, digits and underscores, and drops an
    /// event that has any other.
    static func fieldName(for key: String) -> String {
        if key == LogMessage.key { return "MESSAGE_ID" }
        let name = key.uppercased().unicodeScalars.map { scalar in
            switch scalar {
            case "A"..."Z", "0"..."9": Character(scalar)
            default: Character("_")
            }
        }
        return "ATRIUM_" + String(name.prefix(64 - "ATRIUM_".count))
    }

    private func send(_ assignments: [String]) -> Bool {
        let lengths = assignments.map(\.utf8.count)
        // All fields in one allocation, whose parts the vector points at while the call lasts.
        var bytes = assignments.flatMap(\.utf8)
        return bytes.withUnsafeMutableBytes { buffer in
            var offset = 0
            let vector = lengths.map { length in
                defer { offset += length }
                return iovec(iov_base: buffer.baseAddress.map { $0 + offset }, iov_len: length)
            }
            return sd_journal_sendv(vector, Int32(vector.count)) >= 0
        }
    }
}
