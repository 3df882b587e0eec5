import AtriumKit
import Index
import JSONCodec
import Store

/// Items that are put.
final class PutCommand: Command {
    /// Those that expect a revision.
    private let conditions: [ItemDraft]
    /// The fields that they are checked against.
    private let fields: [Field]
    var check: BatchCheck
    /// Whether that was done; at once, where they are few.
    var isChecked: Bool
    private let reply: Answer<PutResult>

    init(
        _ drafts: [ItemDraft], to slot: Slot, of container: Container, by caller: Caller,
        _ reply: @escaping Answer<PutResult>
    ) {
        let conditions = drafts.filter { $0.ifRevision != nil }
        self.conditions = conditions
        fields = container.definition.fields
        check = BatchCheck(drafts, container.checker, container.localTimes)
        isChecked = drafts.count <= BatchCheck.few
        self.reply = reply
        super.init(
            .putItems([]), on: slot, of: container, container.context(caller),
            needsQuiet: !conditions.isEmpty)
    }

    override var isReady: Bool { isChecked }

    override func makeReady() {
        _ = check.whole()
        isChecked = true
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
        // By name: the component may have been made anew while this waited.
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

    override func end(_ result: Result<Decided, HostError>) { reply(result.map(PutResult.init)) }
}

/// Whether a batch of items may go to a component, looked over some at a time.
struct BatchCheck {
    /// So many items are looked over at once.
    static let few = 64

    /// The first thing wrong, of what was looked over.
    private(set) var problem: HostError?
    /// Those that were looked over: times without an offset were read in their fields' zones.
    private(set) var items: [Item] = []

    private let drafts: [ItemDraft]
    private let checker: FieldChecker
    private let localTimes: LocalTimes
    private var ids: Set<String> = []
    private var next = 0

    init(_ drafts: [ItemDraft], _ checker: FieldChecker, _ localTimes: LocalTimes) {
        self.drafts = drafts
        self.checker = checker
        self.localTimes = localTimes
    }

    /// Looks some more over; false: nothing is left, or something is wrong.
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

    /// What is wrong with all that is left.
    mutating func whole() -> HostError? {
        while step() {}
        return problem
    }

    private mutating func problem(with item: Item) -> HostError? {
        if let problem = checker.check(item) { return HostError(problem) }
        if item.parent == item.id {
            return .itemInvalid(item: item.id, reason: "It can't be its own parent.")
        }
        guard ids.insert(item.id).inserted else {
            return .itemInvalid(
                item: item.id, reason: "It stands twice in the batch; put it once.")
        }
        return nil
    }
}

/// Items that are removed, or purged with what was said about them.
final class RemoveCommand: Command {
    private let items: [String]
    /// What goes with them; nil: they are not purged.
    private let others: PurgedRecords?
    private let reply: Answer<RemoveResult>

    /// A removal; one that purges is part of work that holds the component's gate.
    init(
        _ items: [String], from slot: Slot, of container: Container, by caller: Caller,
        purging others: PurgedRecords? = nil, _ reply: @escaping Answer<RemoveResult>
    ) {
        self.items = items
        self.others = others
        self.reply = reply
        super.init(
            .removeItems(items), on: slot, of: container, container.context(caller),
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
    /// How an item is not as its draft expects it; nil when it is.
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
