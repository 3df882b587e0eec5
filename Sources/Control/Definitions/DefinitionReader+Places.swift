public import Host
import Yams

// What only shows when a definition is applied, said where its text has it.
extension DefinitionReader {
    /// What in a definition's text a problem is about.
    public enum Subject: Sendable, Hashable {
        /// The container's name.
        case container
        /// A field's declaration.
        case field(String)
        /// A plugin's id, where it is named first.
        case plugin(String)
        /// A setting of a component, such as `sections[0].field`; or of a delegate, which errors name as
        /// `container.delegate` or `scopes.NAME.delegate`.
        case setting(component: String, setting: String)
    }

    /// A problem at its place: the nearest that the text has.
    ///
    /// - Parameters:
    ///   - definition: what was read from the text.
    ///   - file: its name, for people.
    ///   - subject: what the problem is about.
    ///   - reason: what is wrong.
    ///   - hint: what to do.
    /// - Returns: the problem; at the text's beginning where the text has nothing of it.
    public static func problem(
        in definition: ContainerDefinition, file: String, at subject: Subject, _ reason: String,
        hint: String? = nil
    ) -> DefinitionProblem {
        var problem =
            node(of: subject, in: definition)?.problem(reason, hint: hint)
            ?? DefinitionProblem(file: file, line: 1, column: 1, reason: reason, hint: hint)
        problem.file = file
        return problem
    }

    private static func node(
        of subject: Subject, in definition: ContainerDefinition
    ) -> DefinitionNode? {
        let roots = (try? documents(of: definition.source ?? "", file: "")) ?? []
        let root = roots.first { (try? $0["container"]?.text()) == definition.name }
        guard let root else { return nil }
        let components = (try? root["components"]?.elements()) ?? []
        return switch subject {
        case .container: root["container"]
        case .field(let name): root["fields"]?[name] ?? root["fields"]
        case .plugin(let id):
            (components + delegates(of: root)).lazy.compactMap { $0["plugin"] ?? $0.scalar }
                .first { (try? $0.text()) == id }
        case .setting(let name, let setting):
            (delegate(name, of: root) ?? components.first { (try? $0["name"]?.text()) == name })?
                .nearest(to: setting)
        }
    }

    private static func scopes(of root: DefinitionNode) -> [DefinitionNode] {
        (try? root["scopes"]?.elements()) ?? []
    }

    private static func delegates(of root: DefinitionNode) -> [DefinitionNode] {
        ([root] + scopes(of: root)).compactMap { $0["delegate"] }
    }

    /// The delegate that an error means by this name.
    private static func delegate(_ name: String, of root: DefinitionNode) -> DefinitionNode? {
        let words = name.split(separator: ".").map(String.init)
        guard words.count > 1, words.last == "delegate" else { return nil }
        guard words.count == 3 else { return root["delegate"] }
        return scopes(of: root).first { (try? $0["name"]?.text()) == words[1] }?["delegate"]
    }
}

extension DefinitionNode {
    /// Itself, where it is no mapping.
    fileprivate var scalar: DefinitionNode? { node.scalar == nil ? nil : self }

    /// A member of a mapping.
    fileprivate subscript(name: String) -> DefinitionNode? {
        (try? pairs())?.first { $0.key.name == name }?.value
    }

    /// The settings' part that a path leads to, as far as it leads.
    fileprivate func nearest(to path: String) -> DefinitionNode {
        var node = self["settings"] ?? self["plugin"] ?? self
        for step in path.split(whereSeparator: { ".[]".contains($0) }).map(String.init) {
            let elements = Int(step).flatMap { index in
                (try? node.elements()).flatMap { $0.indices.contains(index) ? $0[index] : nil }
            }
            guard let next = elements ?? node[step] else { break }
            node = next
        }
        return node
    }
}
