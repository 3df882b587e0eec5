import AtriumKit
import Index

// Items put and removed.
extension Container {
    /// Adds and replaces items: all of them or none.
    ///
    /// Those that are there just so stay untouched.
    ///
    /// - Parameters:
    ///   - drafts: at most 1,000 and 1 MiB.
    ///   - component: which list; nil: the first.
    ///   - caller: on whose behalf.
    ///   - reply: fails with `fieldInvalid`, `itemInvalid`, `revisionMismatch`, `readOnly` or
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

    /// Looks a large batch over in slices, while it stands in the queue, and lets it go then.
    private func check(_ command: PutCommand) {
        domain.inSlices {
            command.check.step()
        } then: { [self] in
            // To decide on it is as much work again.
            domain.afterPoll { [self] in
                command.isChecked = true
                pump()
            }
        }
    }

    /// Makes sure that a batch is none too large.
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
    /// Ballots and comments on them stay, hidden, and return with the id.
    ///
    /// - Parameters:
    ///   - items: ids; those that are not there are passed over.
    ///   - component: which list; nil: the first.
    ///   - purge: erases the ballots and comments too, also of ids that are not there any more.
    ///   - caller: on whose behalf.
    ///   - reply: fails with `readOnly` or `limitExceeded`.
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
            // In another form than NFC none is there, though it compares as if it were.
            let items = items.filter(ItemID.isNormal)
            guard purge else {
                return run(
                    RemoveCommand(items, from: slot, of: self, by: caller, reply),
                    by: caller.user)
            }
            self.purge(items, from: slot.name, by: caller, reply)
        } catch {
            reply(.failure(error))
        }
    }

    /// What a command of this caller carries.
    func context(_ caller: Caller) -> CommandContext {
        CommandContext(
            actor: domain.meet(caller.actor), time: domain.now(),
            freshID: domain.freshID(), isModerator: caller.isModerator,
            order: Int64(clamping: domain.nextTicket()))
    }

    /// Sends a command, unless none may be sent at present.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - user: whose call it is; empty: the host's own.
    func run(_ command: Command, by user: String) {
        // A refusal does not wait for a component that is being started.
        if let error = refusal { return command.fail(error) }
        meters.count(.commands)
        command.queue(by: user)
    }
}

extension Item {
    /// Roughly what it adds to an entry: its record, and its id in the notification.
    fileprivate var writtenSize: Int { roughSize + id.utf8.count + 24 }
}
