import AtriumKit
import DequeModule
import Index
import PluginLoader
import Store

/// A named, ordered set of components, and their delegate's home.
///
/// It is found by ``Registry/find(_:_:)``, and used on the event loop alone.
///
/// Each component is a black box in its slot; what they have to do with each other happens here.
/// A command goes through these hands, all on the one domain:
///
/// 1. the call is checked against what is committed (fields, limits, whether the item is there);
/// 2. the slot sends it when the component can take it; the delegate's `should…` is asked;
/// 3. the component decides and is ahead by its own changes; the lane takes the entry, and the store
///    makes it durable;
/// 4. at the commit, in this order: indexes and derived fields, through the delegate's default wiring,
///    and its `did…`; screens; bus; reply. Until then nobody but the component has seen anything.
///
/// When an entry fails, the lane says what to undo, and nothing begins until that is done.
public final class Container {
    let name: String
    let domain: Domain
    private(set) var delegates = Delegates()
    /// What delegates ask things of.
    private(set) lazy var handle = DelegateHandle(self)
    let meters: ContainerMeters
    /// The definition as it stands: what was applied, and what was attached, moved or hidden since.
    private(set) var definition: ContainerDefinition
    /// Its fields of times that are put without an offset.
    private(set) var localTimes = LocalTimes(fields: [])
    var presentDates = PresentDates()
    /// Its fields whose time zone can't be read.
    private var zoneFailures: [(what: String, reason: String)] = []
    /// The definition as it was last applied; what the next one is compared with.
    private(set) var applied: ContainerDefinition?
    /// Components that are not there any more and left records.
    private(set) var remains: [String: Remains] = [:]
    /// The components, in order.
    private(set) var slots: [Slot] = []
    /// The containers among the components, which screens show as parts, in order.
    private(set) var parts: [ComponentDefinition] = []
    var lane: Lane<any EntryWaiter>
    /// The screens that are open on it; nil: the registry does not have it yet, or not any more.
    var screens: (any OpenScreens)?
    var loading = Loading()
    var wiring = Wiring()
    var gates = Gates()
    /// All items of contents components on their way into new lists, by component.
    var fillings: [String: ListFilling] = [:]
    /// Screens of another process of which it is not known yet whether they show what they showed:
    /// commands wait for that, and are refused once the daemon is to stop.
    private(set) var awaitedScreens = 0
    /// How many components are forgetting ballots on purged items.
    private var erasures = 0

    init(name: String, domain: Domain) {
        self.name = name
        self.domain = domain
        meters = ContainerMeters(container: name, in: domain.metered)
        definition = ContainerDefinition(name: name)
        lane = Lane(epoch: domain.epochFloor)
    }

    /// Who is called for what components decide and report.
    var delegate: ContainerDelegate { delegates.own }

    /// Whether what a process before was making when it ended is there now.
    func hasMade(_ component: InitNote.Component) -> Bool {
        slot(component.component)?.isAttached ?? delegates.has(component.component)
    }

    /// Wires delegates; those of before are let go.
    func adopt(_ delegates: Delegates) {
        self.delegates = delegates
        for delegate in delegates.all { delegate.attach(to: handle) }
    }

    var checker: FieldChecker { FieldChecker(fields: definition.fields) }
}

/// A component that was taken away and whose records stay.
struct Remains: Equatable {
    /// What it did: records of another kind must not come under its name.
    var kind: Kind?
    /// Whether a definition had it, so that pruning erases it.
    var wasDefined: Bool
}

// MARK: Structure

extension Container {
    /// It stands otherwise from now on.
    ///
    /// - Parameters:
    ///   - live: the definition as it stands.
    ///   - applied: as it was last applied.
    ///   - remains: components that are not there any more and left records.
    ///   - slots: the components of the definition, in its order.
    func stand(
        as live: ContainerDefinition, applied: ContainerDefinition?, remains: [String: Remains],
        _ slots: [Slot]
    ) {
        // Else the lists are those of before, and know the zones that could be read then.
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

    func first(_ kind: Kind) -> Slot? { slots.first { $0.kind == kind } }

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
        // One that is started again still has the list of before.
        try slot.checkShown()
        guard let list = slot.list else { throw slot.unavailable("It has no list.") }
        return (slot, list)
    }

    /// Whether any list has the item.
    func has(_ item: String) -> Bool { slots.contains { $0.list?.contains(item) ?? false } }

    /// Makes sure that what a vote or a comment is about is there.
    ///
    /// Ids compare by canonical equivalence, and records by their bytes: an id in another form than
    /// NFC is nobody's, or one ballot would have two records.
    func check(_ item: String?) throws(HostError) {
        guard let item, !has(item) || !ItemID.isNormal(item) else { return }
        // It may be in a list of which nothing is known.
        for slot in slots where slot.kind == .contents { try slot.checkShown() }
        throw .itemNotFound(container: name, item: item)
    }

    var itemCount: Int { slots.reduce(0) { $0 + ($1.list?.count ?? 0) } }
}

// MARK: Quiet moments

extension Container {
    /// Commands wait until it is known what so many screens of another process show, which
    /// ``recogniseScreen()`` is called for, one by one: these would not know what is written before.
    func awaitScreens(_ count: Int) { awaitedScreens += count }

    /// It is known of one more screen of another process whether it shows what it showed.
    func recogniseScreen() {
        awaitedScreens -= 1
        if awaitedScreens == 0 { pump() }
    }

    /// Has a component forget what was said about purged items, and opens its gate then.
    func run(_ erasure: SubjectErasure) {
        erasures += 1
        erasure.run { [self] in
            erasures -= 1
            open([erasure.name])
        }
    }

    /// Whether nothing that was accepted is unfinished.
    var isQuiet: Bool {
        lane.isEmpty && erasures == 0 && wiring.isShown && screens?.isIdle ?? true
            && slots.allSatisfy {
                $0.isIdle && !$0.told.isWaiting && ($0.waitingCount == 0 || !$0.isAttached)
            }
    }

    /// Sends what can be sent now, everywhere.
    func pump() {
        for slot in slots { slot.pump() }
        passBarriers()
    }
}

// MARK: What the registry shows

extension Container {
    /// Components, their order or their state changed.
    func structureChanged() {
        // Of a component that was lost amid that, nobody goes on.
        if !fillings.isEmpty { fillings = fillings.filter(\.value.isWanted) }
        screens?.structureChanged()
    }

    var status: ContainerStatus {
        var failures = failures.map { "the \($0.what) \($0.reason)" }
        // Whose changes they were nobody knows.
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

    /// What is wrong, a sentence each.
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
    /// What is wrong with its records, and what to do; nil: nothing is.
    var recordProblem: String? {
        damage.problem
            ?? own.contents?.unfit.problem(in: list, FieldChecker(fields: fields))
            ?? own.contents?.leftOut.problem
    }

    /// How often it was started again, and which calls are refused for that; nil: it never was.
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
