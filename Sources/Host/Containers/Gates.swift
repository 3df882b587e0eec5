/// The gates of a container's components: closed while work needs a component that nobody else asks.
///
/// Works that need the same component go one after the other; each waits until its components are quiet.
struct Gates {
    /// Work that waits until components are quiet, their gates closed.
    private struct Barrier {
        var components: [String]
        /// Whether the container's own entries must be settled too.
        var needsEmptyLane: Bool
        var body: () -> Void
    }

    private var barriers: [Barrier] = []
    /// How many works hold, or wait to hold, each component's gate.
    private var closings: [String: Int] = [:]
    /// The components whose gates are held by work that goes on.
    private var held: Set<String> = []

    /// Whether work waits for components to be quiet.
    var areAwaited: Bool { !barriers.isEmpty }

    func isClosed(_ component: String) -> Bool { closings[component] != nil }

    /// Closes the gates of components, for work that waits for ``next(where:)``.
    mutating func close(
        _ components: [String], needsEmptyLane: Bool, then body: @escaping () -> Void
    ) {
        for component in components { closings[component, default: 0] += 1 }
        barriers.append(
            Barrier(components: components, needsEmptyLane: needsEmptyLane, body: body))
    }

    /// Opens the gates of components again, as far as nobody else waits for them.
    mutating func open(_ components: [String]) {
        for component in components {
            closings[component] = closings[component].flatMap { $0 > 1 ? $0 - 1 : nil }
        }
        held.subtract(components)
    }

    /// Has the first work that may go on hold its gates from now on.
    ///
    /// - Parameter areQuiet: whether components are, and where the work needs it the lane is empty.
    /// - Returns: that work; nil: none may go on.
    mutating func next(
        where areQuiet: (_ components: [String], _ needsEmptyLane: Bool) -> Bool
    ) -> (() -> Void)? {
        let index = barriers.firstIndex { barrier in
            held.isDisjoint(with: barrier.components)
                && areQuiet(barrier.components, barrier.needsEmptyLane)
        }
        guard let index else { return nil }
        let barrier = barriers.remove(at: index)
        held.formUnion(barrier.components)
        return barrier.body
    }
}

extension Container {
    /// Whether requests wait, although the component could take them.
    func isGated(_ component: String) -> Bool { gates.isClosed(component) }

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
        for component in components { slot(component)?.sendUnready() }
        gates.close(components, needsEmptyLane: needsEmptyLane, then: body)
        passBarriers()
    }

    /// Opens the gates of components again, as far as nobody else waits for them.
    func open(_ components: [String]) {
        gates.open(components)
        pump()
    }

    /// Lets those go on who wait for components that are quiet by now.
    func passBarriers() {
        guard gates.areAwaited else { return }
        while lane.isOpen, let body = gates.next(where: areQuiet) { body() }
    }

    private func areQuiet(_ components: [String], needsEmptyLane: Bool) -> Bool {
        guard !needsEmptyLane || lane.isEmpty else { return false }
        return components.allSatisfy { lane.isQuiet($0) && slot($0)?.isIdle ?? true }
    }
}
