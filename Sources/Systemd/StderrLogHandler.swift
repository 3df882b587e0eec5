import Glibc
import Logging

/// Writes one line per event to standard error: `HH:MM:SS level message key=value`, or, for a service
/// manager that adds the time itself, `<priority>level message key=value` as sd-daemon(3) has it.
///
/// Time is local. Line breaks and other control characters are escaped, so that nobody's input can
/// forge a line; a value with spaces is quoted. A line is one `write`, so lines of several threads
/// don't mix.
struct StderrLogHandler: FieldLogHandler {
    var fields: LogFields
    private let isForManager: Bool

    /// Makes a handler; of lines that a service manager reads the priority leads, in place of the time.
    init(label: String, threshold: LogThreshold, isForManager: Bool = false) {
        self.init(
            fields: LogFields(label: label, threshold: threshold), isForManager: isForManager)
    }

    init(fields: LogFields, isForManager: Bool) {
        self.fields = fields
        self.isForManager = isForManager
    }

    /// Writes the event's line.
    func log(event: LogEvent) {
        let start = isForManager ? "<\(event.level.priority)>" : "\(timeOfDay()) "
        write(start + line(for: event))
        LogMeters.count(event.level)
    }

    /// Returns the line without its prefix and its end.
    func line(for event: LogEvent) -> String { "\(event.level) \(fields.line(for: event))" }

    private func write(_ line: String) {
        var text = line + "\n"
        // A failed write has nowhere to be reported.
        _ = text.withUTF8 { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

private func timeOfDay() -> String {
    var seconds = time(nil)
    var local = tm()
    localtime_r(&seconds, &local)
    return [local.tm_hour, local.tm_min, local.tm_sec]
        .map { $0 < 10 ? "0\($0)" : "\($0)" }
        .joined(separator: ":")
}
