import AtriumKit
import Host

// The scopes of a definition.
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
            "name", "title", "contents", "activate", "delegate",
        ])
        guard let name = members["name"] else {
            throw node.problem("\(node.path): 'name' is missing")
        }
        guard let contents = members["contents"] else {
            throw node.problem(
                "\(node.path): 'contents' is missing",
                hint: "the components whose lists it shows, as in 'contents: [list]'")
        }
        var scope = ScopeDefinition(name: try self.name(name), contents: [])
        scope.title = try members["title"]?.text()
        scope.activate = try members["activate"].map(self.name)
        scope.delegate = try members["delegate"].map(delegate)
        for element in try contents.elements() {
            let component = try self.component(element, of: components)
            if scope.contents.contains(component) {
                throw element.problem("\(element.path): component '\(component)' is there twice")
            }
            scope.contents.append(component)
        }
        guard !scope.contents.isEmpty else {
            throw contents.problem(
                "\(contents.path): a scope shows at least one component", hint: known(components))
        }
        return scope
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
