import AtriumKit
import PluginLoader

// Why a definition can't be applied.
extension ContainerDefinition {
    /// Why the definition can't be applied, as far as that is known without its components; `isWritten`: it is a
    /// file's, and not the state that a container would have.
    func problem(_ domain: Domain, isWritten: Bool = false) -> HostError? {
        func invalid(_ reason: String) -> HostError {
            .definitionInvalid(container: name, reason: reason)
        }
        let rule = Self.nameRule
        guard Names.isName(name) else {
            return invalid("The name '\(name)' is not of the form \(rule).")
        }
        // The container's topics would look like the daemon's own.
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

    /// The problem with a presentation setting of a component that is no list; nil: there is none.
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

// MARK: Scopes

extension ContainerDefinition {
    /// Why the scopes can't be applied, and where, nil if they can; those of a file must name existing components,
    /// while a container may still name one that was detached by hand.
    func scopeProblem(_ domain: Domain, isWritten: Bool) -> String? {
        // A scope for each component is enough.
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
            guard !scope.lists.contents.isEmpty else {
                return "\(path): the scope '\(scope.name)' shows no component; "
                    + "name at least one under 'contents'."
            }
            if let problem = problem(showing: scope.lists, domain, isWritten: isWritten) {
                return "\(path).\(problem)"
            }
        }
        return lists.flatMap { problem(showing: $0, domain, isWritten: isWritten) }
    }

    private func problem(
        showing modes: ListModes, _ domain: Domain, isWritten: Bool
    ) -> String? {
        let byKey = [
            ("contents", modes.contents), ("entered", modes.entered), ("searched", modes.searched),
        ]
        for (key, lists) in byKey {
            for (place, name) in lists.enumerated() {
                let problem =
                    lists[..<place].contains(name)
                    ? "'\(name)' is there twice"
                    : self.problem(showing: name, domain, isWritten: isWritten)
                if let problem { return "\(key)[\(place)]: \(problem)." }
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
        let kind = domain.plugins.plugin(component.plugin)?.kind
        guard component.isPart || kind.map({ $0 != .contents }) ?? false else { return nil }
        let lists = components.filter { domain.plugins.plugin($0.plugin)?.kind == .contents }
        let known = lists.map { "'\($0.name)'" }.joined(separator: ", ")
        let what =
            component.container.map { "the container \($0)" }
            ?? "of the kind \(kind?.rawValue ?? "") (\(component.plugin))"
        return "'\(name)' is \(what), and only the kind contents has a list to show; "
            + (known.isEmpty ? "there is none" : "there is \(known)")
    }
}

extension ComponentDefinition {
    /// The name of a setting that only lists may have; nil: the component has none.
    fileprivate var listMember: String? {
        if present != nil { return "present" }
        if !sort.isEmpty { return "sort" }
        if hidesEmpty { return "hidden: empty" }
        return empty.map { _ in "empty" }
    }
}

extension [String] {
    /// The first string that occurs a second time.
    fileprivate var firstTwice: String? {
        var seen: Set<String> = []
        return first { !seen.insert($0).inserted }
    }
}
