import DequeModule

/// Changes of structure, one at a time: each is planned on what the one before it left.
final class StructureQueue {
    typealias Job = (_ finished: @escaping () -> Void) -> Void

    private var waiting: Deque<Job> = []
    private var isBusy = false

    /// Whether nothing is going on.
    var isIdle: Bool { !isBusy }

    /// Runs the job once those before it are finished; it must say when it is.
    func add(_ job: @escaping Job) {
        waiting.append(job)
        next()
    }

    private func next() {
        guard !isBusy, let job = waiting.popFirst() else { return }
        isBusy = true
        job { [self] in
            isBusy = false
            next()
        }
    }
}
