import AtriumKit
import Index
import JSONCodec
import PluginLoader
import Store

/// The command that puts items.
final class PutCommand: Command {
    /// Checks the items of a large batch; nil: they are checked.
    private var check: (@Sendable () -> CheckedBatch)?
    /// The items; empty until they are checked.
    private var checked = CheckedBatch()
    /// The fields that the items are checked against.
    private let fields: [Field]
    /// Whether the call was answered, so that its items need no check any more.
    private var hasEnded = false
    private let reply: Answer<PutResult>

    /// Checks the items of a small batch; those of a large one are checked by ``checkOnThread()``.
    init(
        _ batch: ItemBatch, to slot: Slot, of container: Container, by caller: Caller,
        _ reply: @escaping Answer<PutResult>
    ) {
        let check = BatchCheck(
            batch: batch, checker: container.checker, localTimes: container.zones.localTimes,
            limits: container.domain.limits, writesRecords: slot.isolation == .daemon)
        if check.isLong { self.check = check.callAsFunction } else { checked = check() }
        fields = container.definition.fields
        self.reply = reply
        super.init(
            .putItems([]), on: slot, of: container,
            CommandContext(of: caller, in: container.domain),
            needsQuiet: batch.isConditional)
    }

    override var isReady: Bool { check == nil }

    /// The first problem that was found in the items; nil: there is none, or they are not checked yet.
    var problem: HostError? { checked.problem }

    /// Checks a large batch on a thread while it is queued, and makes it ready then.
    func checkOnThread() {
        guard !isReady, !hasEnded else { return }
        container.domain.threadWork.add(of: user) { [self] in
            // It may have been refused while it waited.
            hasEnded ? nil : check
        } then: { [self] result in
            // In another turn of the loop, because the decision takes long, too.
            container.domain.timers.afterPoll { [self] in
                if !hasEnded { (check, checked) = (nil, result) }
                container.pump()
            }
        }
    }

    override func send(to port: any ComponentPort, of slot: Slot) {
        command = .putItems(checked.items)
        super.send(to: port, of: slot)
    }

    override func objection() -> HostError? {
        if let problem { return problem }
        if container.definition.fields != fields {
            let checker = container.checker
            if let problem = checked.items.lazy.compactMap(checker.check).first {
                return HostError(problem)
            }
        }
        // Looked up by name: the component may have been made anew meanwhile.
        let list = container.slot(slot.name)?.list
        return checked.conditions.lazy.compactMap { list?.mismatch($0) }.first
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
        defer { checked.written.dropAhead() }
        // A single item is soon written twice.
        guard decision.changes.count > 1 else { return super.records(of: decision) }
        checked.written.reserve(decision.changes.count)
        return decision.changes.map { change in
            guard let value = checked.written.write(change) else {
                return RecordChange(change, container.name, slot.name)
            }
            return RecordChange(
                container: container.name, component: slot.name, key: change.key, value: value)
        }
    }

    override func atCommit() {
        guard let list = slot.list else { return }
        swap(&list.written, &checked.written)
    }

    override func end(_ result: Result<Decided, HostError>) {
        hasEnded = true
        reply(result.map(PutResult.init))
    }
}

/// The command that removes items, or purges them with their votes and comments.
final class RemoveCommand: Command {
    private let items: [String]
    /// The records to erase with the items; nil: they are not purged.
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
