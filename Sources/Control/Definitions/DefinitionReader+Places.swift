public import Host
import Yams

// Locates errors that occur only when a definition is applied.
extension DefinitionReader {
    /// The part of a definition that an error is about.
    public enum Subject: Sendable, Hashable {
        /// The container's name.
        case container
        /// A field's declaration.
        case field(String)
        /// A plugin's id, at its first occurrence.
        case plugin(String)
        /// A setting of a component or a delegate, such as `sections[0].field`.
        ///
        /// Errors name a delegate as `container.delegate` or `scopes.NAME.delegate`.
        case setting(component: String, setting: String)
    }

    /// Makes a problem at the nearest place in the text.
    ///
    /// - Parameters:
    ///   - definition: the definition, with its text.
    ///   - file: the file's name, for people.
    ///   - subject: the subject of the error.
    ///   - reason: the problem, as a sentence.
    ///   - hint: the advice for the author; nil: none.
    /// - Returns: the problem; at the beginning of the text if the subject does not occur in it.
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

    /// The node of the delegate that an error names.
    private static func delegate(_ name: String, of root: DefinitionNode) -> DefinitionNode? {
        let words = name.split(separator: ".").map(String.init)
        guard words.count > 1, words.last == "delegate" else { return nil }
        guard words.count == 3 else { return root["delegate"] }
        return scopes(of: root).first { (try? $0["name"]?.text()) == words[1] }?["delegate"]
    }
}

extension DefinitionNode {
    /// The node itself if it is a scalar.
    fileprivate var scalar: DefinitionNode? { node.scalar == nil ? nil : self }

    /// A member of a mapping.
    fileprivate subscript(name: String) -> DefinitionNode? {
        (try? pairs())?.first { $0.key.name == name }?.value
    }

    /// The deepest existing node on a path into the settings.
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
