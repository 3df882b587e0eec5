import DequeModule
import Store

/// The way of one container's entries to the disk: a pure state machine.
///
/// It holds what is on its way and says what to do; it calls nobody.
///
/// An *operation* is a command, from the moment a component is asked until its outcome is final. It
/// belongs to one component, and goes through these stages:
///
/// 1. deciding: the component was asked; its own state may be ahead from now on;
/// 2. writing: the entry is with the store, under the lane's epoch;
///    or idle: nothing is to be written, but the answer rests on operations before it;
/// 3. final: committed, answered unchanged, or failed.
///
/// What it promises:
///
/// - An entry is given to the store with the position at which it was decided: behind all of the lane's entries before it.
///   Where something else was written for the container, the entry is refused as stale, and the lane goes on behind that.
/// - An idle operation becomes final once all earlier ones of its component are.
/// - When an entry fails, the epoch ends. Whatever was decided in it fails too, written or not.
///   Nothing new begins until all of them are final and the touched records are undone.
/// - A component is *quiet* when none of its operations is on its way and none of its records waits to
///   be undone: only then its own state is the committed one.
/// - Each operation is looked at a fixed number of times, however many are on their way and however
///   many of them fail.
struct Lane<Payload> {
    /// An operation's name: also the ticket of its entry.
    typealias ID = UInt64

    /// What to do, in order.
    enum Step {
        /// The entry is on disk.
        case committed(Payload, Commit)
        /// There was nothing to write, and what the answer rests on is on disk.
        case unchanged(Payload)
        /// Nothing was written; the failure that is to blame, of this entry or one before.
        case failed(Payload, EntryFailure)
        /// Make these records what the store holds, then call ``undone()``.
        case undo(Set<RecordKey>)
        /// Nothing of a failure is left: commands may begin.
        case opened
    }

    /// What became of a decision.
    enum Verdict {
        /// Append the entry under this epoch, at this position of the container; nil: it is not known yet.
        case append(epoch: Int, position: Int64?)
        /// Its epoch is over: not to be written.
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

    private enum Condition {
        case open
        /// An entry failed; others of its epoch are on their way.
        case draining(EntryFailure)
        /// None is on its way; records are being undone.
        case undoing(EntryFailure)
    }

    /// Entries decided in an earlier epoch are refused.
    private(set) var epoch: Int
    /// The position of the container's last entry that is settled; nil: none was since the lane began.
    private var position: Int64?
    /// How many entries the store has been given that it has not settled.
    private var unsettled: Int64 = 0
    private var condition = Condition.open
    private var operations: [ID: Operation] = [:]
    /// Each component's operations, the oldest first, which is on its way: behind it there may be
    /// some that ended before it did.
    private var queues: [String: Deque<ID>] = [:]
    private var touched: Set<RecordKey> = []
    private var touchedComponents: Set<String> = []
    /// How often an operation was looked at to find those that end.
    private(set) var looks = 0

    /// A lane without anything on its way.
    ///
    /// - Parameter epoch: greater than any that failed under the container's name before.
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

    /// Whether nothing is on its way at all.
    var isEmpty: Bool { operations.isEmpty && isOpen }

    /// How many operations are on their way.
    var count: Int { operations.count }

    /// Whether the component's own state is the committed one.
    func isQuiet(_ component: String) -> Bool {
        guard queues[component] == nil else { return false }
        return isOpen || !touchedComponents.contains(component)
    }

    /// The operation of a component that has been on its way the longest; nil: none is.
    func oldest(of component: String) -> ID? { queues[component]?.first }

    /// Begins an operation: its component is about to be asked.
    ///
    /// - Precondition: the lane is open, and the id is new.
    mutating func begin(_ id: ID, on component: String) {
        operations[id] = Operation(component: component, epoch: epoch, stage: .deciding)
        queues[component, default: []].append(id)
    }

    /// The component decided, and its state is ahead by these records.
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

    /// The component refused, or had nothing to change.
    mutating func finish(_ id: ID, _ payload: Payload) -> [Step] {
        guard var operation = operations[id] else { return [] }
        if let failure, operation.epoch < epoch {
            return drop(id) + [.failed(payload, failure)] + drained()
        }
        operation.stage = .idle(payload)
        operations[id] = operation
        return advance(operation.component)
    }

    /// The component was lost before it decided: as if the operation had never begun.
    mutating func cancel(_ id: ID) -> [Step] {
        guard operations[id] != nil else { return [] }
        return drop(id) + drained()
    }

    /// The store says what became of an entry.
    mutating func settle(_ id: ID, _ result: Result<Commit, EntryFailure>) -> [Step] {
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

    /// The touched records are what the store holds.
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
        // An entry that is too large is nobody's fault but its own: what rested on it may be tried again.
        let others: EntryFailure =
            if case .tooLarge = failure { .olderEpoch(epoch: epoch) } else { cause }
        epoch += 1
        condition = .draining(others)
        return [.failed(payload, cause)] + drop(id) + failIdle(others) + drained()
    }

    /// Answers that rest on what did not happen.
    ///
    /// Once an epoch: from its end on an operation that would become idle fails at once.
    private mutating func failIdle(_ cause: EntryFailure) -> [Step] {
        looks += operations.count
        let idle = operations.filter { if case .idle = $0.value.stage { true } else { false } }
        var steps: [Step] = []
        for id in idle.keys.sorted() {
            guard case .idle(let payload) = operations.removeValue(forKey: id)?.stage else {
                continue
            }
            steps.append(.failed(payload, cause))
        }
        for component in Array(queues.keys) { steps += advance(component) }
        return steps
    }

    private mutating func touch(_ keys: [RecordKey]) {
        for key in keys {
            touched.insert(key)
            touchedComponents.insert(key.component)
        }
    }

    /// Takes an operation out, and ends the idle ones that were waiting for it.
    private mutating func drop(_ id: ID) -> [Step] {
        guard let operation = operations.removeValue(forKey: id) else { return [] }
        return advance(operation.component)
    }

    /// Ends the idle operations at the front of a component's queue, and passes over what ended
    /// before it came to the front.
    private mutating func advance(_ component: String) -> [Step] {
        guard let place = queues.index(forKey: component) else { return [] }
        var steps: [Step] = []
        while let first = queues.values[place].first {
            looks += 1
            if let operation = operations[first] {
                guard isOpen, case .idle(let payload) = operation.stage else { return steps }
                operations[first] = nil
                steps.append(.unchanged(payload))
            }
            queues.values[place].removeFirst()
        }
        queues.remove(at: place)
        return steps
    }

    /// Begins to undo, once the last operation of the failed epoch is final.
    private mutating func drained() -> [Step] {
        guard case .draining(let failure) = condition, operations.isEmpty else { return [] }
        condition = .undoing(failure)
        return touched.isEmpty ? undone() : [.undo(touched)]
    }
}
