internal import Synchronization

/// How many workers there are, for those who wait for the last one to end.
public final class RunningWorkers: Sendable {
    private struct State {
        var count = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// None, yet.
    public init() {}

    /// Waits until none is left: each has ended and was reaped.
    ///
    /// Lasts as long as ``WorkerLimits/end`` once all components are closed, and no time at all where
    /// nobody was started.
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
