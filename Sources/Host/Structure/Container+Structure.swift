import AtriumKit
import JSONCodec
import PluginLoader
import Store

// Components attached, detached, moved, hidden and shown by hand: each within ``Registry/change(_:_:_:)``.
extension Container {
    /// Attaches a component.
    ///
    /// - Parameters:
    ///   - component: what.
    ///   - place: among the others, from 0; nil: at the end.
    ///   - caller: on whose behalf.
    ///   - reply: the sequence, once it is attached.
    func attach(
        _ component: ComponentDefinition, at place: Int?, by caller: Caller,
        _ reply: @escaping Answer<Int64>
    ) {
        var live = definition
        live.components.insert(component, at: bounded(place, live.components.count))
        if let error = problem(with: component, in: live) { return reply(.failure(error)) }
        var remains = remains
        remains[component.name] = nil
        restructure(
            live, remains: remains, by: caller, .componentAttached, component,
            at: live.components.firstIndex { $0.name == component.name }, reply)
    }

    private func problem(
        with component: ComponentDefinition, in live: ContainerDefinition
    ) -> HostError? {
        if slot(component.name) != nil || definition.component(component.name) != nil {
            return .componentExists(container: name, component: component.name)
        }
        return live.problem(domain) ?? (component.isPart ? partsProblem(with: live) : nil)
    }

    /// Detaches a component.
    ///
    /// Its records stay, and return when it is attached again.
    ///
    /// - Parameters:
    ///   - component: its name.
    ///   - purge: erases its records too.
    ///   - caller: on whose behalf.
    ///   - reply: the sequence.
    public func detach(
        _ component: String, purge: Bool, by caller: Caller, _ reply: @escaping Answer<Int64>
    ) {
        guard let leaving = definition.component(component) else {
            return reply(.failure(.componentNotFound(container: name, component: component)))
        }
        var live = definition
        live.components.removeAll { $0.name == component }
        var remains = remains
        // A part has its records in a container of its own.
        if !purge, !leaving.isPart {
            remains[component] = Remains(
                kind: slot(component)?.kind, wasDefined: applied?.component(component) != nil)
        }
        restructure(
            live, remains: remains, erased: purge && !leaving.isPart ? [component] : [],
            by: caller, .componentDetached, leaving, reply)
    }

    /// Moves a component to another place among the others.
    ///
    /// - Parameters:
    ///   - component: its name.
    ///   - place: the new place, from 0; one beyond the last is the last.
    ///   - caller: on whose behalf.
    ///   - reply: the sequence.
    public func move(
        _ component: String, to place: Int, by caller: Caller, _ reply: @escaping Answer<Int64>
    ) {
        var live = definition
        guard let index = live.components.firstIndex(where: { $0.name == component }) else {
            return reply(.failure(.componentNotFound(container: name, component: component)))
        }
        let moved = live.components.remove(at: index)
        live.components.insert(moved, at: bounded(place, live.components.count))
        guard live != definition else { return reply(.success(domain.sequence)) }
        restructure(
            live, remains: remains, by: caller, .componentMoved, moved,
            at: live.components.firstIndex { $0.name == component }, reply)
    }

    /// Hides or shows a component.
    ///
    /// A hidden one goes on working; screens leave it out.
    ///
    /// - Parameters:
    ///   - component: its name.
    ///   - isHidden: whether to hide it.
    ///   - caller: on whose behalf.
    ///   - reply: the sequence; the current one when it is so already.
    public func setHidden(
        _ component: String, _ isHidden: Bool, by caller: Caller,
        _ reply: @escaping Answer<Int64>
    ) {
        var live = definition
        guard let index = live.components.firstIndex(where: { $0.name == component }) else {
            return reply(.failure(.componentNotFound(container: name, component: component)))
        }
        guard live.components[index].isHidden != isHidden else {
            return reply(.success(domain.sequence))
        }
        live.components[index].isHidden = isHidden
        restructure(
            live, remains: remains, by: caller, isHidden ? .componentHidden : .componentShown,
            live.components[index], reply)
    }

    /// Closes the container for votes or comments, or opens it again.
    ///
    /// Nobody casts or takes back a vote then, or writes or edits a comment. Who wrote one may delete it, and moderators
    /// go on deciding.
    ///
    /// - Parameters:
    ///   - votes: whether it takes votes; nil: as before.
    ///   - comments: whether it takes comments; nil: as before.
    ///   - caller: on whose behalf.
    ///   - reply: the sequence; the current one when it is so already.
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
        guard !changes.isEmpty else { return reply(.success(domain.sequence)) }
        let change = StructuralChange(
            live: live, applied: applied, remains: remains,
            topic: .containerChanged,
            payload: Payload.object {
                $0.member("container", name)
                $0.member("changes", changes)
            }, actor: domain.actors.admit(caller.actor))
        Restructuring(of: self, to: change).run(reply)
    }

    private func bounded(_ place: Int?, _ count: Int) -> Int {
        min(max(place ?? count, 0), count)
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
            live: live, applied: applied, remains: remains, erased: erased,
            topic: topic, payload: payload,
            actor: domain.actors.admit(caller.actor))
        Restructuring(of: self, to: change).run(reply)
    }
}

// MARK: Definitions

extension Container {
    /// Makes the container what a definition says, or says what that would do.
    ///
    /// - Parameters:
    ///   - new: the definition.
    ///   - dryRun: only say it.
    ///   - prune: erase the records of components that a definition had and has no more.
    ///   - isNew: whether it is being created by this.
    ///   - caller: on whose behalf.
    ///   - atCommit: called first thing at the commit.
    ///   - reply: what was done, and the sequence.
    func apply(
        _ new: ContainerDefinition, dryRun: Bool, prune: Bool, isNew: Bool, by caller: Caller,
        atCommit: @escaping () -> Void,
        _ reply: @escaping Answer<(result: ApplyResult, sequence: Int64)>
    ) {
        if let error = new.problem(domain, isWritten: true) { return reply(.failure(error)) }
        let plan = ThreeWay(new: new, base: applied, live: isNew ? nil : definition)
        let sweep = remains(after: plan, prune: prune)
        var result = ApplyResult(
            container: name, action: isNew ? .created : .changed,
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
                $0.member("container", name)
                $0.member("changes", result.changes)
            }
        }
        let restructuring = Restructuring(of: self, to: change)
        let told: (Int64) -> (result: ApplyResult, sequence: Int64) = { sequence in
            result.changes += restructuring.late.sorted().map {
                "component \($0): not there yet, its plugin does not answer"
            }
            return (result, sequence)
        }
        if dryRun {
            return restructuring.rehearse { [domain] outcome in
                reply(outcome.map { told(domain.sequence) })
            }
        }
        for slot in slots { slot.revive() }
        // A delegate that can't be made is tried again, as components are.
        guard
            result.action != .unchanged || applied.map(new.isSame) != true
                || !delegates.failures.isEmpty
        else {
            return reply(.success((result, domain.sequence)))
        }
        restructuring.run(atCommit: atCommit) { reply($0.map(told)) }
    }

    /// A part would hide what a component of its name left.
    private func partsProblem(with new: ContainerDefinition) -> HostError? {
        let taken = new.components.first {
            $0.isPart && (slot($0.name) != nil || remains[$0.name] != nil)
        }
        return taken.map { part in
            .definitionInvalid(
                container: name,
                reason: "The component '\(part.name)' has records, and would be a container now: "
                    + "give the part another name, or erase the records first by detaching the "
                    + "component with purge.")
        }
    }

    /// Which components leave records behind, and whose are erased.
    private func remains(
        after plan: ThreeWay, prune: Bool
    ) -> (remains: [String: Remains], erased: [String]) {
        var remains = remains
        for name in plan.dropped {
            guard let slot = slot(name) else {
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

    /// Takes the container away.
    func remove(
        purge: Bool, by caller: Caller, erased: [String], atCommit: @escaping () -> Void,
        _ reply: @escaping Answer<Int64>
    ) {
        let change = StructuralChange(
            live: ContainerDefinition(name: name, fields: definition.fields), applied: nil,
            remains: [:], erased: purge ? erased : [], topic: .containerDeleted,
            payload: Payload.object {
                $0.member("container", name)
                $0.member("purged", purge)
            }, actor: domain.actors.admit(caller.actor))
        Restructuring(of: self, to: change, keepsContainer: false).run(
            atCommit: atCommit, reply)
    }
}

extension ContainerDefinition {
    /// What keeps the definition from being applied, besides what only its components know.
    ///
    /// - Parameters:
    ///   - domain: what there is, and how much there may be.
    ///   - isWritten: whether this is what a file says, and not how a container would stand.
    /// - Returns: the problem; nil: none.
    func problem(_ domain: Domain, isWritten: Bool = false) -> HostError? {
        func invalid(_ reason: String) -> HostError {
            .definitionInvalid(container: name, reason: reason)
        }
        let rule = Self.nameRule
        guard Names.isName(name) else {
            return invalid("The name '\(name)' is not of the form \(rule).")
        }
        // Its topics would be taken for the daemon's own.
        guard name != "daemon" else { return invalid("The name 'daemon' is reserved.") }
        if let field = fields.first(where: { !Names.isField($0.name) }) {
            return invalid(
                "The field's name '\(field.name)' is not of the form [a-z][a-zA-Z0-9_-]{0,62}.")
        }
        if let twice = fields.map(\.name).firstTwice {
            return invalid("The field '\(twice)' is declared twice.")
        }
        if let name = components.map(\.name).first(where: { !Names.isName($0) }) {
            return invalid("The component's name '\(name)' is not of the form \(rule).")
        }
        if let twice = components.map(\.name).firstTwice {
            return invalid("There are two components named '\(twice)'.")
        }
        let limit = domain.limits.components
        guard components.count <= limit else {
            return .limitExceeded(limit: "components", value: limit, retryAfter: nil)
        }
        return (presentationProblem(domain) ?? scopeProblem(domain, isWritten: isWritten))
            .map(invalid)
    }

    /// What of how it is shown belongs to no list.
    private func presentationProblem(_ domain: Domain) -> String? {
        let unnamed = components.first { $0.container.map { !Names.isName($0) } ?? false }
        if let unnamed {
            return "The component '\(unnamed.name)' is to show the container "
                + "'\(unnamed.container ?? "")', a name that is not of the form \(Self.nameRule)."
        }
        for component in components {
            let kind = domain.plugins.plugin(component.plugin)?.kind
            guard let kind, kind != .contents, let member = component.listMember else { continue }
            return "The component '\(component.name)' is of the kind \(kind.rawValue) "
                + "(\(component.plugin)), and '\(member)' is of components of the kind contents."
        }
        return nil
    }
}

extension ComponentDefinition {
    /// What it has that only a list can have, as definitions name it; nil: nothing.
    fileprivate var listMember: String? {
        if present != nil { return "present" }
        if !sort.isEmpty { return "sort" }
        if hidesEmpty { return "hidden: empty" }
        return empty.map { _ in "empty" }
    }
}

extension [String] {
    /// The first that was there before.
    fileprivate var firstTwice: String? {
        var seen: Set<String> = []
        return first { !seen.insert($0).inserted }
    }
}
