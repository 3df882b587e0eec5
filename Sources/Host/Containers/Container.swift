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
    let delegate: ContainerDelegate
    /// What delegates ask things of.
    private(set) lazy var handle = DelegateHandle(self)
    /// Each scope's own, by its name.
    var scopeDelegates: [String: ContainerDelegate] = [:]
    let meters: ContainerMeters
    /// The definition as it stands: what was applied, and what was attached, moved or hidden since.
    var definition: ContainerDefinition
    /// The definition as it was last applied; what the next one is compared with.
    var applied: ContainerDefinition?
    /// Components that are not there any more and left records.
    var remains: [String: Remains] = [:]
    /// The components, in order.
    var slots: [Slot] = []
    var lane: Lane<any EntryWaiter>
    /// The screens that are open on it; nil: the registry does not have it yet, or not any more.
    var screens: (any OpenScreens)?
    /// How many components are forgetting ballots on purged items.
    var erasures = 0
    /// Screens of another process of which it is not known yet whether they show what they showed:
    /// commands wait for that, and are refused once the daemon is to stop.
    var awaitedScreens = 0 {
        didSet { if awaitedScreens == 0 { pump() } }
    }
    /// Whether it is as the store holds it, and calls wait for its components' first start.
    var isLoading = false
    var waitingForLoad: [() -> Void] = []
    /// Lists that are being filled, and follow the derived fields already.
    var filling: [ObjectIdentifier: ContentIndex] = [:]
    /// The components whose tallies and counts are in the lists now.
    var wired = Wiring()
    /// How many changes of the wiring the lists don't show in full yet.
    var rewirings = 0
    var waitingForWiring: [() -> Void] = []

    private var barriers: [Barrier] = []
    /// How many works hold, or wait to hold, each component's gate.
    private var gates: [String: Int] = [:]
    /// The components whose gates are held by work that goes on.
    private var held: Set<String> = []

    init(name: String, domain: Domain) {
        self.name = name
        self.domain = domain
        delegate = domain.makeDelegate(name, nil)
        meters = ContainerMeters(container: name, in: domain.metered)
        definition = ContainerDefinition(name: name)
        lane = Lane(epoch: domain.epochFloor)
        delegate.attach(to: handle)
    }

    var checker: FieldChecker { FieldChecker(fields: definition.fields) }
}

/// Which components the lists' derived fields come from.
struct Wiring: Equatable {
    var votes: String?
    var comments: String?
}

/// A component that was taken away and whose records stay.
struct Remains: Equatable {
    /// What it did: records of another kind must not come under its name.
    var kind: Kind?
    /// Whether a definition had it, so that pruning erases it.
    var wasDefined: Bool
}

/// Work that waits until components are quiet, their gates closed.
private struct Barrier {
    var components: [String]
    /// Whether the container's own entries must be settled too.
    var needsEmptyLane: Bool
    var body: () -> Void
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
    /// Whether requests wait, although the component could take them.
    func isGated(_ component: String) -> Bool { gates[component] != nil }

    /// Closes the gates of components, and goes on once they are quiet.
    ///
    /// That is when none of their operations is on its way and nobody else holds any of the gates.
    /// Then ``open(_:)`` must be called with the same names.
    ///
    /// - Parameters:
    ///   - components: their names.
    ///   - needsEmptyLane: whether the container's own entries must be settled too.
    ///   - body: what to do then.
    func gate(
        _ components: [String], needsEmptyLane: Bool = false, then body: @escaping () -> Void
    ) {
        for component in components { gates[component, default: 0] += 1 }
        barriers.append(
            Barrier(components: components, needsEmptyLane: needsEmptyLane, body: body))
        passBarriers()
    }

    /// Opens the gates of components again, as far as nobody else waits for them.
    func open(_ components: [String]) {
        for component in components {
            gates[component] = gates[component].flatMap { $0 > 1 ? $0 - 1 : nil }
        }
        held.subtract(components)
        pump()
    }

    /// Lets those go on who wait for components that are quiet by now.
    func passBarriers() {
        guard !barriers.isEmpty, lane.isOpen else { return }
        while let index = barriers.firstIndex(where: canPass) {
            let barrier = barriers.remove(at: index)
            held.formUnion(barrier.components)
            barrier.body()
        }
    }

    private func canPass(_ barrier: Barrier) -> Bool {
        guard lane.isOpen, held.isDisjoint(with: barrier.components) else { return false }
        guard !barrier.needsEmptyLane || lane.isEmpty else { return false }
        return barrier.components.allSatisfy { lane.isQuiet($0) && slot($0)?.isIdle ?? true }
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
    func structureChanged() { screens?.structureChanged() }

    var status: ContainerStatus {
        var failures = failures.map { "the component \($0.name) \($0.reason)" }
        // Whose changes they were nobody knows.
        if !domain.store.damages.isEmpty {
            failures.append(
                "the store was damaged, and changes may be lost: see the daemon's status")
        }
        return ContainerStatus(
            definition: definition,
            state: isLoading ? .loading : failures.isEmpty ? .ready : .degraded,
            reason: failures.isEmpty ? nil : failures.joined(separator: "; "), items: itemCount,
            components: slots.map(\.status))
    }

    /// What is wrong, a sentence each.
    var problems: [String] {
        failures.map { "The component \(name)/\($0.name) \($0.reason)" }
    }

    private var failures: [(name: String, reason: String)] {
        slots.compactMap { slot in
            if case .failed(let reason) = slot.state { return (slot.name, "failed: \(reason)") }
            if let stall = slot.stall { return (slot.name, "does not start: \(stall)") }
            return slot.recordProblem.map { (slot.name, $0) }
        }
    }
}

extension Slot {
    /// What is wrong with its records, and what to do; nil: nothing is.
    var recordProblem: String? {
        damage.problem
            ?? own.contents?.unfit.problem(in: list, FieldChecker(fields: fields))
    }

    var status: ComponentStatus {
        let (state, reason): (ComponentStatus.State, String?) =
            switch self.state {
            case .starting, .prepared: (.starting, stall)
            case .attached: (.attached, recordProblem.map { "It \($0)." })
            case .failed(let reason): (.failed, reason)
            case .closed: (.failed, "It was detached.")
            }
        return ComponentStatus(
            definition: definition, kind: kind,
            title: definition.title ?? plugin?.title ?? name, isolation: isolation, state: state,
            reason: reason, items: list?.count)
    }
}
