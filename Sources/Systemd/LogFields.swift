import LogMessages
import Logging

/// The properties that both log handlers share: a label, metadata, and a level that follows the shared threshold.
struct LogFields: Sendable {
    let label: String
    let threshold: LogThreshold
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    var ownLevel: Logger.Level?

    var level: Logger.Level {
        get { ownLevel ?? threshold.level }
        set { ownLevel = newValue }
    }

    /// The event on one line: `message key=value`.
    ///
    /// Line breaks and other control characters are escaped, so that nobody's input can forge a
    /// line or reach a terminal; a value with spaces is quoted. The message's number is left out.
    func line(for event: LogEvent) -> String {
        let pairs = pairs(of: event).filter { $0.key != LogMessage.key }
            .map { " \($0.key)=\(quoted($0.value))" }
        return "\(oneLine(event.message.description))\(pairs.joined())"
    }

    /// The event's metadata over the provider's over the logger's, and its error, in the order of
    /// their keys.
    func pairs(of event: LogEvent) -> [(key: String, value: String)] {
        var merged = metadata
        if let provided = metadataProvider?.get() {
            merged.merge(provided) { $1 }
        }
        if let given = event.metadata {
            merged.merge(given) { $1 }
        }
        if let error = event.error, merged["error"] == nil {
            merged["error"] = "\(error)"
        }
        return merged.sorted { $0.key < $1.key }.map { ($0.key, $0.value.description) }
    }
}

/// A log handler whose label, metadata and level are in ``LogFields``.
protocol FieldLogHandler: LogHandler {
    var fields: LogFields { get set }
}

extension FieldLogHandler {
    var metadata: Logger.Metadata {
        get { fields.metadata }
        set { fields.metadata = newValue }
    }

    var metadataProvider: Logger.MetadataProvider? {
        get { fields.metadataProvider }
        set { fields.metadataProvider = newValue }
    }

    /// The shared threshold's level, or this logger's own once it was set.
    var logLevel: Logger.Level {
        get { fields.level }
        set { fields.level = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { fields.metadata[key] }
        set { fields.metadata[key] = newValue }
    }
}

private func quoted(_ value: String) -> String {
    let plain = !value.isEmpty && !value.contains { $0 == " " || $0 == "\"" || $0 == "=" }
    guard !plain else { return oneLine(value) }
    return "\"\(oneLine(value.replacing("\"", with: "\\\"")))\""
}

/// Returns the text with its control characters as escapes, since a terminal must not interpret characters from a
/// client.
private func oneLine(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    return text.unicodeScalars.map { isControl($0) ? $0.escaped(asASCII: true) : String($0) }
        .joined()
}

/// Whether a scalar is a control character, including those that change the direction of a line, such as U+202E, and
/// those that break it, such as U+2028.
private func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
}

extension Logger.Level {
    /// The level in the terms of syslog and the journal: 7 is debug, 3 is an error.
    var priority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
