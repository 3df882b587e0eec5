internal import NIOCore

/// One timer for the oldest of many calls.
///
/// Later calls leave it as it is, unless the oldest is due before it: behind one that may take longer.
struct CallTimer {
    private var timer: (due: ContinuousClock.Instant, scheduled: Scheduled<Void>)?

    /// Has something done at a time, unless it is done before that anyway.
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

    /// It has fired, or is not wanted any more.
    mutating func end() {
        timer?.scheduled.cancel()
        timer = nil
    }
}
