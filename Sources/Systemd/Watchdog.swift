import CSystemd

/// How often the service manager wants to hear that the daemon serves.
///
/// Without a word for ``limit`` it kills the process and starts it again. The words must come from
/// where calls are served: one from elsewhere says nothing about them.
public struct Watchdog: Sendable, Equatable {
    /// After how long a silence the process is killed.
    public let limit: Duration

    /// How often to say ``Notifier/isAlive()``: twice as often as need be.
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
