import AtriumKit
import Host

// Reads components that are containers.
extension DefinitionReader {
    /// Reads a component that is a container.
    static func part(
        _ members: [String: DefinitionNode], name: String, _ container: DefinitionNode
    ) throws(DefinitionProblem) -> ComponentDefinition {
        let others = ["plugin", "settings", "isolation", "callSeconds", "empty", "present", "sort"]
        if let other = others.lazy.compactMap({ members[$0] }).first {
            throw other.problem(
                "\(other.path): the component is a container, which has its own",
                hint: "what the container has stands in its definition")
        }
        var part = ComponentDefinition(name: name, container: try self.name(container))
        part.title = try members["title"]?.text()
        try readHiding(members, into: &part)
        if let follow = members["follow"] { part.follow = try sections(follow) }
        return part
    }

    /// Reads which section follows which.
    private static func sections(
        _ node: DefinitionNode
    ) throws(DefinitionProblem) -> [String: String] {
        guard case .object(let members) = try node.value() else {
            throw node.unexpected("a mapping, the container's section: the one here")
        }
        var follow: [String: String] = [:]
        for (own, theirs) in members {
            guard let theirs = theirs.text, !theirs.isEmpty, !own.isEmpty else {
                throw node.problem(
                    "\(node.path).\(own): expected the id of a section",
                    hint: "as in 'follow: { day: day }'")
            }
            follow[own] = theirs
        }
        return follow
    }
}
