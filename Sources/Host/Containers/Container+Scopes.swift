import AtriumKit
import Index
import PluginLoader

// Scopes: which lists a screen shows, and who is told of what happens on it.
extension ContainerDefinition {
    /// The scope of this name.
    func scope(_ name: String) -> ScopeDefinition? { scopes.first { $0.name == name } }

    /// What keeps the scopes from being applied; nil: nothing.
    ///
    /// - Parameters:
    ///   - domain: what there is, which tells each component's kind.
    ///   - isWritten: whether this is what a file says, which must name components that it has;
    ///     as a container stands, one that was detached by hand is still named.
    /// - Returns: where it is, and what is to be done.
    func scopeProblem(_ domain: Domain, isWritten: Bool) -> String? {
        // As many as there may be lists to show.
        let limit = domain.limits.components
        guard scopes.count <= limit else {
            return "There are \(scopes.count) scopes, and a container has at most \(limit)."
        }
        for (place, scope) in scopes.enumerated() {
            let path = "scopes[\(place)]"
            guard Names.isName(scope.name) else {
                return "\(path): the name '\(scope.name)' is not of the form \(Self.nameRule)."
            }
            if scopes[..<place].contains(where: { $0.name == scope.name }) {
                return "\(path): there are two scopes named '\(scope.name)'."
            }
            guard !scope.contents.isEmpty else {
                return "\(path): the scope '\(scope.name)' shows no component; "
                    + "name at least one under 'contents'."
            }
            for (place, name) in scope.contents.enumerated() {
                let problem =
                    scope.contents[..<place].contains(name)
                    ? "'\(name)' is there twice"
                    : self.problem(showing: name, domain, isWritten: isWritten)
                if let problem { return "\(path).contents[\(place)]: \(problem)." }
            }
        }
        return nil
    }

    static var nameRule: String { "[a-z][a-z0-9-]{0,62}" }

    private func problem(
        showing name: String, _ domain: Domain, isWritten: Bool
    ) -> String? {
        guard let component = component(name) else {
            return isWritten ? "there is no component '\(name)'" : nil
        }
        guard let kind = domain.plugins.plugin(component.plugin)?.kind, kind != .contents else {
            return nil
        }
        let lists = components.filter { domain.plugins.plugin($0.plugin)?.kind == .contents }
        let known = lists.map { "'\($0.name)'" }.joined(separator: ", ")
        return "'\(name)' is of the kind \(kind.rawValue) (\(component.plugin)), and a scope shows "
            + "components of the kind contents; "
            + (known.isEmpty ? "there is none" : "there is \(known)")
    }
}

extension Container {
    /// The scope that a name stands for: the first where it stands for none, nil where there are
    /// no scopes.
    func scope(_ name: String?) -> ScopeDefinition? {
        name.flatMap { definition.scope($0) } ?? definition.scopes.first
    }

    /// The components that a scope has, in its order; nil: all of them.
    ///
    /// Its lists take, one after the other, the places of those among them that the container has.
    func slots(in scope: ScopeDefinition?) -> [Slot] {
        guard let scope else { return slots }
        var lists = scope.contents.compactMap { slot($0) }[...]
        return slots.compactMap { slot in
            if scope.contents.contains(slot.name) { return lists.popFirst() }
            return slot.kind == .contents ? nil : slot
        }
    }

    /// The lists that a screen in a scope can show.
    func lists(in scope: ScopeDefinition?) -> [Slot] {
        slots(in: scope).filter { $0.kind == .contents }
    }

    /// The list that a call names, or the first, among those of a scope; nil: of all.
    func list(
        _ name: String?, in scope: String?
    ) throws(HostError) -> (slot: Slot, list: ContentIndex) {
        guard let scope else { return try list(name) }
        guard let shown = definition.scope(scope) else { throw scopeNotFound(scope) }
        if let name, !shown.contents.contains(name) {
            throw .componentNotInScope(component: name, scope: scope, shown: shown.contents)
        }
        return try list(name ?? shown.contents.first { slot($0) != nil } ?? shown.contents.first)
    }

    func scopeNotFound(_ name: String) -> HostError {
        .scopeNotFound(name, known: definition.scopes.map(\.name))
    }

    /// Who is called for what happens in a scope; nil: of what happens in the first, or without any.
    ///
    /// - Returns: the delegate; fails while it can't be made.
    func delegate(in scope: String?) -> Result<ContainerDelegate, HostError> {
        delegates.delegate(in: self.scope(scope)?.name)
    }
}
