import AtriumKit
public import Host
import PluginLoader
import Yams

/// Reads container definitions from YAML.
///
/// Every error names file, line and column. Unknown keys, and scalars that versions of YAML read differently, are
/// errors.
public enum DefinitionReader {
    /// The maximum number of bytes in one text: its containers keep it in the store, in one entry.
    static let mostBytes = 1 << 20

    /// Reads all documents of one text of YAML, which are separated by `---`, at least one; throws at the first
    /// mistake.
    public static func read(
        _ text: String, file: String
    ) throws(DefinitionProblem) -> [ContainerDefinition] {
        let size = text.utf8.count
        guard size <= mostBytes else {
            throw DefinitionProblem(
                file: file, line: 1, column: 1,
                reason: "it has \(size) bytes, and a definition at most \(mostBytes)",
                hint: "divide its containers among several files")
        }
        var definitions: [ContainerDefinition] = []
        let roots = try documents(of: text, file: file)
        for root in roots {
            var definition = try container(root)
            if let first = definitions.firstIndex(where: { $0.name == definition.name }) {
                throw root.problem(
                    "container '\(definition.name)' is defined twice, before in the document at line "
                        + "\(roots[first].line)")
            }
            definition.source = text
            definitions.append(definition)
        }
        guard !definitions.isEmpty else {
            throw DefinitionProblem(
                file: file, line: 1, column: 1, reason: "there is no definition",
                hint: "begin with 'atrium: 1' and 'container: NAME'")
        }
        return definitions
    }

    static func documents(
        of text: String, file: String
    ) throws(DefinitionProblem) -> [DefinitionNode] {
        guard AliasExpansion(of: text).bytes <= AliasExpansion.mostBytes else {
            throw DefinitionProblem(
                file: file, line: 1, column: 1,
                reason: "its aliases stand for more than \(AliasExpansion.mostBytes) bytes",
                hint: "write what they stand for, or less of it")
        }
        do {
            var roots: [DefinitionNode] = []
            let budget = DefinitionNode.Budget()
            // Editors on Windows begin a file with a byte order mark.
            let parser = try Parser(
                yaml: text.hasPrefix("\u{FEFF}") ? String(text.dropFirst()) : text)
            while let root = try parser.nextRoot() {
                roots.append(DefinitionNode(node: root, file: file, path: "", budget: budget))
            }
            return roots
        } catch let error as YamlError {
            throw problem(error, file: file)
        } catch {
            throw DefinitionProblem(file: file, line: 1, column: 1, reason: "\(error)")
        }
    }

    private static func problem(_ error: YamlError, file: String) -> DefinitionProblem {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            DefinitionProblem(
                file: file, line: mark.line, column: mark.column, reason: "not YAML: \(problem)",
                hint: "indent with spaces, and quote text that holds ': ' or ' #'")
        case .duplicatedKeysInMapping(let keys, let context):
            DefinitionProblem(
                file: file, line: context.mark.line, column: context.mark.column,
                reason: "the key '\(keys.first ?? "")' stands twice in one mapping")
        default:
            DefinitionProblem(file: file, line: 1, column: 1, reason: "not YAML: \(error)")
        }
    }

    private static func container(
        _ root: DefinitionNode
    ) throws(DefinitionProblem) -> ContainerDefinition {
        let members = try root.members(known: [
            "atrium", "container", "title", "fields", "components", "contents", "entered",
            "searched", "scopes", "activate", "delegate", "present",
        ])
        guard let version = members["atrium"] else {
            throw root.problem(
                "the format's version is missing", hint: "begin with 'atrium: 1'")
        }
        guard try version.value().int == 1 else {
            throw version.problem("this daemon reads version 1 of the format", hint: "atrium: 1")
        }
        guard let name = members["container"] else {
            throw root.problem("the container's name is missing", hint: "add 'container: NAME'")
        }
        var definition = ContainerDefinition(name: try self.name(name))
        definition.title = try members["title"]?.text()
        if let fields = members["fields"] { definition.fields = try self.fields(fields) }
        if let list = members["components"] {
            definition.components = try components(list, of: definition.fields)
        }
        let names = definition.components.map(\.name)
        definition.lists = try lists(members, of: names)
        if let list = members["scopes"] { definition.scopes = try scopes(list, of: names) }
        if let contents = members["contents"], !definition.scopes.isEmpty {
            throw contents.problem(
                "\(contents.path): each scope says which lists it shows",
                hint: "write it into the scopes")
        }
        definition.delegate = try members["delegate"].map(delegate)
        if let present = members["present"] {
            definition.present = try presentation(present, of: definition.fields)
        }
        if let activate = members["activate"] { definition.activate = try self.name(activate) }
        return definition
    }

    private static func components(
        _ node: DefinitionNode, of fields: [Field]
    ) throws(DefinitionProblem) -> [ComponentDefinition] {
        var components: [ComponentDefinition] = []
        for element in try node.elements() {
            let component = try self.component(element, of: fields)
            if components.contains(where: { $0.name == component.name }) {
                throw element.problem("component '\(component.name)' is there twice")
            }
            components.append(component)
        }
        return components
    }

    private static func component(
        _ node: DefinitionNode, of fields: [Field]
    ) throws(DefinitionProblem) -> ComponentDefinition {
        let members = try node.members(known: [
            "name", "plugin", "title", "settings", "isolation", "callSeconds", "hidden", "empty",
            "present", "sort", "container", "follow",
        ])
        guard let name = members["name"] else {
            throw node.problem("\(node.path): 'name' is missing")
        }
        if let container = members["container"] {
            return try part(members, name: self.name(name), container)
        }
        if let follow = members["follow"] {
            throw follow.problem(
                "\(follow.path): only a container follows sections",
                hint: "write 'container: NAME' beside it")
        }
        guard let plugin = members["plugin"] else {
            throw node.problem(
                "\(node.path): 'plugin' or 'container' is missing",
                hint: "`atriumctl plugins` lists plugins")
        }
        var component = ComponentDefinition(
            name: try self.name(name), plugin: try plugin.text())
        component.title = try members["title"]?.text()
        component.isolation = try members["isolation"]?.choice(Isolation.self)
        component.callSeconds = try members["callSeconds"].map(seconds)
        try readHiding(members, into: &component)
        if let settings = members["settings"] { component.settings = try self.settings(settings) }
        if let present = members["present"] {
            component.present = try presentation(present, of: fields)
        }
        if let sort = members["sort"] { component.sort = try order(sort, of: fields) }
        return component
    }

    /// Reads how long a call may take; the range is that of the daemon's setting.
    private static func seconds(_ node: DefinitionNode) throws(DefinitionProblem) -> Int {
        let range = LimitSettings.callSeconds
        guard let seconds = Int(exactly: try node.number()), range.contains(seconds) else {
            throw node.unexpected(
                "a whole number of seconds from \(range.lowerBound) to \(range.upperBound)")
        }
        return seconds
    }

    private static func settings(
        _ node: DefinitionNode
    ) throws(DefinitionProblem) -> [String: Value] {
        guard case .object(let values) = try node.value() else {
            throw node.problem("\(node.path): expected a mapping")
        }
        return values
    }

    /// Reads a delegate: a plugin's id, or `{ plugin:, settings: }`.
    static func delegate(_ node: DefinitionNode) throws(DefinitionProblem) -> DelegateDefinition {
        guard case .mapping = node.node else {
            return DelegateDefinition(plugin: try node.text())
        }
        let members = try node.members(known: ["plugin", "settings"])
        guard let plugin = members["plugin"] else {
            throw node.problem(
                "\(node.path): 'plugin' is missing", hint: "`atriumctl plugins` lists them")
        }
        return DelegateDefinition(
            plugin: try plugin.text(), settings: try members["settings"].map(settings) ?? [:])
    }

    static func name(_ node: DefinitionNode) throws(DefinitionProblem) -> String {
        let name = try node.text()
        guard Names.isName(name) else {
            throw node.problem(
                "\(node.path): '\(name)' is no name",
                hint: "a letter a-z, then up to 62 of a-z 0-9 -")
        }
        return name
    }
}
