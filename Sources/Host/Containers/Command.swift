import AtriumKit
import Index
import Store

/// A command on its way from the call to its reply.
///
/// Its stages, in order; a subclass overrides what differs for its kind of command:
///
/// 1. ``objection()`` is called right before the component is asked;
/// 2. the component decides;
/// 3. ``draft(of:)`` makes the rest of the entry that is committed with the decision, ``records(of:)`` its changes;
/// 4. the entry is committed or fails, or there is none: ``committed(_:)``, ``failed(_:)``, ``unchanged()``;
/// 5. ``end(_:)`` replies.
class Command: Request {
    let container: Container
    /// The component's slot; replaced if the component was made anew after the call.
    var slot: Slot
    /// The command for the component; complete once the command is ready.
    var command: ComponentCommand
    /// The actor, the time and the generated id.
    let context: CommandContext

    /// The decision of the component; nil until then, and if it refused.
    private var decision: Decision?
    /// Why the component refused; nil if it did not.
    private var refused: HostError?
    /// The entry to be committed; nil: there is none.
    private var entry: EntryDraft?
    /// The entry's full topic; empty until there is an entry.
    private(set) var topic = ""
    /// The domain's number when the component answered.
    private(set) var decidedAt: UInt64 = 0
    /// The actor, looked up when the entry was made; nil if they had been erased by then.
    ///
    /// If they are erased between that and the commit, the actor stays set: the erasure includes this notification.
    private(set) var actor: ActorID?
    /// Whether the command keeps a new person in the table of actors until it ends.
    private var holdsActor = false

    init(
        _ command: ComponentCommand, on slot: Slot, of container: Container,
        _ context: CommandContext, needsQuiet: Bool = false, passesGate: Bool = false
    ) {
        self.command = command
        self.slot = slot
        self.container = container
        self.context = context
        super.init(needsQuiet: needsQuiet, passesGate: passesGate)
    }

    // MARK: Overridden by each kind of command

    /// Why the command is refused now; nil if the component may be asked.
    func objection() -> HostError? { nil }

    /// The rest of the entry that is committed with a decision; nil if the decision changes nothing.
    func draft(of decision: Decision) -> EntryDraft? { nil }

    /// The decision's changes as the store keeps them.
    func records(of decision: Decision) -> [RecordChange] {
        decision.changes.map { RecordChange($0, container.name, slot.name) }
    }

    /// Called at the commit, before the component's events are delivered.
    func atCommit() {}

    /// Called with the outcome: the decision and its sequence, or the error.
    func end(_ result: Result<Decided, HostError>) {}

    // MARK: Objections

    /// The error if the container is closed for votes or for comments; nil if it is open.
    func closure(of kind: Kind) -> HostError? {
        guard container.definition.closed.contains(kind) else { return nil }
        return .closed(
            container: container.name,
            reason:
                "'\(container.name)' is closed for \(kind.rawValue): a moderator opens it again.")
    }

    /// The error if the delegate vetoes the command, or can't be asked; nil otherwise.
    func veto(_ ask: (ComponentReference) -> Refusal?) -> HostError? {
        container.delegates.refusal
            ?? container.domain.notes.crash.during(container.delegates.crashText(in: nil)) {
                slot.reference.flatMap(ask)
            }.map { HostError($0, container: container.name, component: slot.name) }
    }

    // MARK: Stages

    override var isCommand: Bool { true }
    override var identity: CallIdentity? { CallIdentity(command, by: context.actor) }

    /// Sends the command for a user, empty for the host itself, or fails it if commands are refused at present.
    func run(by user: String) {
        // Here, so that a refusal does not wait for a component that is being started.
        if let error = container.lane.refusal { return fail(error) }
        container.meters.count(.commands)
        queue(by: user)
    }

    /// Queues the command for the component, for a user, empty for the host itself.
    ///
    /// A person who is not stored yet is kept until the command ends.
    func queue(by user: String = "") {
        self.user = user
        holdsActor = container.domain.actors.retain(context.actor)
        slot.requests.ask(self, for: slot)
    }

    override func send(to port: any ComponentPort, of slot: Slot) {
        self.slot = slot
        if let error = absenceOfActor ?? objection() ?? container.lane.refusal
            ?? slot.requests.refusal(of: self, for: slot)
        {
            return fail(error)
        }
        operation = container.lane.begin(on: slot.name)
        slot.requests.sent(self, for: slot)
        port.decide(command, context) { [self] result in
            if slot.requests.arrived(self, result.failure, for: slot) { decided(result) }
        }
    }

    /// The error if the actor was erased meanwhile; nil otherwise.
    private var absenceOfActor: HostError? {
        guard context.actor != .nobody, container.domain.actors.present(context.actor) == nil
        else { return nil }
        return .refused(
            reason: "The user who made this call was erased.", retryAfter: nil)
    }

    /// Handles the component's answer.
    func decided(_ result: Result<Decision, PortFailure>) {
        guard let operation else { return }
        switch result {
        case .failure(.died(let reason)): return fail(slot.lost(reason))
        case .failure(.mistrusted(let reason)):
            container.meters.count(.refusals)
            refused = .mistrusted(reason, of: slot)
        case .failure(.refused(let refusal)):
            container.meters.count(.refusals)
            refused = HostError(refusal, container: container.name, component: slot.name)
        case .success(let decision):
            self.decision = decision
            decidedAt = container.domain.lastTicket
            if let draft = draft(of: decision) {
                entry = draft
                topic = draft.topic.name(in: container.name)
                actor = container.domain.actors.present(context.actor)
                return write(decision, draft, operation)
            }
        }
        container.lane.finish(operation, self)
    }

    private func write(_ decision: Decision, _ draft: EntryDraft, _ operation: UInt64) {
        var changes = records(of: decision)
        changes += draft.others
        container.lane.append(
            operation, changes: changes, purges: draft.purges, time: context.time, actor: actor,
            NotificationDraft(
                topic: topic, payload: draft.payload, restricted: draft.restricted),
            people: draft.people, self)
    }

    override func fail(_ error: HostError) { finish(.failure(error)) }

    private func finish(_ result: Result<Decided, HostError>) {
        end(result)
        if holdsActor { container.domain.actors.release(context.actor) }
    }
}

extension Command: EntryWaiter {
    func committed(_ commit: Commit) {
        guard let decision, let entry else { return }
        container.delivery.show(commit, of: self, decision, entry)
        finish(
            .success(Decided(decision: decision, sequence: commit.sequence, isCommitted: true)))
    }

    func unchanged() {
        if let decision {
            finish(
                .success(
                    Decided(
                        decision: decision, sequence: container.domain.commits.sequence,
                        isCommitted: false)))
        } else if let refused {
            finish(.failure(refused))
        }
    }

    func failed(_ error: HostError) { finish(.failure(error)) }
}

/// A final decision.
struct Decided {
    var decision: Decision
    /// The entry's sequence; the present one if nothing was committed.
    var sequence: Int64
    /// Whether an entry was committed.
    var isCommitted: Bool
}

/// The parts of an entry other than its component's own changes.
struct EntryDraft {
    var topic: EntryTopic
    /// The notification's payload, as a JSON object.
    var payload: [UInt8]
    /// The payload for moderators only, as a JSON object.
    var restricted: [UInt8]?
    /// The comment whose text the notification includes.
    var comment: RecordKey?
    /// Changes of other components' records.
    var others: [RecordChange] = []
    /// Records of other components to be erased in bulk.
    var purges: [Purge] = []
    /// Persons named in the changes, other than the actor.
    var people: [ActorID] = []
}

extension CommandContext {
    init(of caller: Caller, in domain: Domain) {
        let time = domain.now()
        self.init(
            actor: domain.intern(caller.actor), time: time, freshID: domain.freshID(at: time),
            isModerator: caller.isModerator, order: Int64(clamping: domain.nextTicket()))
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
