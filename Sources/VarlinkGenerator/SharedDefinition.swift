import VarlinkIDL

/// A named type or an error: one for all interfaces that define it.
struct SharedDefinition {
    /// The file of the first interface that defines it.
    let path: String
    let name: String
    let position: TextPosition

    /// What the type is, or what the error carries.
    let type: FieldType

    /// The documentation of the first definition that has one.
    private(set) var documentation: String

    /// The interfaces that define it, in the order of the sources.
    private(set) var interfaces: [InterfaceDefinition]

    init(_ type: TypeDefinition, of interface: InterfaceDefinition, in path: String) {
        self.path = path
        (name, position, documentation) = (type.name, type.position, type.documentation)
        self.type = type.type
        interfaces = [interface]
    }

    init(_ error: ErrorDefinition, of interface: InterfaceDefinition, in path: String) {
        self.path = path
        (name, position, documentation) = (error.name, error.position, error.documentation)
        type = .structure(error.parameters)
        interfaces = [interface]
    }

    /// Merges the definitions of all interfaces: each once, sorted by name; throws where two interfaces define a name
    /// differently.
    static func merge(
        _ definitions: [SharedDefinition]
    ) throws(GeneratorError) -> [SharedDefinition] {
        var merged: [String: SharedDefinition] = [:]
        for definition in definitions {
            guard var first = merged[definition.name] else {
                merged[definition.name] = definition
                continue
            }
            guard first.type.description == definition.type.description else {
                throw GeneratorError(
                    path: definition.path, position: definition.position,
                    reason: "\(definition.name) is \(definition.type) here, and "
                        + "\(first.type) in \(first.path):\(first.position)")
            }
            if first.documentation.isEmpty { first.documentation = definition.documentation }
            first.interfaces += definition.interfaces
            merged[definition.name] = first
        }
        return merged.values.sorted { $0.name < $1.name }
    }

    /// The Swift file of the types that the interfaces define.
    static func makeText(
        types: [SharedDefinition], module: String, recursion: RecursiveTypes
    ) -> String {
        var source = SourceText()
        source.line("// Generated from the interface definitions: the types that they name.")
        guard !types.isEmpty else { return source.text }
        source.line("")
        source.line("public import JSONCodec")
        source.line("public import Varlink")
        for type in types {
            source.line("")
            let writer = TypeWriter(module: module, recursion: recursion, owner: type.name)
            writer.write(
                type.type, name: type.name,
                documentation: type.documentation.isEmpty
                    ? "`\(type.name)` of the interface definitions." : type.documentation,
                to: &source)
        }
        return source.text
    }
}
