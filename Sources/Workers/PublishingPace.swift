internal import NIOCore

/// How fast a component may publish: many notifications at once, then so many a second.
struct PublishingPace {
    /// Notifications in a second, and how many at once after a pause.
    static let rate = 1_000
    /// A notification counts once for each beginning piece of this size.
    static let unitBytes = 4_000
    /// How long it must have kept to the pace until its next haste is told.
    private static let calm = TimeAmount.seconds(10)

    /// What who publishes too fast waits.
    struct Pause: Equatable {
        let time: TimeAmount
        /// Whether it kept to the pace until now.
        let isFirst: Bool
    }

    /// When all that was published is paid for; never more than a second ahead but by one notification.
    private var paid = NIODeadline.uptimeNanoseconds(0)
    private var lastHaste: NIODeadline?

    /// Takes a notification in.
    ///
    /// - Parameters:
    ///   - bytes: how big it is.
    ///   - now: the time.
    /// - Returns: how long nothing more may come; nil: no time.
    mutating func publishes(bytes: Int, at now: NIODeadline) -> Pause? {
        let units = Int64(1 + bytes / Self.unitBytes)
        paid = max(paid, now) + .nanoseconds(units * (1_000_000_000 / Int64(Self.rate)))
        let allowed = now + .seconds(1)
        guard paid > allowed else { return nil }
        let isFirst = lastHaste.map { now - $0 >= Self.calm } ?? true
        lastHaste = now
        // Some more at once: the loop is not woken for each. And never long: a worker's end is not
        // noticed meanwhile.
        let time = min(paid - allowed + .milliseconds(100), .seconds(1))
        return Pause(time: time, isFirst: isFirst)
    }
}
