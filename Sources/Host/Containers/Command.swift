import AtriumKit
import Store

/// A command on its way from the call to its reply.
///
/// These are its stages, in order; a subclass overrides what differs for its kind of command:
///
/// 1. ``objection()``: asked right before the component is;
/// 2. the component decides;
/// 3. ``draft(of:)``: what becomes durable with the decision;
/// 4. the entry is committed, fails, or there is none: ``committed(_:)``, ``failed(_:)``, ``unchanged()``;
/// 5. ``end(_:)``: the reply.
class Command: Request {
    let container: Container
    /// The component's place: another one than at the call if the component was made anew meanwhile.
    var slot: Slot
    /// What the component is asked, whole once it is ready.
    var command: ComponentCommand
    /// On whose behalf, when, and with which fresh id.
    let context: CommandContext

    /// The component's answer; nil before it.
    private var answer: Answered?
    /// What is to be committed; nil: nothing.
    private var entry: EntryDraft?
    /// The domain's number when the component answered.
    private(set) var decidedAt: UInt64 = 0
    /// Who acts, looked up when the entry was made; nil: they were erased before.
    ///
    /// An erasure between that and the commit leaves it: the notification is then erased with the person's others.
    private(set) var actor: ActorID?
    /// Whether it keeps a new person known until it ends.
    private var holdsActor = false

    private enum Answered {
        case decided(Decision)
        case refused(HostError)
    }

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

    /// Why it is refused now; nil: it may go to the component.
    func objection() -> HostError? { nil }

    /// What becomes durable with the decision's changes; nil: without these changes, nothing.
    func draft(of decision: Decision) -> EntryDraft? { nil }

    /// Called at the commit, before the component's events are delivered.
    func atCommit() {}

    /// Takes the outcome: the decision, and whether and as what it was committed.
    func end(_ result: Result<Decided, HostError>) {}

    // MARK: Stages

    override var isCommand: Bool { true }
    override var identity: CallIdentity? { CallIdentity(command, by: context.actor) }

    /// Asks the component as soon as it can be asked; a person who is not stored yet stays known until it ends.
    ///
    /// - Parameter user: whose call it is; empty: the host's own.
    func queue(by user: String = "") {
        self.user = user
        holdsActor = container.domain.actors.hold(context.actor)
        slot.ask(self)
    }

    override func send(to port: any ComponentPort, of slot: Slot) {
        self.slot = slot
        if let error = absenceOfActor ?? objection() ?? container.refusal
            ?? slot.poisonRefusal(of: self)
        {
            return fail(error)
        }
        operation = container.begin(on: slot)
        slot.sent(self)
        port.decide(command, context) { [self] result in
            if slot.arrived(self, result.failure) { decided(result) }
        }
    }

    /// Why nothing is done any more on behalf of a person; nil: they were not erased.
    private var absenceOfActor: HostError? {
        guard context.actor != .nobody, container.domain.actors.present(context.actor) == nil
        else { return nil }
        return .refused(
            reason: "The person on whose behalf this waited was erased.", retryAfter: nil)
    }

    /// The component answered.
    func decided(_ result: Result<Decision, PortFailure>) {
        guard let operation else { return }
        switch result {
        case .failure(.died(let reason)): return fail(slot.unavailable(reason))
        case .failure(.refused(let refusal)):
            container.meters.count(.refusals)
            answer = .refused(HostError(refusal, container: container.name, component: slot.name))
        case .success(let decision):
            answer = .decided(decision)
            decidedAt = container.domain.lastTicket
            if let draft = draft(of: decision) {
                entry = draft
                actor = container.domain.actors.present(context.actor)
                return container.write(decision, draft, of: self, operation)
            }
        }
        container.finish(operation, self)
    }

    override func fail(_ error: HostError) { finish(.failure(error)) }

    private func finish(_ result: Result<Decided, HostError>) {
        end(result)
        if holdsActor { container.domain.actors.release(context.actor) }
    }
}

extension Command: EntryWaiter {
    func committed(_ commit: Commit) {
        guard case .decided(let decision) = answer, let entry else { return }
        container.show(decision, entry, of: self, commit)
        finish(
            .success(Decided(decision: decision, sequence: commit.sequence, isCommitted: true)))
    }

    func unchanged() {
        switch answer {
        case .decided(let decision):
            finish(
                .success(
                    Decided(
                        decision: decision, sequence: container.domain.sequence,
                        isCommitted: false)))
        case .refused(let error): finish(.failure(error))
        case nil: break
        }
    }

    func failed(_ error: HostError) { finish(.failure(error)) }
}

/// A decision that is final.
struct Decided {
    var decision: Decision
    /// The entry's sequence; the current one when nothing was committed.
    var sequence: Int64
    /// Whether there was anything to commit.
    var isCommitted: Bool
}

/// What an entry holds beside its component's own changes.
struct EntryDraft {
    var topic: EntryTopic
    /// The payload, as a JSON object.
    var payload: [UInt8]
    /// What only moderators see, as a JSON object.
    var restricted: [UInt8]?
    /// The comment whose text the notification tells.
    var comment: RecordKey?
    /// Changes of other components' records.
    var others: [RecordChange] = []
    /// What of other components goes as a whole.
    var purges: [Purge] = []
    /// Persons that the changes name, beside the one who acts.
    var people: [ActorID] = []
}

/// An entry of a container's own, which no component decided on.
final class OwnEntry: EntryWaiter {
    private let done: (Result<Commit, HostError>) -> Void

    init(_ done: @escaping (Result<Commit, HostError>) -> Void) { self.done = done }

    func committed(_ commit: Commit) { done(.success(commit)) }
    func unchanged() {}
    func failed(_ error: HostError) { done(.failure(error)) }
}
