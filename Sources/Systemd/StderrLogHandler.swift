import Glibc
public import Logging

/// Writes one line per event to standard error: `HH:MM:SS level message key=value`.
///
/// Time is local. Line breaks and other control characters are escaped, so that nobody's input can
/// forge a line; a value with spaces is quoted. A line is one `write`, so lines of several threads
/// don't mix.
public struct StderrLogHandler: LogHandler {
    private var fields: LogFields

    /// Makes a handler.
    ///
    /// - Parameters:
    ///   - label: The logger's name; it is not part of the line.
    ///   - threshold: The level shared with all other loggers.
    public init(label: String, threshold: LogThreshold) {
        fields = LogFields(label: label, threshold: threshold)
    }

    init(fields: LogFields) {
        self.fields = fields
    }

    /// What every event of this logger carries.
    public var metadata: Logger.Metadata {
        get { fields.metadata }
        set { fields.metadata = newValue }
    }

    /// Where further metadata comes from at the time of an event.
    public var metadataProvider: Logger.MetadataProvider? {
        get { fields.metadataProvider }
        set { fields.metadataProvider = newValue }
    }

    /// The shared threshold's level, or this logger's own once it was set.
    public var logLevel: Logger.Level {
        get { fields.level }
        set { fields.level = newValue }
    }

    /// One value of the metadata.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { fields.metadata[key] }
        set { fields.metadata[key] = newValue }
    }

    /// Writes the event's line.
    public func log(event: LogEvent) {
        write("\(timeOfDay()) \(line(for: event))")
    }

    /// Writes the event as systemd reads it from a service's standard error: the priority leads,
    /// and the time is systemd's own.
    func logForSystemd(event: LogEvent) {
        write("<\(event.level.priority)>\(line(for: event))")
    }

    /// The line without its time and its end.
    func line(for event: LogEvent) -> String {
        let pairs = fields.pairs(of: event).map { " \($0.key)=\(quoted($0.value))" }
        return "\(event.level) \(oneLine(event.message.description))\(pairs.joined())"
    }

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

private func quoted(_ value: String) -> String {
    let plain = !value.isEmpty && !value.contains { $0 == " " || $0 == "\"" || $0 == "=" }
    guard !plain else { return oneLine(value) }
    return "\"\(oneLine(value.replacing("\"", with: "\\\"")))\""
}

/// Control characters as escapes: a terminal must not act on what a client sent.
private func oneLine(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    return text.unicodeScalars.map { isControl($0) ? $0.escaped(asASCII: true) : String($0) }
        .joined()
}

private func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .control
}
