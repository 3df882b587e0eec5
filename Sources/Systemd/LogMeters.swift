import CoreMetrics
import Logging

/// The counters of written messages, by level, through swift-metrics.
enum LogMeters {
    private static let counters = Dictionary(
        uniqueKeysWithValues: Logger.Level.allCases.map { level in
            (
                level,
                Counter(
                    label: "atrium_log_messages_total", dimensions: [("level", level.rawValue)])
            )
        })

    /// A message of this level was written.
    static func count(_ level: Logger.Level) { counters[level]?.increment() }
}
