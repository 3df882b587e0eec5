import NIOCore

/// Calls one observer after changes.
///
/// All changes within an interval result in one call. Use it on the loop only.
final class ChangeWatch {
    private let loop: any EventLoop
    private var interval = TimeAmount.zero
    private var body: (() -> Void)?
    private var isScheduled = false

    init(loop: any EventLoop) { self.loop = loop }

    /// Calls `body` after changes, at most once in each interval.
    func watch(every interval: TimeAmount, _ body: @escaping () -> Void) {
        self.interval = interval
        self.body = body
    }

    /// Stops the calls.
    func end() { body = nil }

    /// Schedules a call of the body after a change.
    func schedule() {
        guard !isScheduled, body != nil else { return }
        isScheduled = true
        let bound = NIOLoopBound(self, eventLoop: loop)
        loop.scheduleTask(in: interval) {
            bound.value.isScheduled = false
            bound.value.body?()
        }
    }
}
