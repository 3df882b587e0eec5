internal import NIOCore

/// One timer for the oldest of many calls.
///
/// It is replaced only by an earlier time: a call that is allowed less time than the one before it may be due first.
struct CallTimer {
    private var timer: (due: ContinuousClock.Instant, scheduled: Scheduled<Void>)?

    /// Schedules `body`, unless the timer is due earlier anyway.
    mutating func set(
        _ due: ContinuousClock.Instant, on loop: any EventLoop,
        _ body: @escaping @Sendable () -> Void
    ) {
        if let timer, timer.due <= due { return }
        timer?.scheduled.cancel()
        let rest = max(.zero, due - .now)
        timer = (
            due, loop.scheduleTask(in: TimeAmount(rest) + .milliseconds(1), body)
        )
    }

    /// Ends the timer, which has fired or is no longer needed.
    mutating func end() {
        timer?.scheduled.cancel()
        timer = nil
    }
}
