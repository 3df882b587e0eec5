import CSystemd

/// The interval at which the service manager expects to be notified that the daemon serves.
///
/// Without a notification for ``limit`` it kills the process and starts it again. Notifications must be sent from the
/// event loop that serves calls: those of another thread would prove nothing about it.
public struct Watchdog: Sendable, Equatable {
    /// The time without a notification after which the process is killed.
    public let limit: Duration

    /// The interval at which to call ``Notifier/isAlive()``: half of the limit.
    public var interval: Duration { limit / 2 }

    /// The watchdog that the manager set for this process; nil when it set none.
    ///
    /// The variables of the protocol are removed from the environment, so that children don't take
    /// the watchdog for theirs: a second call finds none. Call it before any thread is started.
    public static func take() -> Watchdog? {
        var microseconds: UInt64 = 0
        guard sd_watchdog_enabled(1, &microseconds) > 0, microseconds > 0 else { return nil }
        return Watchdog(limit: .microseconds(Int64(clamping: microseconds)))
    }
}
