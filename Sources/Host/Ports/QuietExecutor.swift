internal import DequeModule
internal import Dispatch
internal import NIOCore
internal import Synchronization

/// Where tasks run in a process that should not wake up while it has nothing to do.
///
/// Swift's own pool hands tasks to libdispatch's concurrent queues. On Linux, libdispatch looks
/// after the threads of these once a second, from the first task to the end of the process. It does
/// not look after serial queues, which have a thread each while there is something on them: tasks
/// run on as many of these as there are processors.
///
/// - A task's children run where it runs, and so do actors without an executor of their own while
///   they work for it. `Task { … }` does not: say `Task(executorPreference:)`.
/// - `Task.sleep` ends on the pool nevertheless: wait for an event loop's timer instead.
/// - Jobs start in the order in which they became ready, whatever their priority.
/// - A thread that has had nothing to do for some seconds ends.
public final class QuietExecutor: TaskExecutor {
    /// The one of this process: as many jobs at a time as it may use processors.
    public static let shared = QuietExecutor(width: System.coreCount)

    private struct State {
        var jobs = Deque<UnownedJob>()
        /// The queues on which nothing runs.
        var idle: [DispatchQueue]
    }

    private let state: Mutex<State>

    /// Makes one of its own.
    ///
    /// - Parameter width: how many jobs may run at a time, at least one.
    init(width: Int) {
        state = Mutex(
            State(idle: (0..<max(1, width)).map { DispatchQueue(label: "atrium.tasks.\($0)") }))
    }

    /// Has the job run, on the first thread that is free.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let queue = state.withLock { state in
            state.jobs.append(job)
            return state.idle.popLast()
        }
        // Without a free one, a busy one takes it.
        queue?.async { self.work(on: queue) }
    }

    private func work(on queue: DispatchQueue?) {
        while let job = next(on: queue) { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// What to run next; with nothing left the queue is free, which is one step: what comes later
    /// finds it so.
    private func next(on queue: DispatchQueue?) -> UnownedJob? {
        state.withLock { state in
            if let job = state.jobs.popFirst() { return job }
            if let queue { state.idle.append(queue) }
            return nil
        }
    }
}
