/// The gates of a container's components: closed while work needs a component for itself.
///
/// Works that need the same component run one after another; each waits until its components are quiet.
struct Gates {
    /// Work that waits until components are quiet, with their gates closed.
    private struct Barrier {
        var components: [String]
        /// Whether the container's own entries must be settled too.
        var needsEmptyLane: Bool
        var body: () -> Void
    }

    private var barriers: [Barrier] = []
    /// For each component the number of works that hold its gate, or wait to.
    private var closings: [String: Int] = [:]
    /// The components whose gates are held by running work.
    private var held: Set<String> = []

    /// Whether work waits for components to be quiet.
    var areAwaited: Bool { !barriers.isEmpty }

    func isClosed(_ component: String) -> Bool { closings[component] != nil }

    /// Closes the gates of components for work, which ``next(where:)`` returns later.
    mutating func close(
        _ components: [String], needsEmptyLane: Bool, then body: @escaping () -> Void
    ) {
        for component in components { closings[component, default: 0] += 1 }
        barriers.append(
            Barrier(components: components, needsEmptyLane: needsEmptyLane, body: body))
    }

    /// Opens the gates of components, unless other work waits for them.
    mutating func open(_ components: [String]) {
        for component in components {
            closings[component] = closings[component].flatMap { $0 > 1 ? $0 - 1 : nil }
        }
        held.subtract(components)
    }

    /// Returns the first work that may run; it holds its gates from now on.
    ///
    /// - Parameter areQuiet: whether components are quiet, and the lane is empty if the work needs that.
    /// - Returns: the work; nil: none may run.
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
    /// Whether requests have to wait although the component could take them.
    func isGated(_ component: String) -> Bool { gates.isClosed(component) }

    /// Closes the gates of components, and calls back once the components are quiet.
    ///
    /// They are quiet when none of their operations is under way and no other work holds any of the gates. The
    /// callback has to lead to ``open(_:)`` with the same names.
    ///
    /// - Parameters:
    ///   - components: the components' names.
    ///   - needsEmptyLane: whether the container's own entries must be settled too.
    ///   - body: the callback.
    func gate(
        _ components: [String], needsEmptyLane: Bool = false, then body: @escaping () -> Void
    ) {
        for component in components { slot(component)?.sendUnready() }
        gates.close(components, needsEmptyLane: needsEmptyLane, then: body)
        passBarriers()
    }

    /// Opens the gates of components, unless other work waits for them.
    func open(_ components: [String]) {
        gates.open(components)
        pump()
    }

    /// Runs the work that waits for components to be quiet, where they are now.
    func passBarriers() {
        guard gates.areAwaited else { return }
        while lane.isOpen, let body = gates.next(where: areQuiet) { body() }
    }

    private func areQuiet(_ components: [String], needsEmptyLane: Bool) -> Bool {
        guard !needsEmptyLane || lane.isEmpty else { return false }
        return components.allSatisfy { lane.isQuiet($0) && slot($0)?.isIdle ?? true }
    }
}
