import DequeModule
import Store

/// The pipeline of one container's entries to the store, as a pure state machine.
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
struct Lane<Payload> {
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

    /// Makes an empty lane.
    ///
    /// - Parameter epoch: an epoch greater than any that failed before under the container's name.
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

extension Lane {
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
