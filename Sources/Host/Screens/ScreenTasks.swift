import DequeModule

/// The choices that are made on a screen, one after the other.
final class ScreenTasks {
    /// A task calls `finished` when it is done, at once or later.
    typealias Task = (_ finished: @escaping () -> Void) -> Void

    private static let mostEdits = 64

    private var tasks: Deque<Task> = []
    /// Whether a task has begun and not finished.
    private var isBusy = false
    private var isGoingOn = false
    /// How many changes by the screen's delegate wait for their turn.
    private var edits = 0

    /// Runs a task after those before it.
    func add(_ task: @escaping Task) {
        tasks.append(task)
        runNext()
    }

    /// Runs the next task; tasks that finish at once are run in a loop, not recursively.
    private func runNext() {
        guard !isGoingOn else { return }
        isGoingOn = true
        while !isBusy, let task = tasks.popFirst() {
            isBusy = true
            task { [self] in
                isBusy = false
                runNext()
            }
        }
        isGoingOn = false
    }

    /// Registers a change by the screen's delegate that waits for its turn; returns false if too many wait.
    func awaitEdit() -> Bool {
        guard edits < Self.mostEdits else { return false }
        edits += 1
        return true
    }

    /// Ends such a change.
    func endEdit() { edits -= 1 }
}
