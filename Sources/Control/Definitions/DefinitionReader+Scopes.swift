import AtriumKit
import Host

// Reads the scopes of a definition.
extension DefinitionReader {
    /// Reads the scopes of a container that has these components.
    static func scopes(
        _ node: DefinitionNode, of components: [String]
    ) throws(DefinitionProblem) -> [ScopeDefinition] {
        var scopes: [ScopeDefinition] = []
        for element in try node.elements() {
            let scope = try self.scope(element, of: components)
            if scopes.contains(where: { $0.name == scope.name }) {
                throw element.problem("scope '\(scope.name)' is there twice")
            }
            scopes.append(scope)
        }
        return scopes
    }

    private static func scope(
        _ node: DefinitionNode, of components: [String]
    ) throws(DefinitionProblem) -> ScopeDefinition {
        let members = try node.members(known: [
            "name", "title", "contents", "entered", "searched", "activate", "delegate",
        ])
        guard let name = members["name"] else {
            throw node.problem("\(node.path): 'name' is missing")
        }
        guard let lists = try lists(members, of: components) else {
            throw node.problem("\(node.path): 'contents' is missing", hint: contentsHint)
        }
        var scope = ScopeDefinition(name: try self.name(name), contents: [])
        scope.lists = lists
        scope.title = try members["title"]?.text()
        scope.activate = try members["activate"].map(self.name)
        scope.delegate = try members["delegate"].map(delegate)
        return scope
    }

    private static var contentsHint: String {
        "the components whose lists it shows, as in 'contents: [list]'"
    }

    /// Reads which lists are shown at the top, inside an item and while searching; nil: none are given.
    static func lists(
        _ members: [String: DefinitionNode], of components: [String]
    ) throws(DefinitionProblem) -> ListModes? {
        guard let contents = members["contents"] else {
            guard let other = members["entered"] ?? members["searched"] else { return nil }
            throw other.problem(
                "\(other.path): 'contents' is missing beside it", hint: contentsHint)
        }
        var modes = ListModes(contents: try lists(contents, of: components))
        if let entered = members["entered"] { modes.entered = try lists(entered, of: components) }
        if let searched = members["searched"] {
            modes.searched = try lists(searched, of: components)
        }
        return modes
    }

    private static func lists(
        _ node: DefinitionNode, of components: [String]
    ) throws(DefinitionProblem) -> [String] {
        var lists: [String] = []
        for element in try node.elements() {
            let component = try self.component(element, of: components)
            if lists.contains(component) {
                throw element.problem("\(element.path): component '\(component)' is there twice")
            }
            lists.append(component)
        }
        guard !lists.isEmpty else {
            throw node.problem(
                "\(node.path): at least one component is shown",
                hint: node.path.hasSuffix("contents")
                    ? known(components) : "without this key it is those of 'contents'")
        }
        return lists
    }

    private static func component(
        _ node: DefinitionNode, of components: [String]
    ) throws(DefinitionProblem) -> String {
        let name = try node.text()
        guard components.contains(name) else {
            throw node.problem(
                "\(node.path): there is no component '\(name)'",
                hint: nearestName(to: name, among: components).map { "did you mean '\($0)'?" }
                    ?? known(components))
        }
        return name
    }

    private static func known(_ components: [String]) -> String {
        components.isEmpty
            ? "add components first" : "known are: \(components.joined(separator: ", "))"
    }
}
