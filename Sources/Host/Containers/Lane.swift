import AtriumKit
import DequeModule
import Store

/// The pipeline of one container's entries to the store.
///
/// It appends entries to the store, and performs what follows from their outcomes; what that is, ``LaneState`` decides.
final class Lane {
    private unowned let container: Container
    private let domain: Domain
    private let meters: ContainerMeters
    private var state: LaneState<any EntryWaiter>
    /// The steps of a handled outcome that are not performed yet.
    private var rest: ArraySlice<LaneState<any EntryWaiter>.Step> = []
    /// Why what failed entries changed could not be undone so far; nil: it could, or nothing is being undone.
    private(set) var undoFailure: HostError?

    init(of container: Container) {
        self.container = container
        domain = container.domain
        meters = container.meters
        state = LaneState(epoch: domain.epochFloor)
    }

    /// Whether commands may begin, as far as the lane is concerned.
    var isOpen: Bool { state.isOpen }

    /// Whether no operation is in progress and nothing is being undone.
    var isEmpty: Bool { state.isEmpty }

    /// How many operations are in progress.
    var count: Int { state.count }

    /// Whether a component's own state is the committed one.
    func isQuiet(_ component: String) -> Bool { state.isQuiet(component) }

    /// Why a component can't be asked in its committed state, although none of its operations is in progress; nil if it
    /// can.
    func undoFailure(of component: String) -> HostError? {
        undoFailure.flatMap { isQuiet(component) ? nil : $0 }
    }

    /// The oldest operation of a component that is in progress; nil: none is.
    func oldest(of component: String) -> UInt64? { state.oldest(of: component) }

    /// Why no command may be sent to a component now; nil if one may.
    var refusal: HostError? {
        domain.refusal ?? container.gates.refusal ?? undoFailure
            ?? state.failure.map { _ in
                .storeUnavailable(
                    reason:
                        "An entry of this container could not be written; it and the entries that depended "
                        + "on it are being rolled back.", retryAfter: 0.1)
            }
    }

    // MARK: Operations

    /// Begins an operation of a component.
    func begin(on component: String) -> UInt64 {
        let operation = domain.nextTicket()
        state.begin(operation, on: component)
        return operation
    }

    /// Ends an operation that changes nothing, once the operations before it have ended.
    func finish(_ operation: UInt64, _ waiter: any EntryWaiter) {
        perform(state.finish(operation, waiter))
    }

    /// Forgets operations whose component was lost.
    func cancel(_ operations: [UInt64]) {
        for operation in operations { perform(state.cancel(operation)) }
        // Even without any: work may wait for the component to be idle.
        container.pump()
    }

    /// Passes an operation's entry to the store, unless its epoch is over.
    func append(
        _ operation: UInt64, changes: [RecordChange], purges: [Purge] = [], time: Timestamp,
        actor: ActorID?,
        _ notification: NotificationDraft?, people: [ActorID] = [], _ waiter: any EntryWaiter
    ) {
        let actor = domain.actors.present(actor)
        let name = container.name
        // The records to undo if the entry fails. Only a component's own records are ahead of the commit.
        let keys = changes.compactMap { change in
            change.container == name && !change.component.isEmpty
                ? RecordKey(container: name, component: change.component, key: change.key) : nil
        }
        switch state.write(operation, keys: keys, waiter) {
        case .refused(let steps): perform(steps)
        case .append(let epoch, let position):
            domain.commits.append(
                Entry(
                    container: name, epoch: epoch, time: time.milliseconds, actor: actor?.number,
                    changes: changes, purges: purges, notification: notification,
                    actors: ([actor].compactMap(\.self) + people).flatMap {
                        domain.actors.unstored($0)
                    }, expectedPosition: position), ticket: operation, of: container)
        }
    }

    /// Writes an entry that no component decided on, so that nothing is ahead of its commit.
    func append(
        changes: [RecordChange], purges: [Purge] = [], topic: String?, payload: [UInt8],
        by actor: ActorID?, at time: Timestamp, _ done: @escaping Answer<Commit>
    ) {
        if let error = refusal { return done(.failure(error)) }
        append(
            begin(on: ""), changes: changes, purges: purges, time: time, actor: actor,
            topic.map { NotificationDraft(topic: $0, payload: payload) },
            OwnEntry { [container] result in
                if !purges.isEmpty, case .success(let commit) = result {
                    container.comments.removeTexts(of: purges, at: commit)
                }
                done(result)
            })
    }

    // MARK: Outcomes

    /// Performs the first step that follows from an entry's outcome; returns whether others follow.
    fileprivate func handle(_ outcome: Outcome) -> Bool {
        let steps = state.complete(outcome.ticket, outcome.result)
        if steps.count > 1 { rest += steps.dropFirst() }
        perform(steps.prefix(1))
        return !rest.isEmpty
    }

    /// Performs the next step; returns whether another one follows.
    fileprivate func performNext() -> Bool {
        perform(CollectionOfOne(rest.removeFirst()))
        return !rest.isEmpty
    }

    /// Performs steps, then sends the requests that can be sent now.
    private func perform(_ steps: some Collection<LaneState<any EntryWaiter>.Step>) {
        // A step may end the last command that refers to the container.
        let container = container
        for step in steps {
            switch step {
            case .committed(let waiter, let commit):
                meters.count(.entries)
                waiter.committed(commit)
            case .unchanged(let waiter):
                waiter.unchanged()
            case .failed(let waiter, let failure):
                meters.count(.failures)
                domain.epochFloor = max(domain.epochFloor, state.epoch)
                waiter.failed(HostError(failure))
            case .undo(let keys):
                EntryUndo(of: keys, in: container).run(
                    failed: { [weak container] in container?.lane.failUndo($0) },
                    { [weak container] in container?.lane.endUndo() })
            case .opened:
                domain.epochFloor = max(domain.epochFloor, state.epoch)
            }
        }
        if !steps.isEmpty { container.pump() }
    }

    /// Refuses what waits for components to be as the store has them: that may last.
    private func failUndo(_ error: HostError) {
        undoFailure = error
        container.refuseWaiting(error)
    }

    private func endUndo() {
        undoFailure = nil
        perform(state.undone())
    }
}

// The owner is the container, so that it exists until the outcomes of its entries are handled.
extension Container: EntryOwner {
    func handle(_ outcome: Outcome) -> Bool { lane.handle(outcome) }

    func performNext() -> Bool { lane.performNext() }
}

/// An entry that no component decided on.
final class OwnEntry: EntryWaiter {
    private let done: (Result<Commit, HostError>) -> Void

    init(_ done: @escaping (Result<Commit, HostError>) -> Void) { self.done = done }

    func committed(_ commit: Commit) { done(.success(commit)) }
    func unchanged() {}
    func failed(_ error: HostError) { done(.failure(error)) }
}

/// The state of a lane, as a pure state machine.
///
/// It keeps track of the operations in progress and returns what the caller must do; it calls nothing itself.
///
/// An *operation* is a command, from the call of a component until the outcome is final. It
/// belongs to one component, and goes through these stages:
///
/// 1. deciding: the component was called; its own state may be ahead from now on;
/// 2. writing: the entry was appended to the store, under the lane's epoch;
///    or idle: there is nothing to write, but the answer depends on earlier operations;
/// 3. final: committed, answered unchanged, or failed.
///
/// Its guarantees:
///
/// - An entry is appended with the position at which it was decided: after all of the lane's earlier entries.
///   If something else was written for the container, the store rejects the entry as stale, and the lane continues
///   from the position that the store reports.
/// - An idle operation becomes final once all earlier ones of its component are.
/// - When an entry fails, the epoch ends. Everything that was decided in the epoch fails too, written or not.
///   No operation begins until all of them are final and the touched records are undone.
/// - A component is *quiet* when none of its operations is in progress and none of its records waits to
///   be undone. Only then its own state is the committed one.
/// - The work for each operation is constant, however many are in progress and however many of them fail.
struct LaneState<Payload> {
    /// An operation's id, which is also the ticket of its entry.
    typealias ID = UInt64

    /// A step for the caller to take; steps are taken in order.
    enum Step {
        /// The entry was committed.
        case committed(Payload, Commit)
        /// There was nothing to write, and what the answer depends on was committed.
        case unchanged(Payload)
        /// Nothing was written; the failure is that of this entry or of an earlier one.
        case failed(Payload, EntryFailure)
        /// Restore these records to what the store holds, then call ``undone()``.
        case undo(Set<RecordKey>)
        /// The failed epoch is cleaned up: commands may begin.
        case opened
    }

    /// The step for a decision.
    enum Verdict {
        /// Append the entry under this epoch, at this position of the container; nil: the position is not known yet.
        case append(epoch: Int, position: Int64?)
        /// Don't write it: its epoch has ended.
        case refused([Step])
    }

    private enum Stage {
        case deciding
        case writing(Payload, keys: [RecordKey])
        case idle(Payload)
    }

    private struct Operation {
        var component: String
        var epoch: Int
        var stage: Stage
    }

    private struct Queue {
        let component: String
        var ids: Deque<ID>
    }

    private enum Condition {
        case open
        /// An entry failed; other operations of its epoch are still in progress.
        case draining(EntryFailure)
        /// No operation is in progress; records are being undone.
        case undoing(EntryFailure)
    }

    /// The present epoch; decisions from an earlier one are refused.
    private(set) var epoch: Int
    /// The position of the container's last settled entry; nil: none has settled since the lane began.
    private var position: Int64?
    /// How many entries were appended and are not settled yet.
    private var unsettled: Int64 = 0
    private var condition = Condition.open
    private var operations: [ID: Operation] = [:]
    /// Each component's operations, the oldest one in progress first; later ones may have ended before it.
    ///
    /// Looked through: few components are busy at a time.
    private var queues: [Queue] = []
    private var touched: Set<RecordKey> = []
    private var touchedComponents: Set<String> = []
    /// How often operations were examined to find those that end; tests check that it stays linear.
    private(set) var inspections = 0

    /// Makes an empty lane, with an epoch greater than any that failed before under the container's name.
    init(epoch: Int = 0) {
        self.epoch = epoch
    }

    /// Whether commands may begin.
    var isOpen: Bool { failure == nil }

    /// Why commands may not begin; nil when they may.
    var failure: EntryFailure? {
        switch condition {
        case .open: nil
        case .draining(let failure), .undoing(let failure): failure
        }
    }

    /// Whether no operation is in progress and nothing is being undone.
    var isEmpty: Bool { operations.isEmpty && isOpen }

    /// How many operations are in progress.
    var count: Int { operations.count }

    /// Whether the component is quiet: its own state is the committed one.
    func isQuiet(_ component: String) -> Bool {
        guard queue(of: component) == nil else { return false }
        return isOpen || !touchedComponents.contains(component)
    }

    /// Returns the oldest operation of a component that is in progress; nil: none is.
    func oldest(of component: String) -> ID? {
        queue(of: component).flatMap { queues[$0].ids.first }
    }

    /// Begins an operation, before its component is called.
    ///
    /// - Precondition: the lane is open, and the id is new.
    mutating func begin(_ id: ID, on component: String) {
        operations[id] = Operation(component: component, epoch: epoch, stage: .deciding)
        if let place = queue(of: component) {
            queues[place].ids.append(id)
        } else {
            queues.append(Queue(component: component, ids: [id]))
        }
    }

    /// Records that the component decided; its state is ahead by these records.
    mutating func write(_ id: ID, keys: [RecordKey], _ payload: Payload) -> Verdict {
        guard var operation = operations[id] else { return .refused([]) }
        if let failure, operation.epoch < epoch {
            touch(keys)
            return .refused(drop(id) + [.failed(payload, failure)] + drained())
        }
        operation.stage = .writing(payload, keys: keys)
        operations[id] = operation
        defer { unsettled += 1 }
        return .append(epoch: epoch, position: position.map { $0 + unsettled })
    }

    /// Records that the component refused, or had nothing to change.
    mutating func finish(_ id: ID, _ payload: Payload) -> [Step] {
        guard var operation = operations[id] else { return [] }
        if let failure, operation.epoch < epoch {
            return drop(id) + [.failed(payload, failure)] + drained()
        }
        operation.stage = .idle(payload)
        operations[id] = operation
        return advance(operation.component)
    }

    /// Drops an operation whose component was lost before it decided, as if it had never begun.
    mutating func cancel(_ id: ID) -> [Step] {
        guard operations[id] != nil else { return [] }
        return drop(id) + drained()
    }

    /// Records an entry's outcome from the store.
    mutating func complete(_ id: ID, _ result: Result<Commit, EntryFailure>) -> [Step] {
        unsettled -= 1
        switch result {
        case .success(let commit): position = commit.position
        case .failure(.stale(let actual)): position = actual
        case .failure: break
        }
        guard let operation = operations[id], case .writing(let payload, let keys) = operation.stage
        else { return [] }
        switch result {
        case .success(let commit):
            let others = drop(id) + drained()
            return others.isEmpty
                ? [.committed(payload, commit)] : [.committed(payload, commit)] + others
        case .failure(let failure):
            return fail(id, payload, keys, failure)
        }
    }

    /// Records that the touched records were restored to what the store holds.
    mutating func undone() -> [Step] {
        guard case .undoing = condition else { return [] }
        condition = .open
        touched.removeAll()
        touchedComponents.removeAll()
        return [.opened]
    }
}

// MARK: How operations end

extension LaneState {
    private mutating func fail(
        _ id: ID, _ payload: Payload, _ keys: [RecordKey], _ failure: EntryFailure
    ) -> [Step] {
        let cause = self.failure ?? failure
        touch(keys)
        guard isOpen else { return [.failed(payload, cause)] + drop(id) + drained() }
        // Only the entry itself is at fault when it is too large: what depended on it may be retried.
        let others: EntryFailure =
            if case .tooLarge = failure { .olderEpoch(epoch: epoch) } else { cause }
        epoch += 1
        condition = .draining(others)
        return [.failed(payload, cause)] + drop(id) + failIdle(others) + drained()
    }

    /// Fails the idle operations, whose answers depend on what was not written.
    ///
    /// This runs once for each epoch: after it, an operation that would become idle fails at once.
    private mutating func failIdle(_ cause: EntryFailure) -> [Step] {
        inspections += operations.count
        let idle = operations.filter { if case .idle = $0.value.stage { true } else { false } }
        var steps: [Step] = []
        for id in idle.keys.sorted() {
            guard case .idle(let payload) = operations.removeValue(forKey: id)?.stage else {
                continue
            }
            steps.append(.failed(payload, cause))
        }
        for component in queues.map(\.component) { steps += advance(component) }
        return steps
    }

    private mutating func touch(_ keys: [RecordKey]) {
        for key in keys {
            touched.insert(key)
            touchedComponents.insert(key.component)
        }
    }

    /// Removes an operation, and ends the idle ones that were waiting for it.
    private mutating func drop(_ id: ID) -> [Step] {
        guard let operation = operations.removeValue(forKey: id) else { return [] }
        return advance(operation.component)
    }

    /// Ends the idle operations at the front of a component's queue, and removes those that have ended already.
    private mutating func advance(_ component: String) -> [Step] {
        guard let place = queue(of: component) else { return [] }
        var steps: [Step] = []
        while let first = queues[place].ids.first {
            inspections += 1
            if let operation = operations[first] {
                guard isOpen, case .idle(let payload) = operation.stage else { return steps }
                operations[first] = nil
                steps.append(.unchanged(payload))
            }
            queues[place].ids.removeFirst()
        }
        queues.remove(at: place)
        return steps
    }

    private func queue(of component: String) -> Int? {
        queues.firstIndex { $0.component == component }
    }

    /// Begins to undo once the last operation of the failed epoch is final.
    private mutating func drained() -> [Step] {
        guard case .draining(let failure) = condition, operations.isEmpty else { return [] }
        condition = .undoing(failure)
        return touched.isEmpty ? undone() : [.undo(touched)]
    }
}
