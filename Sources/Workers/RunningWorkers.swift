internal import Synchronization

/// Counts the running workers, so that callers can wait until the last one has ended.
public final class RunningWorkers: Sendable {
    private struct State {
        var count = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Makes a counter at 0.
    public init() {}

    /// Waits until no worker is left: all have ended and were reaped.
    ///
    /// It takes about ``WorkerLimits/end`` at most once all components are closed, and returns at once if no worker
    /// is running.
    public func allEnded() async {
        await withCheckedContinuation { continuation in
            let isNone = state.withLock { state in
                if state.count > 0 { state.waiting.append(continuation) }
                return state.count == 0
            }
            if isNone { continuation.resume() }
        }
    }

    func begin() { state.withLock { $0.count += 1 } }

    func end() {
        let waiting = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
