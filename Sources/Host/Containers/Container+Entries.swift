import AtriumKit
import Index
import JSONCodec
import LogMessages
import Logging
import NIOCore
import Store

// Commands after their decision: from the entry to the reply.
extension Container {
    /// Why no command may be sent to a component now; nil if one may.
    var refusal: HostError? {
        domain.refusal
            ?? (awaitedScreens > 0 && domain.isWaitingOver ? domain.stopping : nil)
            ?? lane.failure.map { _ in
                .storeUnavailable(
                    reason:
                        "An entry of this container could not be written, and what rested on it "
                        + "is being undone.", retryAfter: 0.1)
            }
    }

    /// Whether commands wait until restored screens are compared with what they showed; an earlier change would make
    /// them differ.
    var holdsCommands: Bool { awaitedScreens > 0 && !domain.isWaitingOver }

    /// Begins an operation of a component.
    func begin(on slot: Slot) -> UInt64 {
        let operation = domain.nextTicket()
        lane.begin(operation, on: slot.name)
        return operation
    }

    /// Forgets operations whose component was lost.
    func cancel(_ operations: [UInt64]) {
        for operation in operations { perform(lane.cancel(operation)) }
        // Even without any: work may wait for the component to be idle.
        pump()
    }

    /// Ends a command that changes nothing, once the operations before it have ended.
    func finish(_ operation: UInt64, _ command: Command) {
        perform(lane.finish(operation, command))
    }

    /// Writes the entry of a command that was decided.
    func write(
        _ decision: Decision, _ draft: EntryDraft, of command: Command, _ operation: UInt64
    ) {
        var changes = command.records(of: decision)
        changes += draft.others
        append(
            operation, changes: changes, purges: draft.purges, time: command.context.time,
            actor: command.actor,
            NotificationDraft(
                topic: draft.topic.name(in: name), payload: draft.payload,
                restricted: draft.restricted),
            people: draft.people, command)
    }

    /// Shows a committed entry in lists and screens, and posts its notification.
    func show(_ decision: Decision, _ draft: EntryDraft, of command: Command, _ commit: Commit) {
        let (slot, context) = (command.slot, command.context)
        let text = noteTexts(of: decision, from: slot, draft, commit)
        command.atCommit()
        noteBallots(
            of: decision, by: context.actor, from: slot,
            isAlone: draft.others.isEmpty && draft.purges.isEmpty)
        deliver(decision.events, from: slot, reportedAt: command.decidedAt)
        if decision.changes.count > Domain.much { domain.rest() }
        announce(
            draft.topic.name(in: name), commit, time: context.time, actor: command.actor,
            payload: draft.payload, restricted: draft.restricted, about: draft.comment,
            says: text)
    }

    /// Passes an operation's entry to the store, unless its epoch is over.
    func append(
        _ operation: UInt64, changes: [RecordChange], purges: [Purge] = [], time: Timestamp,
        actor: ActorID?,
        _ notification: NotificationDraft?, people: [ActorID] = [], _ waiter: any EntryWaiter
    ) {
        let actor = domain.actors.present(actor)
        // The records to undo if the entry fails. Only a component's own records are ahead of the commit.
        let keys = changes.compactMap { change in
            change.container == name && !change.component.isEmpty
                ? RecordKey(container: name, component: change.component, key: change.key) : nil
        }
        switch lane.write(operation, keys: keys, waiter) {
        case .refused(let steps): perform(steps)
        case .append(let epoch, let position):
            let entry = Entry(
                container: name, epoch: epoch, time: time.milliseconds, actor: actor?.number,
                changes: changes, purges: purges, notification: notification,
                actors: ([actor].compactMap(\.self) + people).flatMap {
                    domain.actors.unstored($0)
                }, expectedPosition: position)
            domain.append(entry, ticket: operation, of: self)
        }
    }

    /// Writes an entry that no component decided on, so that nothing is ahead of its commit.
    func append(
        changes: [RecordChange], purges: [Purge] = [], topic: String?, payload: [UInt8],
        by actor: ActorID?, at time: Timestamp, _ done: @escaping Answer<Commit>
    ) {
        if let error = refusal { return done(.failure(error)) }
        let operation = domain.nextTicket()
        lane.begin(operation, on: "")
        append(
            operation, changes: changes, purges: purges, time: time, actor: actor,
            topic.map { NotificationDraft(topic: $0, payload: payload) },
            OwnEntry { [self] result in
                if !purges.isEmpty, case .success(let commit) = result {
                    forgetTexts(of: purges, at: commit)
                }
                done(result)
            })
    }
}

extension Container: SlotOwner {
    func isQuiet(_ component: String) -> Bool { lane.isQuiet(component) }

    func oldestOperation(of component: String) -> UInt64? { lane.oldest(of: component) }
}

extension Container: EntryOwner {
    func take(_ outcome: Outcome) -> ArraySlice<Lane<any EntryWaiter>.Step> {
        let steps = lane.settle(outcome.ticket, outcome.result)
        perform(steps.prefix(1))
        return steps.dropFirst()
    }

    func perform(_ step: Lane<any EntryWaiter>.Step) { perform(CollectionOfOne(step)) }
}

// MARK: Ballots

extension Container {
    /// Updates screens that show their users' own ballots, after a commit.
    private func noteBallots(
        of decision: Decision, by actor: ActorID, from slot: Slot, isAlone: Bool
    ) {
        if case .ballot(_, _, let value) = decision.answer,
            case .tally(let subject, _) = decision.events.first(where: \.isTally)
        {
            screens?.noteBallot(value, of: actor, on: subject, in: slot)
        } else if slot.name == wiring.votes || !isAlone {
            // The ballots were restored, or purged with the items.
            screens?.forgetBallots()
        }
    }
}

extension ComponentEvent {
    fileprivate var isTally: Bool { if case .tally = self { true } else { false } }
}

// MARK: Steps of the lane

extension Container {
    /// Performs the lane's steps, then sends the requests that can be sent now.
    func perform(_ steps: some Collection<Lane<any EntryWaiter>.Step>) {
        for step in steps {
            switch step {
            case .committed(let waiter, let commit):
                meters.count(.entries)
                waiter.committed(commit)
            case .unchanged(let waiter):
                waiter.unchanged()
            case .failed(let waiter, let failure):
                meters.count(.failures)
                domain.epochFloor = max(domain.epochFloor, lane.epoch)
                waiter.failed(HostError(failure))
            case .undo(let keys):
                undo(keys)
            case .opened:
                domain.epochFloor = max(domain.epochFloor, lane.epoch)
            }
        }
        if !steps.isEmpty { pump() }
    }

    /// Restores what failed entries changed to what the store holds, in slices.
    private func undo(_ touched: Set<RecordKey>) {
        let keys = Array(touched)
        domain.read { store in
            try stride(from: 0, to: keys.count, by: Self.undoSlice).map { start in
                let keys = Array(keys[start..<min(start + Self.undoSlice, keys.count)])
                // A damaged record is shown to nobody; the others are undone nevertheless.
                var damaged: [RecordKey] = []
                let records = try store.records(keys, damaged: &damaged)
                return zip(keys, records).map { key, record in
                    let value = record.flatMap { try? Value(jsonBytes: $0.value) }
                    let change = value.map { Change.put(key: key.key, value: $0) }
                    return (component: key.component, change: change ?? .removed(key: key.key))
                }
            }
        } then: { [weak self] result in
            guard let self else { return }
            switch result {
            case .success(let slices):
                var slices = slices[...]
                domain.inSlices { [self] in
                    guard let changes = slices.popFirst() else { return false }
                    undo(changes)
                    return true
                } then: { [self] in
                    perform(lane.undone())
                }
            case .failure(let error):
                domain.logger.log(
                    .undoDelayed, ["container": "\(name)", "reason": "\(error)"])
                domain.after(.seconds(1)) { [weak self] in self?.undo(touched) }
            }
        }
    }

    /// The maximum number of records that are undone at a time.
    private static let undoSlice = 128

    private func undo(_ changes: [(component: String, change: Change)]) {
        for (component, changes) in Dictionary(grouping: changes, by: \.component) {
            // A component that is being started reads the store anyway.
            guard let slot = slot(component), slot.isAttached else { continue }
            slot.port?.undo(changes.map(\.change))
        }
    }
}

// MARK: Notifications

extension Container {
    /// Updates screens after a commit that the indexes already show, then posts its notification.
    func announce(
        _ topic: String?, _ commit: Commit, time: Timestamp, actor: ActorID?, payload: [UInt8],
        restricted: [UInt8]? = nil, about comment: RecordKey? = nil, says text: CommentText? = nil
    ) {
        if let actor { domain.actors.stored(actor) }
        screens?.committed()
        guard let topic else { return domain.bus.advance(to: commit.sequence) }
        domain.bus.post(
            BusNotification(
                sequence: commit.sequence, time: time, topic: topic, actor: actor,
                payload: payload, restricted: restricted, comment: comment), says: text)
    }

    /// Posts a transient notification under the container's name.
    func post(_ topic: String, _ payload: [UInt8]) {
        domain.bus.post(
            BusNotification(time: domain.now(), topic: "\(name).\(topic)", payload: payload))
    }
}

extension RecordChange {
    /// Converts a component's change for the store.
    init(_ change: Change, _ container: String, _ component: String) {
        self.init(
            container: container, component: component, key: change.key,
            value: change.value?.jsonBytes)
    }
}
