import AtriumKit
import Index
import JSONCodec
import Store

/// Items that are put.
final class PutCommand: Command {
    /// Those that expect a revision.
    private let conditions: [ItemDraft]
    private let drafts: [ItemDraft]
    /// The fields that they were checked against at the call.
    private let fields: [Field]
    private let reply: Answer<PutResult>

    init(
        _ drafts: [ItemDraft], to slot: Slot, of container: Container, by caller: Caller,
        _ reply: @escaping Answer<PutResult>
    ) {
        let conditions = drafts.filter { $0.ifRevision != nil }
        self.drafts = drafts
        self.conditions = conditions
        fields = container.definition.fields
        self.reply = reply
        super.init(
            .putItems(drafts.map(\.item)), on: slot, of: container, container.context(caller),
            needsQuiet: !conditions.isEmpty)
    }

    override func objection() -> HostError? {
        if container.definition.fields != fields {
            let checker = container.checker
            if let problem = drafts.lazy.compactMap({ checker.check($0.item) }).first {
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
            topic: "items.put",
            payload: Payload.object {
                $0.member("component", slot.name)
                $0.member("items", inserted + updated)
                $0.member("inserted", inserted.count)
                $0.member("updated", updated.count)
            })
    }

    override func end(_ result: Result<Decided, HostError>) { reply(result.map(PutResult.init)) }
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
            topic: "items.removed",
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
