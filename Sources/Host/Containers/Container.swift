import AtriumKit
import DequeModule
import Index
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
/// 2. the slot sends it when the component can take it, after the delegate's `should…` was called;
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
    private(set) var delegates = Delegates()
    /// The delegates' access to the container.
    private(set) lazy var handle = DelegateHandle(self)
    let meters: ContainerMeters
    /// The present definition: what was applied, with what was attached, moved or hidden since.
    private(set) var definition: ContainerDefinition
    /// The fields in which times may be put without an offset.
    private(set) var localTimes = LocalTimes(fields: [])
    var presentDates = PresentDates()
    /// The fields whose time zone can't be read.
    private var zoneFailures: [(what: String, reason: String)] = []
    /// The definition as it was last applied, which the next one is compared with.
    private(set) var applied: ContainerDefinition?
    /// Components that were detached and left records.
    private(set) var remains: [String: Remains] = [:]
    /// The components, in order.
    private(set) var slots: [Slot] = []
    /// The containers that are parts of this one, in the order of the components.
    private(set) var parts: [ComponentDefinition] = []
    var lane: Lane<any EntryWaiter>
    /// The screens that are open on it; nil while the registry does not have the container.
    var screens: (any OpenScreens)?
    var loading = Loading()
    var wiring = Wiring()
    var gates = Gates()
    /// Contents components whose items are being put into a new list, by component.
    var fillings: [String: ListFilling] = [:]
    /// The number of restored screens that are not compared with what they showed yet.
    ///
    /// Commands wait for that, and are refused once the daemon is stopping.
    private(set) var awaitedScreens = 0
    /// The number of components that are forgetting records about purged items.
    private var erasures = 0

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
}

/// A component that was detached and whose records stay.
struct Remains: Equatable {
    /// Its kind: a component of another kind must not take its name and records.
    var kind: Kind?
    /// Whether a definition had the component, so that pruning erases it.
    var wasDefined: Bool
}

// MARK: Structure

extension Container {
    /// Sets the container's definition and components.
    ///
    /// - Parameters:
    ///   - live: the present definition.
    ///   - applied: the definition as it was last applied.
    ///   - remains: components that were detached and left records.
    ///   - slots: the slots of the definition's components, in its order.
    func stand(
        as live: ContainerDefinition, applied: ContainerDefinition?, remains: [String: Remains],
        _ slots: [Slot]
    ) {
        // Without new fields the lists stay, which know only the zones that could be read when they were made.
        if live.fields != definition.fields {
            localTimes = LocalTimes(fields: live.fields)
            zoneFailures = FieldZones.problems(of: live.fields).map {
                ("field \($0.field)", "has no time zone: \($0.reason)")
            }
        }
        definition = live
        parts = live.components.filter(\.isPart)
        self.applied = applied
        self.remains = remains
        self.slots = slots
        for slot in slots { live.component(slot.name).map(slot.take) }
    }
}

// MARK: Finding components

extension Container {
    func slot(_ name: String) -> Slot? { slots.first { $0.name == name } }

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
        if case .failed(let reason) = slot.state { throw slot.unavailable(reason, retryAfter: 5) }
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
        guard let row = source(of: id, among: slots)?.list?.item(id) else { return nil }
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

    var itemCount: Int { slots.reduce(0) { $0 + ($1.list?.count ?? 0) } }
}

// MARK: Waiting until components are quiet

extension Container {
    /// Makes commands wait for restored screens, until ``recogniseScreen()`` is called for each of them.
    ///
    /// An earlier change would make the screens differ from what they showed.
    func awaitScreens(_ count: Int) { awaitedScreens += count }

    /// Notes that one more restored screen was compared.
    func recogniseScreen() {
        awaitedScreens -= 1
        if awaitedScreens == 0 { pump() }
    }

    /// Makes a component forget records about purged items, and opens its gate then.
    func run(_ erasure: SubjectErasure) {
        erasures += 1
        erasure.run { [self] in
            erasures -= 1
            open([erasure.name])
        }
    }

    /// Whether everything that was accepted is finished.
    var isQuiet: Bool {
        lane.isEmpty && erasures == 0 && wiring.isShown && screens?.isIdle ?? true
            && slots.allSatisfy {
                $0.isIdle && !$0.reported.isWaiting && ($0.waitingCount == 0 || !$0.isAttached)
            }
    }

    /// Sends all requests that can be sent now.
    func pump() {
        for slot in slots { slot.pump() }
        passBarriers()
    }
}

// MARK: Status

extension Container {
    /// Updates what depends on the components, their order or their state.
    func structureChanged() {
        // The filling of a component's list does not end if the component is lost.
        if !fillings.isEmpty { fillings = fillings.filter(\.value.isWanted) }
        screens?.structureChanged()
    }

    var status: ContainerStatus {
        var failures = failures.map { "the \($0.what) \($0.reason)" }
        // It is unknown which containers the lost changes belonged to.
        if !domain.store.damages.isEmpty {
            failures.append(
                "the store was damaged, and changes may be lost: see the daemon's status")
        }
        if domain.pastDamage.concerns(name) {
            failures.append("past notifications of it are damaged: see the daemon's status")
        }
        return ContainerStatus(
            definition: definition,
            state: isLoading ? .loading : failures.isEmpty ? .ready : .degraded,
            reason: failures.isEmpty ? nil : failures.joined(separator: "; "), items: itemCount,
            components: definition.components.compactMap { component in
                component.isPart
                    ? status(ofPart: component) : slot(component.name)?.status(in: definition)
            })
    }

    /// The problems of the container, a sentence each.
    var problems: [String] {
        (delegates.failures + zoneFailures + partFailures).map {
            "The \($0.what) of \(name) \($0.reason)"
        }
            + componentFailures.map { "The component \(name)/\($0.name) \($0.reason)" }
    }

    private var failures: [(what: String, reason: String)] {
        delegates.failures + zoneFailures
            + componentFailures.map { ("component \($0.name)", $0.reason) }
            + partFailures
    }

    private var componentFailures: [(name: String, reason: String)] {
        slots.compactMap { slot in
            if case .failed(let reason) = slot.state { return (slot.name, "failed: \(reason)") }
            if let stall = slot.stall { return (slot.name, "does not start: \(stall)") }
            if let restarts = slot.restarts, let next = restarts.next, restarts.failures > 2 {
                return (
                    slot.name,
                    "ended \(restarts.failures) times in a row, and is started again at "
                        + "\(next.text): \(restarts.cause)"
                )
            }
            return (slot.recordProblem ?? slot.source.problem.map { "reports a problem: \($0)" })
                .map { (slot.name, $0) }
        }
    }
}

extension Slot {
    /// The problem with its records, and what to do; nil if there is none.
    var recordProblem: String? {
        damage.problem
            ?? own.contents?.unfit.problem(in: list, FieldChecker(fields: fields))
            ?? own.contents?.leftOut.problem
    }

    /// Its restarts, and the calls that are refused because of them; nil if there were none.
    var restarts: ComponentRestarts? {
        guard var restarts = progress.restarts else { return nil }
        if !poison.isEmpty { restarts.refuses = poison.words(at: domain.now()) }
        return restarts
    }

    func status(in container: ContainerDefinition) -> ComponentStatus {
        let (state, reason): (ComponentStatus.State, String?) =
            switch self.state {
            case .starting, .prepared: (.starting, stall)
            case .attached:
                (
                    awaitsItems ? .loading : .attached,
                    recordProblem.map { "It \($0)." } ?? source.problem
                )
            case .failed(let reason): (.failed, reason)
            case .closed: (.failed, "It was detached.")
            }
        return ComponentStatus(
            definition: definition, kind: kind,
            title: title, isolation: isolation, state: state,
            reason: reason, items: list?.count, isDamaged: damage.problem != nil,
            facts: facts(in: container), restarts: restarts)
    }
}
