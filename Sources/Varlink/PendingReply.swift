/// One answer that one task waits for: the first that comes counts, be it a reply or the end of waiting.
///
/// Unchecked: guarded by the client's event loop, on which alone it is touched.
final class PendingReply<Answer: Sendable>: @unchecked Sendable {
    private var state = State.new

    private enum State {
        case new
        case waiting(CheckedContinuation<Answer, any Error>)
        case finished
    }

    /// Begins to wait.
    ///
    /// - Returns: Whether there is still something to wait for; if not, the task goes on with a
    ///   `CancellationError`.
    func begin(_ continuation: CheckedContinuation<Answer, any Error>) -> Bool {
        guard case .new = state else {
            continuation.resume(throwing: CancellationError())
            return false
        }
        state = .waiting(continuation)
        return true
    }

    /// Ends the waiting; only the first time counts.
    func finish(_ answer: Result<Answer, any Error>) {
        let before = state
        state = .finished
        if case .waiting(let continuation) = before { continuation.resume(with: answer) }
    }
}
