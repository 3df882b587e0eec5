import AtriumKit
import Index
import LogMessages
import Logging
import NIOCore
import PluginLoader
import Store

/// A named, ordered set of components, and the home of their delegate.
///
/// Found with ``Registry/find(_:of:_:)``, and used on the event loop alone.
///
/// Each component is a black box in its slot; what concerns several of them is done here. A command goes through
/// these steps, all in the one domain:
///
/// 1. the call is checked against the committed state: fields, limits, whether the item exists;
/// 2. the slot's dispatcher sends it when the component can take it, after the delegate's `should…` was called;
/// 3. the component decides and its own state is ahead by the changes; the lane orders the entry, and the store makes
///    it durable;
/// 4. at the commit, in this order: the delegate's default wiring updates indexes and derived fields and its `did…`
///    is called; screens are updated; the notification is posted; the call is replied to. Nobody but the component
///    has seen the change before.
///
/// When an entry fails, the lane returns what to undo, and no command begins until that is done.
public final class Container {
    let name: String
    let domain: Domain
    let meters: ContainerMeters
    /// The delegates of the container and of its scopes.
    private(set) var delegates = Delegates()
    /// The delegates' access to the container.
    private(set) lazy var handle = DelegateHandle(self)

    /// The present definition: what was applied, with what was attached, moved or hidden since.
    private(set) var definition: ContainerDefinition
    /// The definition as it was last applied, which the next one is compared with.
    private(set) var applied: ContainerDefinition?
    /// Components that were detached and left records.
    private(set) var remains: [String: Remains] = [:]
    /// The components, in order.
    private(set) var slots: [Slot] = []
    /// The containers that are parts of this one, in the order of the components.
    private(set) var parts: [ComponentDefinition] = []
    /// The time zones of the fields.
    private(set) var zones = FieldZoneReading(of: [])

    /// The order of the entries on their way to the store.
    private(set) var lane: Lane<any EntryWaiter>
    /// The screens that are open on it; nil while the registry does not have the container.
    var screens: (any OpenScreens)?
    private(set) lazy var loading = Loading(of: self)
    private(set) lazy var gates = Gates(of: self)
    private(set) lazy var derived = DerivedFields(of: self)
    private(set) lazy var fillings = ListFillings(of: self)
    private(set) lazy var dates = PresentDates(of: self)

    init(name: String, domain: Domain) {
        self.name = name
        self.domain = domain
        meters = ContainerMeters(container: name, in: domain.metered)
        definition = ContainerDefinition(name: name)
        lane = Lane(epoch: domain.epochFloor)
    }

    /// The container's own delegate, which is called for decisions and events of components.
    var delegate: ContainerDelegate { delegates.own }

    /// Whether a component or delegate exists now that the previous process was making when it ended.
    func hasMade(_ component: InitNote.Component) -> Bool {
        slot(component.component)?.isAttached ?? delegates.has(component.component)
    }

    /// Replaces the delegates, and gives the new ones access to the container.
    func adopt(_ delegates: Delegates) {
        self.delegates = delegates
        for delegate in delegates.all { delegate.attach(to: handle) }
    }

    var checker: FieldChecker { FieldChecker(fields: definition.fields) }

    /// Sets the container's definition and components.
    ///
    /// - Parameters:
    ///   - live: the present definition.
    ///   - applied: the definition as it was last applied.
    ///   - remains: components that were detached and left records.
    ///   - slots: the slots of the definition's components, in its order.
    func setDefinition(
        _ live: ContainerDefinition, applied: ContainerDefinition?, remains: [String: Remains],
        _ slots: [Slot]
    ) {
        // Without new fields the lists stay, which know only the zones that could be read when they were made.
        if live.fields != definition.fields { zones = FieldZoneReading(of: live.fields) }
        definition = live
        parts = live.components.filter(\.isPart)
        self.applied = applied
        self.remains = remains
        self.slots = slots
        for slot in slots { live.component(slot.name).map(slot.setDefinition) }
    }

    /// Whether everything that was accepted is finished.
    var isQuiet: Bool {
        lane.isEmpty && gates.isQuiet && derived.areShown && screens?.isIdle ?? true
            && slots.allSatisfy {
                $0.requests.isIdle && !$0.reports.areWaiting
                    && ($0.requests.waitingCount == 0 || !$0.isAttached)
            }
    }

    /// Sends all requests that can be sent now.
    func pump() {
        for slot in slots where slot.requests.waitingCount > 0 { slot.requests.pump(for: slot) }
        gates.runReady()
    }

    // MARK: Entries

    /// Why no command may be sent to a component now; nil if one may.
    var refusal: HostError? {
        domain.refusal ?? gates.refusal
            ?? lane.failure.map { _ in
                .storeUnavailable(
                    reason:
                        "An entry of this container could not be written; it and the entries that depended "
                        + "on it are being rolled back.", retryAfter: 0.1)
            }
    }

    /// Begins an operation of a component.
    func begin(on slot: Slot) -> UInt64 {
        let operation = domain.nextTicket()
        lane.begin(operation, on: slot.name)
        return operation
    }

    /// Ends an operation that changes nothing, once the operations before it have ended.
    func finish(_ operation: UInt64, _ waiter: any EntryWaiter) {
        perform(lane.finish(operation, waiter))
    }

    /// Forgets operations whose component was lost.
    func cancel(_ operations: [UInt64]) {
        for operation in operations { perform(lane.cancel(operation)) }
        // Even without any: work may wait for the component to be idle.
        pump()
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
            domain.commits.append(entry, ticket: operation, of: self)
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
                    comments.removeTexts(of: purges, at: commit)
                }
                done(result)
            })
    }

    /// Performs the lane's steps, then sends the requests that can be sent now.
    private func perform(_ steps: some Collection<Lane<any EntryWaiter>.Step>) {
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
                EntryUndo(of: keys, in: self).run { [weak self] in
                    if let self { perform(lane.undone()) }
                }
            case .opened:
                domain.epochFloor = max(domain.epochFloor, lane.epoch)
            }
        }
        if !steps.isEmpty { pump() }
    }
}

extension Container: EntryOwner {
    func handle(_ outcome: Outcome) -> ArraySlice<Lane<any EntryWaiter>.Step> {
        let steps = lane.complete(outcome.ticket, outcome.result)
        perform(steps.prefix(1))
        return steps.dropFirst()
    }

    func perform(_ step: Lane<any EntryWaiter>.Step) { perform(CollectionOfOne(step)) }
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

/// A component that was detached and whose records stay.
struct Remains: Equatable {
    /// Its kind: a component of another kind must not take its name and records.
    var kind: Kind?
    /// Whether a definition had the component, so that pruning erases it.
    var wasDefined: Bool
}
