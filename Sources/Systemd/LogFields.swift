import Logging

/// What both log handlers are made of: a label, metadata, and a level that follows the shared
/// threshold.
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
