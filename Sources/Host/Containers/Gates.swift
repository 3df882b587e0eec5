/// The gates that keep a container's requests from being sent although their components could take them.
///
/// A component's gate is closed while work needs the component for itself. Works that need the same component run one
/// after another; each waits until its components are quiet. Commands wait for restored screens, too, until these are
/// compared with what they showed: an earlier change would make them differ.
final class Gates {
    /// Work that waits until components are quiet, with their gates closed.
    private struct Barrier {
        var components: [String]
        /// Whether the container's own entries must be settled too.
        var needsEmptyLane: Bool
        /// The last number that was given before it: requests up to this one come before it.
        var last: UInt64
        var body: () -> Void
        /// Called in place of the body if the components can't become quiet for now; nil: it goes on waiting.
        var refuse: ((HostError) -> Void)?
    }

    private unowned let container: Container
    private var barriers: [Barrier] = []
    /// For each component the number of works that hold its gate, or wait to.
    private var closings: [String: Int] = [:]
    /// The components whose gates are held by running work.
    private var held: Set<String> = []
    /// The number of components that are forgetting records about purged items.
    private var erasures = 0
    /// The number of restored screens that are not compared yet.
    private var awaitedScreens = 0

    init(of container: Container) { self.container = container }

    /// Whether the gate of a component is closed.
    func isClosed(_ component: String) -> Bool { closings[component] != nil }

    /// Whether a request came before all work that waits for a component, and no running work holds its gate.
    func mayPass(_ component: String, _ request: Request) -> Bool {
        !held.contains(component)
            && barriers.allSatisfy {
                request.number <= $0.last || !$0.components.contains(component)
            }
    }

    /// Whether no component forgets records.
    var isQuiet: Bool { erasures == 0 }

    // MARK: Work that needs components for itself

    /// Closes the gates of components, and calls back once the components are quiet.
    ///
    /// They are quiet when none of their operations is under way, no earlier request is being checked or about to be sent,
    /// and no other work holds any of the gates. The callback has to lead to ``open(_:)`` with the same names.
    ///
    /// - Parameters:
    ///   - components: the components' names.
    ///   - needsEmptyLane: whether the container's own entries must be settled too.
    ///   - body: the callback.
    ///   - refuse: called in its place, with the gates open again, if a failed entry can't be undone.
    func close(
        _ components: [String], needsEmptyLane: Bool = false, then body: @escaping () -> Void,
        orElse refuse: ((HostError) -> Void)? = nil
    ) {
        if let refuse, let error = container.lane.undoFailure { return refuse(error) }
        for component in components { closings[component, default: 0] += 1 }
        barriers.append(
            Barrier(
                components: components, needsEmptyLane: needsEmptyLane,
                last: container.domain.lastTicket, body: body, refuse: refuse))
        runReady()
    }

    /// Refuses the waiting work that can be refused.
    func refuse(_ error: HostError) {
        let refused = barriers.filter { $0.refuse != nil }
        barriers.removeAll { $0.refuse != nil }
        for barrier in refused {
            uncount(barrier.components)
            barrier.refuse?(error)
        }
    }

    /// Opens the gates of components, unless other work waits for them.
    func open(_ components: [String]) {
        uncount(components)
        held.subtract(components)
        container.pump()
    }

    private func uncount(_ components: [String]) {
        for component in components {
            closings[component] = closings[component].flatMap { $0 > 1 ? $0 - 1 : nil }
        }
    }

    /// Runs the work that waits for components to be quiet, where they are now.
    func runReady() {
        guard !barriers.isEmpty else { return }
        while container.lane.isOpen, let body = next() { body() }
    }

    /// Returns the first work that may run; it holds its gates from now on.
    private func next() -> (() -> Void)? {
        let index = barriers.firstIndex { held.isDisjoint(with: $0.components) && isReady($0) }
        guard let index else { return nil }
        let barrier = barriers.remove(at: index)
        held.formUnion(barrier.components)
        return barrier.body
    }

    private func isReady(_ barrier: Barrier) -> Bool {
        guard !barrier.needsEmptyLane || container.lane.isEmpty else { return false }
        return barrier.components.allSatisfy {
            guard let slot = container.slot($0) else { return container.lane.isQuiet($0) }
            return container.lane.isQuiet($0) && slot.requests.isIdle
                && !slot.requests.isPassingGate(of: slot)
        }
    }

    /// Makes a component forget records about purged items, and opens its gate then.
    func run(_ erasure: SubjectErasure) {
        erasures += 1
        erasure.run { [self, container] in
            erasures -= 1
            withExtendedLifetime(container) { open([erasure.name]) }
        }
    }

    // MARK: Restored screens

    /// Whether commands wait for restored screens.
    var holdCommands: Bool { awaitedScreens > 0 && !container.domain.isWaitingOver }

    /// Why commands are refused in place of waiting; nil if they are not.
    var refusal: HostError? {
        awaitedScreens > 0 && container.domain.isWaitingOver ? container.domain.stopping : nil
    }

    /// Makes commands wait for restored screens, until ``recogniseScreen()`` is called for each of them.
    func awaitScreens(_ count: Int) { awaitedScreens += count }

    /// Records that one more restored screen was compared.
    func recogniseScreen() {
        awaitedScreens -= 1
        if awaitedScreens == 0 { container.pump() }
    }
}
