public import Logging
import Synchronization

/// The level below which nothing is logged, shared by every logger of the process.
///
/// Changing it takes effect at once, also for loggers that were made before. A logger whose own
/// `logLevel` was set keeps that one.
public final class LogThreshold: Sendable {
    private let current: Mutex<Logger.Level>

    /// Makes a threshold: the least important level that is still logged.
    public init(_ level: Logger.Level) {
        current = Mutex(level)
    }

    /// The least important level that is still logged.
    public var level: Logger.Level {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
