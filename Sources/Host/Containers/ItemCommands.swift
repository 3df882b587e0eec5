import AtriumKit
import Index
import JSONCodec
import Store

/// The command that puts items.
final class PutCommand: Command {
    /// The drafts that expect a revision.
    private let conditions: [ItemDraft]
    /// The fields that the items were checked against.
    private let fields: [Field]
    private var check: BatchCheck
    /// Whether the check is done; small batches are checked at once.
    private var isChecked: Bool
    /// The fields as the records have them, for the list.
    private var written = WrittenFields()
    private let reply: Answer<PutResult>

    init(
        _ drafts: [ItemDraft], to slot: Slot, of container: Container, by caller: Caller,
        _ reply: @escaping Answer<PutResult>
    ) {
        let conditions = drafts.filter { $0.ifRevision != nil }
        self.conditions = conditions
        fields = container.definition.fields
        check = BatchCheck(drafts, container.checker, container.zones.localTimes)
        isChecked = drafts.count <= BatchCheck.few
        self.reply = reply
        super.init(
            .putItems([]), on: slot, of: container,
            CommandContext(of: caller, in: container.domain),
            needsQuiet: !conditions.isEmpty)
    }

    override var isReady: Bool { isChecked }

    override func makeReady() {
        _ = check.whole()
        isChecked = true
    }

    /// Checks a small batch.
    ///
    /// - Returns: the first problem; nil: there is none, or the batch is large.
    func checkAtOnce() -> HostError? { isChecked ? check.whole() : nil }

    /// Checks a large batch in slices while it is queued, and makes it ready then.
    func checkInSlices() {
        guard !isChecked else { return }
        container.domain.inSlices { [self] in
            check.step()
        } then: { [self] in
            // In another turn of the loop, because the decision takes about as long as the check.
            container.domain.afterPoll { [self] in
                isChecked = true
                container.pump()
            }
        }
    }

    override func send(to port: any ComponentPort, of slot: Slot) {
        command = .putItems(check.items)
        super.send(to: port, of: slot)
    }

    override func objection() -> HostError? {
        if let problem = check.problem { return problem }
        if container.definition.fields != fields {
            let checker = container.checker
            if let problem = check.items.lazy.compactMap(checker.check).first {
                return HostError(problem)
            }
        }
        // Looked up by name: the component may have been made anew meanwhile.
        let list = container.slot(slot.name)?.list
        return conditions.lazy.compactMap { list?.mismatch($0) }.first
    }

    override func draft(of decision: Decision) -> EntryDraft? {
        guard case .items(let inserted, let updated, _) = decision.answer,
            !decision.changes.isEmpty
        else { return nil }
        return EntryDraft(
            topic: .itemsPut,
            payload: Payload.object {
                $0.member("component", slot.name)
                $0.member("items", inserted + updated)
                $0.member("inserted", inserted.count)
                $0.member("updated", updated.count)
            })
    }

    override func records(of decision: Decision) -> [RecordChange] {
        // A single item is soon written twice.
        guard decision.changes.count > 1 else { return super.records(of: decision) }
        written.reserve(decision.changes.count)
        return decision.changes.map { change in
            guard let value = written.write(change) else {
                return RecordChange(change, container.name, slot.name)
            }
            return RecordChange(
                container: container.name, component: slot.name, key: change.key, value: value)
        }
    }

    override func atCommit() {
        guard let list = slot.list else { return }
        swap(&list.written, &written)
    }

    override func end(_ result: Result<Decided, HostError>) { reply(result.map(PutResult.init)) }
}

/// The check of a batch of items, in steps.
struct BatchCheck {
    /// The number of items that are checked in one step.
    static let few = 64

    /// The first problem that was found.
    private(set) var problem: HostError?
    /// The checked items; times without an offset were completed with their fields' time zones.
    private(set) var items: [Item] = []

    private let drafts: [ItemDraft]
    private let checker: FieldChecker
    private let localTimes: LocalTimes
    private var ids = DistinctTexts()
    private var next = 0

    init(_ drafts: [ItemDraft], _ checker: FieldChecker, _ localTimes: LocalTimes) {
        self.drafts = drafts
        self.checker = checker
        self.localTimes = localTimes
        items.reserveCapacity(drafts.count)
    }

    /// Checks some more items; false if none are left or one has a problem.
    mutating func step() -> Bool {
        let end = min(next + Self.few, drafts.count)
        for draft in drafts[next..<end] where problem == nil {
            let item = localTimes.complete(draft.item)
            problem = problem(with: item)
            items.append(item)
        }
        next = end
        return problem == nil && next < drafts.count
    }

    /// Checks all remaining items, and returns the first problem.
    mutating func whole() -> HostError? {
        while step() {}
        return problem
    }

    private mutating func problem(with item: Item) -> HostError? {
        if let problem = checker.check(item) { return HostError(problem) }
        if item.parent == item.id {
            return .itemInvalid(item: item.id, reason: "It can't be its own parent.")
        }
        guard ids.insert(item.id) else {
            return .itemInvalid(
                item: item.id, reason: "It stands twice in the batch; put it once.")
        }
        return nil
    }
}

/// Texts of which none stands twice.
///
/// Those that come in their order, as the ids of most imports do, are compared alone with the one before.
private struct DistinctTexts {
    private var ordered: [String] = []
    /// All of them, once one came before another.
    private var all: Set<String>?

    /// Adds a text; false if it was there.
    mutating func insert(_ text: String) -> Bool {
        if all == nil {
            if ordered.last.map({ $0 < text }) ?? true {
                ordered.append(text)
                return true
            }
            all = Set(ordered)
            ordered = []
        }
        return all?.insert(text).inserted ?? true
    }
}

/// The command that removes items, or purges them with their votes and comments.
final class RemoveCommand: Command {
    private let items: [String]
    /// What is erased with the items; nil: they are not purged.
    private let others: PurgedRecords?
    private let reply: Answer<RemoveResult>

    /// Makes a removal; one that purges passes the gate of its component, which is held for it.
    init(
        _ items: [String], from slot: Slot, of container: Container, by caller: Caller,
        purging others: PurgedRecords? = nil, _ reply: @escaping Answer<RemoveResult>
    ) {
        self.items = items
        self.others = others
        self.reply = reply
        super.init(
            .removeItems(items), on: slot, of: container,
            CommandContext(of: caller, in: container.domain),
            passesGate: others != nil)
    }

    override func draft(of decision: Decision) -> EntryDraft? {
        guard case .removed(let removed) = decision.answer else { return nil }
        guard !decision.changes.isEmpty || !(others?.isEmpty ?? true) else { return nil }
        return EntryDraft(
            topic: .itemsRemoved,
            payload: Payload.object {
                $0.member("component", slot.name)
                $0.member("items", others == nil ? removed : items)
                $0.member("purged", others != nil)
            }, others: others?.changes ?? [], purges: others?.purges ?? [])
    }

    override func atCommit() { others?.atCommit() }

    override func end(_ result: Result<Decided, HostError>) {
        reply(
            result.map { decided in
                guard case .removed(let removed) = decided.decision.answer else {
                    return RemoveResult(removed: 0, sequence: decided.sequence)
                }
                return RemoveResult(removed: removed.count, sequence: decided.sequence)
            })
    }
}

extension ContentIndex {
    /// The error if an item differs from what its draft expects; nil otherwise.
    fileprivate func mismatch(_ draft: ItemDraft) -> HostError? {
        guard let expected = draft.ifRevision else { return nil }
        let id = draft.item.id
        let found = revision(of: id) ?? 0
        let fits = expected == 0 ? !contains(id) : contains(id) && found <= expected
        return fits ? nil : .revisionMismatch(item: id, expected: expected, found: found)
    }
}

extension PutResult {
    fileprivate init(_ decided: Decided) {
        var (inserted, updated, unchanged) = (0, 0, 0)
        if case .items(let new, let changed, let same) = decided.decision.answer {
            (inserted, updated, unchanged) = (new.count, changed.count, same)
        }
        self.init(
            inserted: inserted, updated: updated, unchanged: unchanged,
            sequence: decided.sequence)
    }
}
