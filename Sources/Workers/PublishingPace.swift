internal import NIOCore

/// Limits how fast a component may publish: a burst of notifications, then a constant rate.
struct PublishingPace {
    /// How many notifications are allowed in a second, and in a burst after a pause.
    static let rate = 1_000
    /// A notification counts once, and once more for each full piece of this many bytes.
    static let unitBytes = 4_000
    /// How long the component must have kept to the rate until exceeding it is logged again.
    private static let calm = TimeAmount.seconds(10)

    /// What is logged of a component that publishes too fast.
    static let warning =
        "It publishes faster than \(rate) notifications, or \(rate * unitBytes / 1_000_000) MB, a second: what it "
        + "says waits."

    /// A pause for a component that publishes too fast.
    struct Pause: Equatable {
        let time: TimeAmount
        /// Whether the component kept to the rate before, so that this is to be logged.
        let isFirst: Bool
    }

    /// When the notifications so far are within the rate; at most a second ahead, but for one notification.
    private var paid = NIODeadline.uptimeNanoseconds(0)
    private var lastHaste: NIODeadline?

    /// Counts a notification.
    ///
    /// - Parameters:
    ///   - bytes: its size.
    ///   - now: the time.
    /// - Returns: a pause before further messages are read; nil: none is needed.
    mutating func publishes(bytes: Int, at now: NIODeadline) -> Pause? {
        let units = Int64(1 + bytes / Self.unitBytes)
        paid = max(paid, now) + .nanoseconds(units * (1_000_000_000 / Int64(Self.rate)))
        let allowed = now + .seconds(1)
        guard paid > allowed else { return nil }
        let isFirst = lastHaste.map { now - $0 >= Self.calm } ?? true
        lastHaste = now
        // 100 ms more, so that the loop is not woken for each notification. One second at most, since a worker's end is
        // not noticed during the pause.
        let time = min(paid - allowed + .milliseconds(100), .seconds(1))
        return Pause(time: time, isFirst: isFirst)
    }
}
