import AtriumKit
import Index
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
/// When an entry fails, the lane has its changes undone, and no command begins until that is done.
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

    /// The screens that are open on it; nil while the registry does not have the container.
    var screens: (any OpenScreens)?
    /// The order of the entries on their way to the store.
    private(set) lazy var lane = Lane(of: self)
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
    }

    /// The container's own delegate, which is called for decisions and events of components.
    var delegate: ContainerDelegate { delegates.own }

    /// The delegate for what happens in a scope, or in the first one; fails while it can't be made.
    func delegate(in scope: String?) -> Result<ContainerDelegate, HostError> {
        delegates.delegate(in: scopes[scope]?.name)
    }

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

    /// Sets the present definition, what was last applied, what detached components left, and the slots, in the
    /// definition's order.
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

    /// Whether everything that was accepted is finished, or can't be because the store can't be read.
    var isQuiet: Bool {
        lane.undoFailure != nil
            || lane.isEmpty && gates.isQuiet && derived.areShown && screens?.isIdle ?? true
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

    /// Refuses the requests and the work that wait for components to be in their committed state.
    func refuseWaiting(_ error: HostError) {
        for slot in slots where lane.undoFailure(of: slot.name) != nil {
            slot.requests.refuseQuiet(of: slot, error)
        }
        gates.refuse(error)
        pump()
    }

    /// Posts a transient notification under the container's name.
    func post(_ topic: String, _ payload: [UInt8], restricted: [UInt8]?) {
        domain.bus.post(
            BusNotification(
                time: domain.now(), topic: "\(name).\(topic)", payload: payload,
                restricted: restricted))
    }
}

// MARK: - Finding components and their items

extension Container {
    func slot(_ name: String) -> Slot? { slots.first { $0.name == name } }

    /// Whether the container has a component or a part of this name.
    func hasComponent(_ name: String) -> Bool {
        slot(name) != nil || parts.contains { $0.name == name }
    }

    func first(_ kind: Kind) -> Slot? {
        // By index, which counts no reference of those that it is not.
        slots.indices.first { slots[$0].kind == kind }.map { slots[$0] }
    }

    /// The component that a call names, or the first of the kind that it needs.
    func slot(_ name: String?, _ kind: Kind) throws(HostError) -> Slot {
        if let name {
            guard let slot = slot(name), slot.kind == kind || slot.kind == nil else {
                throw .componentNotFound(container: self.name, component: name)
            }
            return slot
        }
        guard let slot = first(kind) else {
            throw .componentNotFound(container: self.name, component: kind.rawValue)
        }
        return slot
    }

    /// The list that a call names, or the first.
    func list(_ name: String?) throws(HostError) -> (slot: Slot, list: ContentIndex) {
        let slot = try slot(name, .contents)
        if case .failed(let reason) = slot.state { throw slot.failed(reason) }
        // A component that is being restarted still has its earlier list.
        try slot.checkShown()
        guard let list = slot.list else { throw slot.unavailable("It has no list.") }
        return (slot, list)
    }

    /// Whether any list has the item.
    func has(_ item: String) -> Bool {
        slots.indices.contains { slots[$0].own.lists(item) }
    }

    /// The item with an id, from the list that calls find it in; a component may ask for it.
    func item(_ id: String) -> Item? {
        guard let row = scopes.source(of: id, among: slots)?.list?.item(id) else { return nil }
        let fields = (try? Value(jsonBytes: row.fields))?.object
        return Item(id: row.id, fields: fields ?? [:], parent: row.parent)
    }

    /// Throws unless the item that a vote or a comment is about exists.
    ///
    /// Swift compares ids by canonical equivalence, and the store compares keys by their bytes. So an id that is not
    /// in NFC is treated as unknown; otherwise one ballot could have two records.
    func check(_ item: String?) throws(HostError) {
        guard let item, !has(item) || !ItemID.isNormal(item) else { return }
        // It may be in a list that is not known yet.
        for slot in slots where slot.kind == .contents { try slot.checkShown() }
        throw .itemNotFound(container: name, item: item)
    }

    /// The error that ``check(_:)`` throws; nil if it throws none.
    func absence(of item: String?) -> HostError? {
        do throws(HostError) {
            try check(item)
            return nil
        } catch {
            return error
        }
    }

    var itemCount: Int { slots.reduce(0) { $0 + ($1.list?.count ?? 0) } }
}

// MARK: - What slots need of their container

extension Container: SlotOwner {
    // MARK: When requests are sent

    var holdsCommands: Bool { gates.holdCommands }

    func isGated(_ component: String) -> Bool { gates.isClosed(component) }

    func mayPassGate(of component: String, _ request: Request) -> Bool {
        gates.mayPass(component, request)
    }

    func isQuiet(_ component: String) -> Bool { lane.isQuiet(component) }

    func undoFailure(of component: String) -> HostError? { lane.undoFailure(of: component) }

    func oldestOperation(of component: String) -> UInt64? { lane.oldest(of: component) }

    func cancel(_ operations: [UInt64]) { lane.cancel(operations) }

    func runBarriers() { gates.runReady() }

    // MARK: Changes of the component

    func startsChanged() { loading.endIfDone() }

    /// Updates what depends on the components, their order or their state.
    func structureChanged() {
        fillings.removeUnwanted()
        screens?.structureChanged()
    }

    func attach(_ slot: Slot, then done: @escaping () -> Void) {
        Attachment(of: slot, in: self, then: done).run()
    }

    func deliverUnasked(_ events: [ComponentEvent], from slot: Slot) {
        delivery.deliverUnasked(events, from: slot)
    }

    /// Posts that items of a list have changed other than by a call; the list has the new ones.
    func itemsChanged(in slot: Slot) {
        if let contents = slot.own.contents, !contents.isKnown {
            contents.markKnown()
            // Screens that were opened when no items were known look for theirs again.
            structureChanged()
        }
        slot.source.endAwaitingItems()
        post(
            "items.changed",
            Payload.object {
                $0.member("component", slot.name)
                $0.member("items", slot.list?.count ?? 0)
            }, restricted: nil)
    }

    // MARK: Lists

    func show(_ change: ContentChange, from slot: Slot) {
        delivery.callDelegate(change, from: slot)
        screens?.changed()
    }

    func isInUse(_ item: String) -> Bool { screens?.isInUse(item) ?? false }

    func itemsRemoved(_ items: Set<String>) { screens?.itemsRemoved(items) }

    func listsChanged() { screens?.changed() }

    func fillDerived(
        _ list: ContentIndex, while isWanted: @escaping () -> Bool, then done: @escaping () -> Void
    ) {
        derived.fill(list, while: isWanted, then: done)
    }

    func drop(_ list: ContentIndex) { derived.endFilling(list) }
}

/// A component that was detached and whose records stay.
struct Remains: Equatable {
    /// Its kind: a component of another kind must not take its name and records.
    var kind: Kind?
    /// Whether a definition had the component, so that pruning erases it.
    var wasDefined: Bool
}
