internal import DequeModule
internal import Dispatch
internal import NIOCore
internal import Synchronization

/// Runs tasks in a process that should not wake up while it has nothing to do.
///
/// Swift's own pool runs tasks on libdispatch's concurrent queues. On Linux, libdispatch checks the threads of
/// these queues once a second, from the first task to the end of the process. It does not check serial queues,
/// which have a thread each while they have work. So tasks run on as many serial queues as there are processors.
///
/// - A task's children run where it runs, and so do actors without an executor of their own while
///   they work for it. `Task { … }` does not: say `Task(executorPreference:)`.
/// - `Task.sleep` ends on the pool nevertheless: wait for an event loop's timer instead.
/// - Jobs start in the order in which they became ready, whatever their priority.
/// - A thread that has had nothing to do for some seconds ends.
public final class QuietExecutor: TaskExecutor {
    /// The executor of this process, which runs as many jobs at a time as the process may use processors.
    public static let shared = QuietExecutor(width: System.coreCount)

    private struct State {
        var jobs = Deque<UnownedJob>()
        /// The queues that are free.
        var idle: [DispatchQueue]
    }

    private let state: Mutex<State>

    /// Makes a separate executor, which runs up to `width` jobs at a time.
    init(width: Int) {
        state = Mutex(
            State(idle: (0..<max(1, width)).map { DispatchQueue(label: "atrium.tasks.\($0)") }))
    }

    /// Runs a job on the first queue that is free.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let queue = state.withLock { state in
            state.jobs.append(job)
            return state.idle.popLast()
        }
        // When none is free, the next one that finishes its job takes this one.
        queue?.async { self.work(on: queue) }
    }

    private func work(on queue: DispatchQueue?) {
        while let job = next(on: queue) { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Returns the next job, or marks the queue as free.
    ///
    /// Both happen under one lock, so that a job that is added later finds the queue free.
    private func next(on queue: DispatchQueue?) -> UnownedJob? {
        state.withLock { state in
            if let job = state.jobs.popFirst() { return job }
            if let queue { state.idle.append(queue) }
            return nil
        }
    }
}
