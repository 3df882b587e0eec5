/// The sections of filters that containers have, as far as that is known, to check what parts follow.
///
/// A container's sections are not known while it is not there or loads, if a component can't say which sections it has,
/// and before a component without any is attached: it may have some once it knows the values of fields.
public struct FollowedSections {
    private var known: [String: [String]] = [:]

    /// What changes of containers, made or rehearsed, have found out.
    public init(_ results: [ApplyResult] = []) {
        for result in results { known[result.container] = result.sections }
    }

    /// Adds a container's sections; nil: they are not known.
    mutating func add(_ sections: [String]?, of container: String) { known[container] = sections }

    /// Why a part of a container can't follow as its definition says; nil: it can, as far as that is known.
    func problem(of part: ComponentDefinition, in container: String) -> HostError? {
        obstacle(to: part, in: container).map {
            .definitionInvalid(
                container: container, reason: "The component '\(part.name)' \($0)")
        }
    }

    /// Why a part can't follow, as what is said of it: "can't follow: …"; nil: it can, as far as that is known.
    func obstacle(to part: ComponentDefinition, in container: String) -> String? {
        let obstacle = { (names: any Sequence<String>, home: String) -> String? in
            guard let known = known[home],
                let wrong = names.sorted().first(where: { !known.contains($0) })
            else { return nil }
            let others = known.isEmpty ? "it has none" : "it has \(known.joined(separator: ", "))"
            return "can't follow: '\(home)' has no section '\(wrong)'; \(others)."
        }
        guard let shown = part.container else { return nil }
        return obstacle(part.follow.keys, shown) ?? obstacle(part.follow.values, container)
    }

    /// Why a definition's parts can't follow as it says, as a sentence; nil: they can, as far as that is known.
    public func problem(in definition: ContainerDefinition) -> String? {
        for part in definition.components {
            if case .definitionInvalid(_, let reason)? = problem(of: part, in: definition.name) {
                return reason
            }
        }
        return nil
    }
}

extension ContainerDefinition {
    /// Whether parts follow sections.
    var follows: Bool { components.contains { !$0.follow.isEmpty } }
}
