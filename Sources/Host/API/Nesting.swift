/// Which containers show which others as parts of their screens.
public struct Nesting {
    /// The most levels of a screen's containers below its own.
    static let mostLevels = 4
    /// The most parts of one screen, including parts of parts.
    static let mostParts = 32

    /// Each container's parts, in order; containers without parts have no entry.
    private var parts: [String: [String]] = [:]

    init(_ definitions: some Sequence<ContainerDefinition>) {
        for definition in definitions {
            let own = definition.components.compactMap(\.container)
            if !own.isEmpty { parts[definition.name] = own }
        }
    }

    /// Why a screen of a changed container, or of one that shows it, could not have all its parts.
    ///
    /// - Parameter changed: the containers whose definitions change.
    /// - Returns: an error for one of them, whose reason names the path; nil: all screens can have their parts.
    func problem(of changed: Set<String>) -> HostError? {
        for root in affected(by: changed).sorted() {
            var count = 0
            guard let reason = problem(at: [root], &count) else { continue }
            let container = changed.contains(root) ? root : changed.sorted().first ?? root
            return .definitionInvalid(container: container, reason: reason)
        }
        return nil
    }

    /// Why new definitions can't be applied together with existing ones, as a sentence that names the path: see
    /// ``problem(of:)``.
    public static func problem(
        of definitions: [ContainerDefinition], after others: [ContainerDefinition]
    ) -> String? {
        switch Nesting(others + definitions).problem(of: Set(definitions.map(\.name))) {
        case .definitionInvalid(_, let reason): reason
        default: nil
        }
    }

    /// The changed containers, and those that show them at any level.
    private func affected(by changed: Set<String>) -> Set<String> {
        var parents: [String: [String]] = [:]
        for (parent, own) in parts {
            for part in own { parents[part, default: []].append(parent) }
        }
        var found = changed
        var rest = Array(changed)
        while let next = rest.popLast() {
            for parent in parents[next] ?? [] where found.insert(parent).inserted {
                rest.append(parent)
            }
        }
        return found
    }

    private func problem(at path: [String], _ count: inout Int) -> String? {
        for part in path.last.flatMap({ parts[$0] }) ?? [] {
            let way = path + [part]
            let text = way.joined(separator: " > ")
            if path.contains(part) {
                return "A container can't be a part of itself: \(text)."
            }
            guard way.count <= Self.mostLevels else {
                return "Containers are nested at most \(Self.mostLevels) deep: \(text)."
            }
            count += 1
            guard count <= Self.mostParts else {
                return "A screen has at most \(Self.mostParts) parts, those of parts among them, "
                    + "and \(path[0]) would have more: \(text)."
            }
            if let problem = problem(at: way, &count) { return problem }
        }
        return nil
    }
}
