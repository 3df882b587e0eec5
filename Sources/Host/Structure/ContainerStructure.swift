import AtriumKit
import JSONCodec

extension Container {
    /// Changes of the container's definition and components.
    public var structure: ContainerStructure { ContainerStructure(container: self) }
}

/// Changes of a container's definition and components, by hand or by applying a definition.
///
/// Each runs within ``StructureChanges/change(_:_:_:)``, so that there is one at a time; ``Restructuring`` makes it.
public struct ContainerStructure {
    let container: Container

    private var domain: Domain { container.domain }

    private var definition: ContainerDefinition { container.definition }

    /// Attaches a component at a place among the others, from 0, or at the end; replies with the sequence, once it is
    /// attached.
    func attach(
        _ component: ComponentDefinition, at place: Int?, by caller: Caller,
        _ reply: @escaping Answer<Int64>
    ) {
        do throws(HostError) {
            try HostLimits.check(place ?? 0, from: 0, "at")
        } catch {
            return reply(.failure(error))
        }
        var live = definition
        live.components.insert(component, at: bounded(place, live.components.count))
        if let error = problem(with: component, in: live) { return reply(.failure(error)) }
        var remains = container.remains
        remains[component.name] = nil
        restructure(
            live, remains: remains, by: caller, .componentAttached, component,
            at: live.components.firstIndex { $0.name == component.name }, reply)
    }

    private func problem(
        with component: ComponentDefinition, in live: ContainerDefinition
    ) -> HostError? {
        if container.slot(component.name) != nil || definition.component(component.name) != nil {
            return .componentExists(container: container.name, component: component.name)
        }
        return live.problem(domain) ?? (component.isPart ? partsProblem(with: live) : nil)
    }

    /// Detaches a component; replies with the sequence.
    ///
    /// Its records stay, and are used again when it is attached again, unless they are purged.
    public func detach(
        _ component: String, purge: Bool, by caller: Caller, _ reply: @escaping Answer<Int64>
    ) {
        guard let leaving = definition.component(component) else {
            return reply(
                .failure(.componentNotFound(container: container.name, component: component)))
        }
        var live = definition
        live.components.removeAll { $0.name == component }
        var remains = container.remains
        // A part has its records in a container of its own.
        if !purge, !leaving.isPart {
            remains[component] = Remains(
                kind: container.slot(component)?.kind,
                wasDefined: container.applied?.component(component) != nil)
        }
        restructure(
            live, remains: remains, erased: purge && !leaving.isPart ? [component] : [],
            by: caller, .componentDetached, leaving, reply)
    }

    /// Moves a component to another place among the others, from 0; a place beyond the last is the last.
    ///
    /// The reply is the sequence; the present one if nothing changes.
    public func move(
        _ component: String, to place: Int, by caller: Caller, _ reply: @escaping Answer<Int64>
    ) {
        do throws(HostError) {
            try HostLimits.check(place, from: 0, "at")
        } catch {
            return reply(.failure(error))
        }
        var live = definition
        guard let index = live.components.firstIndex(where: { $0.name == component }) else {
            return reply(
                .failure(.componentNotFound(container: container.name, component: component)))
        }
        let moved = live.components.remove(at: index)
        live.components.insert(moved, at: bounded(place, live.components.count))
        guard live != definition else { return reply(.success(domain.commits.sequence)) }
        restructure(
            live, remains: container.remains, by: caller, .componentMoved, moved,
            at: live.components.firstIndex { $0.name == component }, reply)
    }

    /// Hides or shows a component.
    ///
    /// A hidden component continues to work, but screens leave it out. The reply is the sequence; the present one if
    /// nothing changes.
    public func setHidden(
        _ component: String, _ isHidden: Bool, by caller: Caller,
        _ reply: @escaping Answer<Int64>
    ) {
        var live = definition
        guard let index = live.components.firstIndex(where: { $0.name == component }) else {
            return reply(
                .failure(.componentNotFound(container: container.name, component: component)))
        }
        guard live.components[index].isHidden != isHidden else {
            return reply(.success(domain.commits.sequence))
        }
        live.components[index].isHidden = isHidden
        restructure(
            live, remains: container.remains, by: caller,
            isHidden ? .componentHidden : .componentShown,
            live.components[index], reply)
    }

    /// Closes the container for votes or comments, or opens it again; nil: unchanged.
    ///
    /// While it is closed, nobody may cast or retract votes, or post or edit comments. Authors may still delete their
    /// comments, and moderators may still moderate. The reply is the sequence; the present one if nothing changes.
    public func setOpen(
        votes: Bool?, comments: Bool?, by caller: Caller, _ reply: @escaping Answer<Int64>
    ) {
        var live = definition
        var changes: [String] = []
        for (kind, isOpen) in [(Kind.votes, votes), (.comments, comments)] {
            guard let isOpen, isOpen == live.closed.contains(kind) else { continue }
            if isOpen { live.closed.remove(kind) } else { live.closed.insert(kind) }
            changes.append("\(isOpen ? "open" : "closed") for \(kind.rawValue)")
        }
        guard !changes.isEmpty else { return reply(.success(domain.commits.sequence)) }
        let change = StructuralChange(
            live: live, applied: container.applied, remains: container.remains,
            topic: .containerChanged,
            payload: Payload.object {
                $0.member("container", container.name)
                $0.member("changes", changes)
            }, actor: domain.actors.admit(caller.actor))
        Restructuring(of: container, to: change).run(reply)
    }

    /// Makes components anew from the present code of their plugins, and drops the new ones once they are loaded in a
    /// dry run; nothing else changes, and on failure the old ones stay.
    func remake(
        _ components: Set<String>, dryRun: Bool, by caller: Caller, _ reply: @escaping Answer<Int64>
    ) {
        let change = StructuralChange(
            live: definition, applied: container.applied, remains: container.remains,
            actor: domain.actors.admit(caller.actor))
        let restructuring = Restructuring(of: container, to: change, remaking: components)
        guard dryRun else { return restructuring.run(reply) }
        restructuring.dryRun { [domain] in reply($0.map { _ in domain.commits.sequence }) }
    }

    private func bounded(_ place: Int?, _ count: Int) -> Int {
        min(place ?? count, count)
    }

    private func restructure(
        _ live: ContainerDefinition, remains: [String: Remains], erased: [String] = [],
        by caller: Caller, _ topic: EntryTopic, _ component: ComponentDefinition,
        at place: Int? = nil,
        _ reply: @escaping Answer<Int64>
    ) {
        let payload = Payload.object {
            $0.member("component", component.name)
            if let container = component.container {
                $0.member("container", container)
            } else {
                $0.member("plugin", component.plugin)
            }
            if let place { $0.member("at", place) }
            if !erased.isEmpty { $0.member("purged", true) }
        }
        let change = StructuralChange(
            live: live, applied: container.applied, remains: remains, erased: erased,
            topic: topic, payload: payload,
            actor: domain.actors.admit(caller.actor))
        Restructuring(of: container, to: change).run(reply)
    }

    // MARK: Definitions

    /// Changes the container to match a definition, or reports what that would change.
    ///
    /// - Parameters:
    ///   - new: the definition.
    ///   - dryRun: whether to report the changes without making them.
    ///   - prune: whether to erase the records of components that were removed from a definition.
    ///   - isNew: whether this creates the container.
    ///   - asksSections: whether a report has the sections of filters, too.
    ///   - caller: on whose behalf.
    ///   - atCommit: called at the commit, before anything else.
    ///   - reply: the changes, and the sequence.
    func apply(
        _ new: ContainerDefinition, dryRun: Bool, prune: Bool, isNew: Bool, asksSections: Bool,
        by caller: Caller, atCommit: @escaping () -> Void,
        _ reply: @escaping Answer<(result: ApplyResult, sequence: Int64)>
    ) {
        if let error = new.problem(domain, isWritten: true) { return reply(.failure(error)) }
        let plan = ThreeWay(new: new, base: container.applied, live: isNew ? nil : definition)
        let sweep = remains(after: plan, prune: prune)
        var result = ApplyResult(
            container: container.name, action: isNew ? .created : .changed,
            changes: plan.lines + sweep.erased.map { "component \($0): its records erased" })
        if !isNew, result.changes.isEmpty { result.action = .unchanged }
        if let error = plan.result.problem(domain) ?? partsProblem(with: plan.result) {
            return reply(.failure(error))
        }
        var change = StructuralChange(
            live: plan.result, applied: new, remains: sweep.remains, erased: sweep.erased,
            actor: domain.actors.admit(caller.actor))
        if result.action != .unchanged {
            change.topic = isNew ? .containerCreated : .containerChanged
            change.payload = Payload.object {
                $0.member("container", container.name)
                $0.member("changes", result.changes)
            }
        }
        let restructuring = Restructuring(of: container, to: change)
        let outcome: (Int64) -> (result: ApplyResult, sequence: Int64) = { sequence in
            result.changes += restructuring.late.sorted().map {
                "component \($0): not there yet, its plugin does not answer"
            }
            return (result, sequence)
        }
        if dryRun {
            return restructuring.dryRun(asksSections: asksSections) { [domain] rehearsed in
                reply(
                    rehearsed.map { sections in
                        result.sections = sections
                        return outcome(domain.commits.sequence)
                    })
            }
        }
        for slot in container.slots { slot.start.retryNow() }
        // A delegate that could not be made is tried again, and so are failed components.
        guard
            result.action != .unchanged || container.applied.map(new.isSame) != true
                || !container.delegates.failures.isEmpty
        else {
            return reply(.success((result, domain.commits.sequence)))
        }
        restructuring.run(atCommit: atCommit) { reply($0.map(outcome)) }
    }

    /// The error if a part would take the name of a component with records, and hide them; nil otherwise.
    private func partsProblem(with new: ContainerDefinition) -> HostError? {
        let taken = new.components.first {
            $0.isPart && (container.slot($0.name) != nil || container.remains[$0.name] != nil)
        }
        return taken.map { part in
            .definitionInvalid(
                container: container.name,
                reason: "The component '\(part.name)' has records, and would be a container now: "
                    + "give the part another name, or erase the records first by detaching the "
                    + "component with purge.")
        }
    }

    /// Which components leave records behind, and which components' records are erased.
    private func remains(
        after plan: ThreeWay, prune: Bool
    ) -> (remains: [String: Remains], erased: [String]) {
        var remains = container.remains
        for name in plan.dropped {
            guard let slot = container.slot(name) else {
                remains[name]?.wasDefined = true
                continue
            }
            remains[name] = Remains(kind: slot.kind, wasDefined: true)
        }
        for component in plan.result.components { remains[component.name] = nil }
        guard prune else { return (remains, []) }
        let erased = remains.filter(\.value.wasDefined).keys.sorted()
        for name in erased { remains[name] = nil }
        return (remains, erased)
    }

    /// Deletes the container.
    func remove(
        purge: Bool, by caller: Caller, erased: [String], atCommit: @escaping () -> Void,
        _ reply: @escaping Answer<Int64>
    ) {
        let change = StructuralChange(
            live: ContainerDefinition(name: container.name, fields: definition.fields),
            applied: nil,
            remains: [:], erased: purge ? erased : [], topic: .containerDeleted,
            payload: Payload.object {
                $0.member("container", container.name)
                $0.member("purged", purge)
            }, actor: domain.actors.admit(caller.actor))
        Restructuring(of: container, to: change, keepsContainer: false).run(
            atCommit: atCommit, reply)
    }
}
