import AtriumKit
import DequeModule

/// The requests of a slot that its component has not answered: those that wait, and those that were sent.
///
/// Commands, and questions that don't depend on records, wait in the order of their arrival. Questions about the
/// committed state wait apart from them: ``QuietReads``.
///
/// A class, because its methods ask the slot about requests, which looks at the queue again.
final class RequestQueue {
    private var waiting: Deque<Request> = []
    private var reads = QuietReads()
    private var callPermits = WaitPermits()
    private var readPermits = WaitPermits()
    private var inFlight: Deque<Request> = []

    var waitingCount: Int { waiting.count + reads.count }

    /// Whether no answer is outstanding.
    var isIdle: Bool { inFlight.isEmpty }

    /// The request that the component is handling.
    var present: Request? { inFlight.first }

    /// The first request that waits, apart from reads.
    var first: Request? { waiting.first }

    // MARK: Waiting

    /// Whether no request waits in the queue that a request would join.
    func isFree(for request: Request) -> Bool {
        request.isQuietRead ? reads.isEmpty : waiting.isEmpty
    }

    /// Adds a request, which gets one of its user's permits.
    ///
    /// - Parameters:
    ///   - request: the request; a screen's needs no permit.
    ///   - most: the number of permits.
    ///   - newest: the last operation that was begun.
    /// - Throws: when its user has no permit left.
    func add(
        _ request: Request, of most: Int, newest: UInt64
    ) throws(WaitPermits.Full) {
        if !request.isOfScreen {
            let permits = request.isQuietRead ? readPermits : callPermits
            request.permit = try permits.acquire(for: request.user, of: most)
        }
        if request.isQuietRead {
            reads.append(request, newest: newest)
        } else {
            waiting.append(request)
        }
    }

    /// Records which operations are under way, which decides how long reads have waited.
    func follow(oldest: UInt64?, newest: UInt64) { reads.follow(oldest: oldest, newest: newest) }

    /// Whether no request that comes first keeps a request from being sent.
    ///
    /// - Parameters:
    ///   - request: a waiting or a new request.
    ///   - overtakes: whether it may be sent before waiting commands.
    /// - Returns: whether it may be sent.
    func isNext(_ request: Request, overtakes: Bool) -> Bool {
        guard request.isQuietRead else { return !reads.mustWait(request) }
        return overtakes || waiting.first.map { request.number < $0.number } ?? true
    }

    /// Takes the next request that can be sent: reads first, because the component is rarely quiet.
    ///
    /// - Parameters:
    ///   - overtaking: a read that can be sent before those that came earlier; nil: there is no such read.
    ///   - canSend: whether a request can be sent.
    /// - Returns: the request; nil: none can be sent.
    func takeNext(
        overtaking: ((Request) -> Bool)?, where canSend: (Request) -> Bool
    ) -> Request? {
        if let read = reads.first, canSend(read) { return reads.removeFirst() }
        if let overtaking,
            let read = reads.removeFirst(where: { overtaking($0) && canSend($0) })
        {
            return read
        }
        if let first = waiting.first, canSend(first) { return waiting.popFirst() }
        return nil
    }

    /// Removes and returns the waiting requests that match.
    func removeWaiting(where isOne: (Request) -> Bool) -> [Request] {
        var removed = waiting.filter(isOne)
        waiting.removeAll(where: isOne)
        while let read = reads.removeFirst(where: isOne) { removed.append(read) }
        for request in removed { request.permit = nil }
        return Array(removed)
    }

    /// Moves the requests here that wait in another queue, with their places.
    func moveWaiting(from other: RequestQueue) {
        waiting.append(contentsOf: other.waiting)
        other.waiting.removeAll()
        reads.prepend(other.reads.removeAll())
        (callPermits, readPermits) = (other.callPermits, other.readPermits)
    }

    // MARK: Sent requests

    /// Records that a request was sent.
    func sent(_ request: Request) { inFlight.append(request) }

    /// Records that a request was answered; returns false if it is not awaited any more.
    func answered(_ request: Request) -> Bool {
        guard let index = inFlight.firstIndex(where: { $0 === request }) else { return false }
        inFlight.remove(at: index)
        return true
    }

    /// Whether a request was sent and not answered.
    func isAwaited(_ request: Request) -> Bool { inFlight.contains { $0 === request } }

    /// Removes and returns the requests that were sent and not answered.
    func takeUnanswered() -> Deque<Request> {
        defer { inFlight.removeAll() }
        return inFlight
    }

    /// Puts requests back to the front, to be sent again.
    ///
    /// - Parameter unanswered: the requests, in order.
    func requeue(_ unanswered: Deque<Request>) {
        for request in unanswered { request.operation = nil }
        reads.prepend(unanswered.filter(\.isQuietRead))
        waiting.prepend(contentsOf: unanswered.filter { !$0.isQuietRead })
    }

    /// Removes and returns all requests, whether waiting or sent.
    func removeAll() -> [Request] {
        let all = inFlight + waiting + reads.removeAll()
        inFlight.removeAll()
        waiting.removeAll()
        for request in all { request.permit = nil }
        return Array(all)
    }
}
