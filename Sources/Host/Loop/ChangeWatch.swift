import NIOCore

/// Somebody who wants to know that something changed.
///
/// Told once for all of it that happens within a while; used on the loop alone.
final class ChangeWatch {
    private let loop: any EventLoop
    private var interval = TimeAmount.zero
    private var body: (() -> Void)?
    private var isScheduled = false

    init(loop: any EventLoop) { self.loop = loop }

    /// Has changes told.
    func watch(every interval: TimeAmount, _ body: @escaping () -> Void) {
        self.interval = interval
        self.body = body
    }

    /// Nothing is told any more.
    func end() { body = nil }

    /// Something changed.
    func note() {
        guard !isScheduled, body != nil else { return }
        isScheduled = true
        let bound = NIOLoopBound(self, eventLoop: loop)
        loop.scheduleTask(in: interval) {
            bound.value.isScheduled = false
            bound.value.body?()
        }
    }
}
