import LogMessages
import NIOCore

/// Calls that the event loop makes later; used on the loop only.
struct Timers {
    /// The delay after which the loop is expected to have served its sockets.
    ///
    /// Such work is scheduled, since the loop would run an executed task before it serves its sockets.
    private static let pause = TimeAmount.microseconds(100)

    let loop: any EventLoop
    /// Records for diagnosis what the loop does in each turn.
    let turns: TurnNotes

    func after(_ delay: TimeAmount, _ body: @escaping () -> Void) {
        let body = NIOLoopBound(body, eventLoop: loop)
        loop.scheduleTask(in: delay) { [turns] in
            turns.work.insert(.timer)
            body.value()
        }
    }

    /// Calls `body` once the loop has served its sockets.
    ///
    /// One timer does not ensure that: the loop runs a timer that becomes due during other work before it serves its
    /// sockets.
    func afterPoll(_ body: @escaping () -> Void) { afterPoll(in: Self.pause, body) }

    /// Waits again within the same turn, each time twice as long.
    ///
    /// With a constant delay the turn would never end on a machine so slow that a timer is due as soon as it is set.
    private func afterPoll(in delay: TimeAmount, _ body: @escaping () -> Void) {
        let turn = turns.count
        after(delay) { [self] in
            guard turn > 0, turns.count == turn else { return body() }
            afterPoll(in: delay * 2, body)
        }
    }

    /// Calls `body` once the present call stack has returned.
    func later(_ body: @escaping () -> Void) {
        let body = NIOLoopBound(body, eventLoop: loop)
        loop.execute { [turns] in
            turns.work.insert(.later)
            body.value()
        }
    }
}
