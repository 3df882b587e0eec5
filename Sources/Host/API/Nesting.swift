/// Which containers show which others as parts of their screens.
public struct Nesting {
    /// A screen's own container, and so many below it.
    static let mostLevels = 4
    /// Parts of one screen, those of parts among them.
    static let mostParts = 32

    /// The containers that each shows, in order; of those that show none, nothing.
    private var parts: [String: [String]] = [:]

    /// The nesting of containers as they are defined.
    init(_ definitions: some Sequence<ContainerDefinition>) {
        for definition in definitions {
            let own = definition.components.compactMap(\.container)
            if !own.isEmpty { parts[definition.name] = own }
        }
    }

    /// What keeps screens of a container, or of one that shows it, from having all their parts.
    ///
    /// - Parameter changed: the containers that are to be defined so.
    /// - Returns: one of them, and the reason, which names the path; nil: nothing.
    func problem(of changed: Set<String>) -> HostError? {
        for root in concerned(by: changed).sorted() {
            var count = 0
            guard let reason = problem(at: [root], &count) else { continue }
            let container = changed.contains(root) ? root : changed.sorted().first ?? root
            return .definitionInvalid(container: container, reason: reason)
        }
        return nil
    }

    /// What keeps definitions that are written from being applied beside those before them: see ``problem(of:)``.
    ///
    /// - Parameters:
    ///   - definitions: the new ones.
    ///   - others: those that come before.
    /// - Returns: a sentence that names the path; nil: nothing.
    public static func problem(
        of definitions: [ContainerDefinition], after others: [ContainerDefinition]
    ) -> String? {
        switch Nesting(others + definitions).problem(of: Set(definitions.map(\.name))) {
        case .definitionInvalid(_, let reason): reason
        default: nil
        }
    }

    /// The containers that these are, or that show them at any level.
    private func concerned(by changed: Set<String>) -> Set<String> {
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
