internal import NIOCore

/// Limits how fast a component may publish or ask: a burst, then a constant rate.
struct WorkerPace {
    /// The number of notifications that are allowed in a second, and in a burst after a pause.
    static let notifications = 1_000
    /// The number of items that the component may read in a second, so that the loop has time for others.
    static let items = 10_000
    /// The number of bytes for which a message counts once more: it counts once, and once more for each full piece of
    /// this size.
    static let unitBytes = 4_000
    /// The time for which the component must have kept to the rate until exceeding it is logged again.
    private static let calm = TimeAmount.seconds(10)

    /// The message that is logged of a component that publishes too fast.
    static let warning =
        "It publishes faster than \(most(notifications, "notifications")): its messages are delayed."
    /// The message that is logged of a component that reads items too fast.
    static let askingWarning =
        "It reads items faster than \(most(items, "items")): answers and its calls are delayed."

    private static func most(_ rate: Int, _ what: String) -> String {
        "\(rate) \(what), or \(rate * unitBytes / 1_000_000) MB, a second"
    }

    /// A pause for a component that is too fast.
    struct Pause: Equatable {
        let time: TimeAmount
        /// Whether the component kept to the rate before, so that this is to be logged.
        let isFirst: Bool
    }

    private let rate: Int
    /// The time at which the messages counted so far are within the rate; at most a second ahead, without the last
    /// message.
    private var paid = NIODeadline.uptimeNanoseconds(0)
    private var lastHaste: NIODeadline?

    init(_ rate: Int) { self.rate = rate }

    /// Counts a notification or an answer of some bytes; returns a pause before more is read, nil if none is needed.
    mutating func count(bytes: Int, at now: NIODeadline) -> Pause? {
        let units = Int64(1 + bytes / Self.unitBytes)
        paid = max(paid, now) + .nanoseconds(units * (1_000_000_000 / Int64(rate)))
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
