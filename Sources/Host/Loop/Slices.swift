import DequeModule
import LogMessages
import NIOCore

/// Long work, done in slices, so that the loop serves others in between.
///
/// All such work takes turns, one slice at a time. After a slice of a millisecond or more, the next one waits until
/// the loop has served its sockets. Use it on the loop only.
final class Slices {
    /// The time that a slice may take.
    static let length = TimeAmount.milliseconds(4)
    /// The number of small operations in one turn after which ``rest()`` is called.
    static let much = 64

    /// Work that is in progress.
    ///
    /// Not a tuple: closures in a tuple are wrapped anew each time they are put into the queue.
    private struct Work {
        let step: () -> Bool
        let done: () -> Void
    }

    private let timers: Timers
    /// How many steps of work were done so far, for ``LoadProgress/steps``.
    private(set) var steps = 0
    /// Whether more than ``much`` operations ran in one turn since the loop last served its sockets.
    private(set) var isSpent = false
    /// The work that is in progress, in the order of its turns.
    private var waiting: Deque<Work> = []
    private var isRunning = false
    /// Whether slices wait until the loop has served its sockets.
    private var isResting = false

    init(_ timers: Timers) { self.timers = timers }

    /// Does long work in slices: `step` does a small part of it, and returns false when nothing is left; `done` is
    /// called after that, maybe during this call.
    func run(_ step: @escaping () -> Bool, then done: @escaping () -> Void) {
        waiting.append(Work(step: step, done: done))
        if !isRunning, !isResting { runNext() }
    }

    /// Calls each of these in order, in slices.
    func run(_ bodies: [() -> Void]) {
        var rest = bodies[...]
        run {
            rest.popFirst()?()
            return !rest.isEmpty
        } then: {
        }
    }

    /// Counts a step of work that was done outside of slices.
    func countStep() { steps += 1 }

    /// Makes slices and outcomes wait until the loop has served its sockets, after ``much`` operations in one turn.
    func rest() {
        isSpent = true
        delay()
    }

    /// Makes slices wait until the loop has served its sockets.
    func delay() {
        guard !isResting else { return }
        isResting = true
        timers.afterPoll { [self] in
            (isResting, isSpent) = (false, false)
            if !waiting.isEmpty { runNext() }
        }
    }

    private func runNext() {
        timers.turns.work.insert(.slice)
        let start = NIODeadline.now()
        var now = start
        isRunning = true
        while now < start + Self.length, !isResting, let work = waiting.popFirst() {
            var isLeft = true
            while isLeft, now < start + Self.length, !isResting {
                isLeft = work.step()
                if isLeft { steps += 1 }
                now = .now()
            }
            if isLeft { waiting.append(work) } else { work.done() }
        }
        isRunning = false
        if !waiting.isEmpty || now >= start + .milliseconds(1) { delay() }
    }
}
