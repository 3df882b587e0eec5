import AtriumKit
import DequeModule
import LogMessages
import Logging
import NIOCore
import PluginLoader

/// Sends the requests for a slot's component, in the order of their arrival, and finds those that take too long.
///
/// A request is sent at once if it can be; otherwise it is queued, and sent by ``pump(for:)``. A command waits, and all
/// behind it, while
///
/// - the component is being started, for the first time or after its worker was lost;
/// - the gate is closed, because the container is about to change the component or its records;
/// - it needs the committed state, and the component's own state is ahead of that;
/// - restored screens are not compared yet, and may have questions that come first;
/// - the component handles another call for long.
///
/// Questions about the committed state wait apart from the commands: ``QuietReads``.
///
/// A worker answers one call before it begins the next, so the call that it was handling when it ended is known. That
/// call is sent once more, because a worker may end for other reasons. If it ends a worker again, or was not answered
/// in time, it is blamed: it is refused for a while, and the component does not count as failing.
///
/// Its slot is an argument of what is called for each request: a reference back would be counted each time.
final class RequestDispatcher {
    private let queue = RequestQueue()
    private var isPumping = false
    /// Finds a call that takes long, and requests that have waited for too long.
    private var waits = WaitWatch()
    /// The calls that are refused because they ended the component's worker.
    private var poison = PoisonCalls()

    /// Whether no answer of the component is outstanding.
    var isIdle: Bool { queue.isIdle }

    var waitingCount: Int { queue.waitingCount }

    /// Whether a waiting request, which came before the gate was closed, will soon be sent.
    func isPassingGate(of slot: Slot) -> Bool {
        guard slot.isAttached, let first = queue.first, let container = slot.container,
            container.mayPassGate(of: slot.name, first)
        else { return false }
        return !first.isReady || canRun(first, for: slot)
    }

    /// The calls that are refused because they ended the worker, for people.
    func blamedCalls(in domain: Domain) -> [String] {
        poison.isEmpty ? [] : poison.words(at: domain.now())
    }

    /// The error for a call that ended the worker earlier; nil if it did not.
    func refusal(of request: Request, for slot: Slot) -> HostError? {
        // Most components never had such a call; then no identity is computed.
        guard !poison.isEmpty, let call = request.identity else { return nil }
        return poison.refusal(of: call, by: slot.name, at: slot.domain.now())
    }

    // MARK: Sending

    /// Sends a new request once the component can take it.
    func ask(_ request: Request, for slot: Slot) {
        request.number = slot.domain.nextTicket()
        enqueue(request, for: slot)
    }

    /// Asks a question that does not depend on records.
    func ask(
        _ query: ComponentQuery, for slot: Slot, passesGate: Bool = false, by user: String = "",
        isOfScreen: Bool = false, _ done: @escaping Answer<ComponentAnswer>
    ) {
        ask(
            Question(
                needsQuiet: false, passesGate: passesGate, by: user, isOfScreen: isOfScreen,
                make: { query }, done: done), for: slot)
    }

    private func enqueue(_ request: Request, for slot: Slot) {
        switch slot.state {
        case .attached: break
        case .failed(let reason): return request.fail(slot.failed(reason, retryAfter: 1))
        case .starting, .prepared:
            guard let stall = slot.start.watch.stall else { break }
            return request.fail(slot.stalled(stall))
        case .closed:
            // The slot was replaced while the caller was busy with something else.
            guard let successor = slot.container?.slot(slot.name), successor !== slot else {
                return request.fail(notFound(slot))
            }
            return successor.requests.enqueue(request, for: successor)
        }
        if request.passesGate { return send(request, for: slot) }
        if request.needsQuiet, !request.waitsOn,
            let error = slot.container?.undoFailure(of: slot.name)
        {
            return request.fail(error)
        }
        let isFirst =
            queue.isFree(for: request) || request.isQuietRead && mayOvertake(request, slot)
        if isFirst, canRun(request, for: slot) { return send(request, for: slot) }
        // A command that waits only for commits can soon be sent, and is not refused.
        let most = !request.isQuietRead && isOpen(slot) ? Int.max : slot.domain.limits.waitingCalls
        do throws(WaitPermits.Full) {
            try queue.add(request, of: most, newest: slot.domain.lastTicket)
        } catch {
            request.fail(slot.unavailable(error.reason, retryAfter: 0.5))
        }
    }

    /// Sends the requests that can be sent now, in slices if there are many.
    ///
    /// An answer that comes synchronously calls this too. It then returns at once, and the outer call continues, so
    /// that a long queue makes no deep stack.
    func pump(for slot: Slot) {
        guard !isPumping else { return }
        isPumping = true
        defer { isPumping = false }
        if let container = slot.container {
            queue.follow(
                oldest: container.oldestOperation(of: slot.name), newest: slot.domain.lastTicket)
        }
        let end = NIODeadline.now() + Slices.length
        while let next = nextToRun(for: slot) {
            send(next, for: slot)
            guard NIODeadline.now() >= end else { continue }
            return slot.domain.timers.afterPoll { [weak slot] in slot?.container?.pump() }
        }
    }

    /// Records that a request was sent; its answer is handled by ``arrived(_:_:for:)``.
    func sent(_ request: Request, for slot: Slot) {
        queue.sent(request)
        if slot.isolation == .process, waits.begin(at: request.number) { checkLater(for: slot) }
    }

    /// Handles an answer; false if the worker was lost instead.
    func arrived(_ request: Request, _ failure: PortFailure?, for slot: Slot) -> Bool {
        if case .died(let reason) = failure {
            if queue.isAwaited(request) { slot.restart(after: PortDeath(reason)) }
            return false
        }
        guard queue.answered(request) else { return false }
        switch failure {
        case nil:
            if slot.failures.recordRightAnswer(to: request.identity?.name ?? "") {
                slot.domain.timers.later { [weak slot] in slot?.container?.structureChanged() }
            }
        case .mistrusted(let reason):
            slot.failures.recordWrongAnswer(to: request.identity?.name ?? "", because: reason)
        default: slot.failures.recordReply()
        }
        if waits.isSlow { endSlow(of: slot) }
        return true
    }

    private func nextToRun(for slot: Slot) -> Request? {
        let holdsCommands = slot.container?.holdsCommands ?? false
        return queue.takeNext(
            overtaking: holdsCommands ? { self.mayOvertake($0, slot) } : nil,
            where: { self.canRun($0, for: slot) })
    }

    private func canRun(_ request: Request, for slot: Slot) -> Bool {
        guard slot.isAttached, request.isReady, !waits.isSlow, let container = slot.container
        else { return false }
        guard
            request.passesGate || !container.isGated(slot.name)
                || container.mayPassGate(of: slot.name, request)
        else { return false }
        guard !request.needsQuiet || container.isQuiet(slot.name) else { return false }
        if request.isCommand, container.holdsCommands { return false }
        return queue.isNext(request, overtakes: mayOvertake(request, slot))
    }

    /// Whether a read may overtake waiting requests.
    ///
    /// Commands are held until restored screens are compared, and these may have questions for the component.
    private func mayOvertake(_ request: Request, _ slot: Slot) -> Bool {
        request.isOfScreen && slot.container?.holdsCommands ?? false
    }

    /// Whether the component takes requests, at the latest when the present commits are done.
    private func isOpen(_ slot: Slot) -> Bool {
        slot.isAttached && !waits.isSlow && !(slot.container?.isGated(slot.name) ?? true)
    }

    private func send(_ request: Request, for slot: Slot) {
        request.permit = nil
        guard slot.container != nil else { return request.fail(notFound(slot)) }
        // A component that is being loaded has a port already, but not all of its records.
        guard slot.isAttached, let port = slot.port else {
            return request.fail(slot.unavailable("It is being started."))
        }
        request.send(to: port, of: slot)
    }

    private func notFound(_ slot: Slot) -> HostError {
        .componentNotFound(container: slot.containerName, component: slot.name)
    }
}

// MARK: Requests without an answer

extension RequestDispatcher {
    /// The work for requests that a lost component left unanswered, to be done once it counts as absent.
    struct Unanswered {
        /// The operations of all of them, which are over.
        let operations: [UInt64]
        /// Those that are not sent again, each with its error.
        var failures: [(request: Request, error: HostError)] = []
    }

    /// Puts the requests that a lost component left unanswered back to the front of the queue.
    ///
    /// Unanswered commands count as not decided: the component's state was lost with the worker.
    func requeueUnanswered(after death: PortDeath, of slot: Slot) -> Unanswered {
        var requests = queue.takeUnanswered()
        var unanswered = Unanswered(operations: requests.compactMap(\.operation))
        if death.wasAtRequest, let first = requests.first {
            first.losses += 1
            if first.losses > 1 || death.wasOverdue {
                requests.removeFirst()
                unanswered.failures.append((first, blame(first, of: slot, for: death.reason)))
            }
        }
        if death.wasOverdue {
            // They have waited for their whole time.
            let error = slot.failure(
                "The call waited behind one that was not answered in time, and was not made: try again.",
                details:
                    "The call waited behind one that was not answered in time, and was not made: "
                    + death.reason)
            unanswered.failures += requests.filter { !$0.waitsOn }.map { ($0, error) }
            requests.removeAll { !$0.waitsOn }
        }
        queue.requeue(requests)
        waits.endSlow()
        return unanswered
    }

    /// Remembers a call that ended the worker, and returns the error for its caller.
    private func blame(_ request: Request, of slot: Slot, for reason: String) -> HostError {
        let domain = slot.domain
        slot.failures.recordPoisoning()
        guard let call = request.identity else { return slot.lost(reason, retryAfter: 5) }
        let now = domain.now()
        let until = now.after(domain.limits.poisonTime)
        poison.add(call, until: until, because: reason)
        domain.logger.log(
            .callBlamed, slot.logFields(["call": "\(call.words)", "reason": "\(reason)"]))
        return poison.refusal(of: call, by: slot.name, at: now)
            ?? slot.lost(reason, retryAfter: 5)
    }

    /// Moves the requests here that wait for the component of another slot.
    func moveWaiting(from other: RequestDispatcher) { queue.moveWaiting(from: other.queue) }

    /// Refuses the waiting requests that need the component's committed state.
    func refuseQuiet(of slot: Slot, _ error: HostError) {
        let refused = queue.removeWaiting { $0.needsQuiet && !$0.waitsOn }
        for request in refused { request.fail(error) }
    }

    /// Refuses all requests, whether waiting or sent.
    func refuseAll(of slot: Slot, _ error: HostError) {
        let refused = queue.removeAll()
        let operations = refused.compactMap(\.operation)
        for request in refused { request.fail(error) }
        slot.container?.cancel(operations)
    }
}

// MARK: Calls that take long

extension RequestDispatcher {
    /// Starts a timer that finds a call that takes long, and refuses requests that waited behind it for the whole
    /// time of a call.
    private func checkLater(for slot: Slot) {
        slot.domain.timers.after(TimeAmount(slot.callTime / WaitWatch.checks)) { [weak slot] in
            if let slot { slot.requests.check(for: slot) }
        }
    }

    private func check(for slot: Slot) {
        switch slot.state {
        case .failed, .closed: return waits.end()
        case .starting, .prepared, .attached: break
        }
        guard !isIdle || waitingCount > 0 else { return waits.end() }
        let wasSlow = waits.isSlow
        let overdue = waits.check(at: queue.present?.number, newest: slot.domain.lastTicket)
        if let overdue, waits.isSlow || (slot.failures.count > 0 && !slot.isAttached) {
            let error = slot.failure(
                "It is busy: the call waited \(slot.callTime) for it and was not made. Try again.",
                details: waitReason(of: slot))
            let refused = queue.removeWaiting { $0.number <= overdue && !$0.waitsOn }
            for request in refused { request.fail(error) }
        }
        checkLater(for: slot)
        if wasSlow, !waits.isSlow { slot.container?.pump() }
    }

    private func waitReason(of slot: Slot) -> String {
        let limit = "\(slot.callTime) (\(slot.callSetting))"
        guard let call = queue.present?.identity else {
            let cause = slot.failures.restarts.map { ": \($0.cause)" } ?? "."
            return
                "The call waited \(limit) for the component, which is being "
                + "started again\(cause)"
        }
        return "The call waited \(limit) behind the call \(call.words), which "
            + "the plugin \(slot.definition.plugin) has not answered yet."
    }

    /// Records that the component has answered a call that took long.
    private func endSlow(of slot: Slot) {
        waits.endSlow()
        slot.domain.timers.later { [weak slot] in slot?.container?.pump() }
    }
}

extension Request {
    /// Whether it may wait without limit: requests of the container itself, and of screens, which have one request at
    /// a time.
    fileprivate var waitsOn: Bool { passesGate || isOfScreen }
}

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

    /// Adds a request, which gets one of its user's permits, unless it is a screen's; throws when none is left.
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

    /// Whether no request that comes first keeps a request from being sent, which may or may not overtake waiting
    /// commands.
    func isNext(_ request: Request, overtakes: Bool) -> Bool {
        guard request.isQuietRead else { return !reads.mustWait(request) }
        return overtakes || waiting.first.map { request.number < $0.number } ?? true
    }

    /// Takes the next request that can be sent: reads first, because the component is rarely quiet, and of these
    /// first one that may overtake earlier ones.
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

    /// Puts requests back to the front, to be sent again in order.
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
