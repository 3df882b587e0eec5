import AtriumKit
import Index

// Putting and removing items.
extension Container {
    /// Adds or replaces items, all or none.
    ///
    /// Items that are unchanged keep their revision.
    ///
    /// - Parameters:
    ///   - drafts: at most 1,000 items and 1 MiB.
    ///   - component: the list; nil: the first.
    ///   - caller: on whose behalf.
    ///   - reply: the result; fails with `fieldInvalid`, `itemInvalid`, `revisionMismatch`, `readOnly` or
    ///     `limitExceeded`.
    public func put(
        _ drafts: [ItemDraft], in component: String?, by caller: Caller,
        _ reply: @escaping Answer<PutResult>
    ) {
        do throws(HostError) {
            let (slot, _) = try list(component)
            try check(drafts)
            let command = PutCommand(drafts, to: slot, of: self, by: caller, reply)
            guard drafts.count > BatchCheck.few else {
                if let problem = command.check.whole() { throw problem }
                return run(command, by: caller.user)
            }
            run(command, by: caller.user)
            check(command)
        } catch {
            reply(.failure(error))
        }
    }

    /// Checks a large batch in slices while it is queued, and makes it ready then.
    private func check(_ command: PutCommand) {
        domain.inSlices {
            command.check.step()
        } then: { [self] in
            // In another turn of the loop, because the decision takes about as long as the check.
            domain.afterPoll { [self] in
                command.isChecked = true
                pump()
            }
        }
    }

    /// Throws if a batch is too large.
    private func check(_ drafts: [ItemDraft]) throws(HostError) {
        let limits = domain.limits
        guard drafts.count <= limits.batchItems else {
            throw .limitExceeded(limit: "batchItems", value: limits.batchItems, retryAfter: nil)
        }
        guard drafts.reduce(0, { $0 + $1.item.writtenSize }) <= limits.batchBytes else {
            throw .limitExceeded(limit: "batchBytes", value: limits.batchBytes, retryAfter: nil)
        }
    }

    /// Removes items.
    ///
    /// Ballots and comments on them are kept but hidden, and shown again if an item with the same id is added.
    ///
    /// - Parameters:
    ///   - items: the items' ids; unknown ones are ignored.
    ///   - component: the list; nil: the first.
    ///   - purge: whether to erase ballots and comments too, including those of ids that don't exist any more.
    ///   - caller: on whose behalf.
    ///   - reply: the result; fails with `readOnly` or `limitExceeded`.
    public func remove(
        _ items: [String], in component: String?, purge: Bool, by caller: Caller,
        _ reply: @escaping Answer<RemoveResult>
    ) {
        do throws(HostError) {
            let (slot, _) = try list(component)
            guard items.count <= domain.limits.batchItems else {
                throw .limitExceeded(
                    limit: "batchItems", value: domain.limits.batchItems, retryAfter: nil)
            }
            // Ids are stored in NFC only; another form compares equal in Swift, but matches no record.
            let items = items.filter(ItemID.isNormal)
            guard purge else {
                return run(
                    RemoveCommand(items, from: slot, of: self, by: caller, reply),
                    by: caller.user)
            }
            ItemPurge(items, from: slot.name, of: self, by: caller, reply).run()
        } catch {
            reply(.failure(error))
        }
    }

    /// The context of a caller's command.
    func context(_ caller: Caller) -> CommandContext {
        let time = domain.now()
        return CommandContext(
            actor: domain.meet(caller.actor), time: time, freshID: domain.freshID(at: time),
            isModerator: caller.isModerator, order: Int64(clamping: domain.nextTicket()))
    }

    /// Sends a command, or fails it if commands are refused at present.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - user: whose call it is; empty: the host's own.
    func run(_ command: Command, by user: String) {
        // Here, so that a refusal does not wait for a component that is being started.
        if let error = refusal { return command.fail(error) }
        meters.count(.commands)
        command.queue(by: user)
    }
}

extension Item {
    /// Roughly the bytes that the item adds to an entry: its record, and its id in the notification.
    fileprivate var writtenSize: Int { roughSize + id.utf8.count + 24 }
}
