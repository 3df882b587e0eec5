import AtriumKit
import JSONCodec
import Store

// Items put and removed.
extension Container {
    func put(
        _ component: String?, _ drafts: [ItemDraft], by caller: Caller,
        _ reply: @escaping Reply<PutResult>
    ) {
        do throws(HostError) {
            let (slot, _) = try list(component)
            try check(drafts)
            run(put(drafts, to: slot, by: caller, reply), on: slot)
        } catch {
            reply(.failure(error))
        }
    }

    private func put(
        _ drafts: [ItemDraft], to slot: Slot, by caller: Caller,
        _ reply: @escaping Answer<PutResult>
    ) -> Command {
        let conditions = drafts.filter { $0.ifRevision != nil }
        let fields = definition.fields
        return Command(
            command: .putItems(drafts.map(\.item)), context: context(caller),
            needsQuiet: !conditions.isEmpty,
            check: { [self] in
                // The fields may be others than when this was called.
                if definition.fields != fields {
                    let checker = checker
                    if let problem = drafts.lazy.compactMap({ checker.check($0.item) }).first {
                        return HostError(problem)
                    }
                }
                // By name: the component may have been made anew while this waited.
                let list = self.slot(slot.name)?.list
                return conditions.lazy.compactMap { list?.mismatch($0) }.first
            },
            entry: { decision in
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
            },
            done: { result in reply(result.map(PutResult.init)) })
    }

    /// Makes sure that a batch may go to a component.
    private func check(_ drafts: [ItemDraft]) throws(HostError) {
        let limits = domain.limits
        guard drafts.count <= limits.batchItems else {
            throw .limitExceeded(limit: "batchItems", value: limits.batchItems, retryAfter: nil)
        }
        guard drafts.reduce(0, { $0 + $1.item.roughSize }) <= limits.batchBytes else {
            throw .limitExceeded(limit: "batchBytes", value: limits.batchBytes, retryAfter: nil)
        }
        let checker = checker
        var ids: Set<String> = []
        for draft in drafts {
            let item = draft.item
            if let problem = checker.check(item) { throw HostError(problem) }
            if item.parent == item.id {
                throw .itemInvalid(item: item.id, reason: "It can't be its own parent.")
            }
            if !ids.insert(item.id).inserted {
                throw .itemInvalid(
                    item: item.id, reason: "It stands twice in the batch; put it once.")
            }
        }
    }

    func remove(
        _ component: String?, _ items: [String], purge: Bool, by caller: Caller,
        _ reply: @escaping Reply<RemoveResult>
    ) {
        do throws(HostError) {
            let (slot, _) = try list(component)
            guard items.count <= domain.limits.batchItems else {
                throw .limitExceeded(
                    limit: "batchItems", value: domain.limits.batchItems, retryAfter: nil)
            }
            // In another form than NFC none is there, though it compares as if it were.
            let items = items.filter(ItemID.isNormal)
            guard purge else {
                return run(remove(items, from: slot, by: caller, reply), on: slot)
            }
            self.purge(items, from: slot.name, by: caller, reply)
        } catch {
            reply(.failure(error))
        }
    }

    /// A removal, of other components' records too: those of `others`.
    func remove(
        _ items: [String], from slot: Slot, by caller: Caller, others: PurgedRecords? = nil,
        _ reply: @escaping Answer<RemoveResult>
    ) -> Command {
        Command(
            command: .removeItems(items), context: context(caller), passesGate: others != nil,
            entry: { decision in
                guard case .removed(let removed) = decision.answer else { return nil }
                guard !decision.changes.isEmpty || !(others?.isEmpty ?? true) else { return nil }
                return EntryDraft(
                    topic: "items.removed",
                    payload: Payload.object {
                        $0.member("component", slot.name)
                        $0.member("items", others == nil ? removed : items)
                        $0.member("purged", others != nil)
                    }, others: others?.changes ?? [], purges: others?.purges ?? [],
                    atCommit: others?.atCommit)
            },
            done: { result in
                reply(
                    result.map { decided in
                        guard case .removed(let removed) = decided.decision.answer else {
                            return RemoveResult(removed: 0, sequence: decided.sequence)
                        }
                        return RemoveResult(removed: removed.count, sequence: decided.sequence)
                    })
            })
    }

    /// What a command of this caller carries.
    func context(_ caller: Caller) -> CommandContext {
        CommandContext(
            actor: domain.meet(caller.actor), time: domain.now(),
            freshID: domain.freshID(), isModerator: caller.isModerator,
            order: Int64(clamping: domain.nextTicket()))
    }

    /// Sends a command, unless none may be sent at present.
    func run(_ command: Command, on slot: Slot) {
        // Told at once also to who would wait for a component.
        if let error = refusal { return command.done(.failure(error)) }
        meters.count(.commands)
        slot.run(command)
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
