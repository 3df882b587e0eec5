import VarlinkIDL

/// A named type: one for all interfaces that define it.
struct SharedType {
    let path: String
    let definition: TypeDefinition

    /// The documentation of the first definition that has one.
    let documentation: String

    /// Gathers the types of all interfaces, by name.
    ///
    /// - Parameter interfaces: The definitions and where they stand.
    /// - Returns: Each type once, sorted by name.
    /// - Throws: ``GeneratorError`` where two interfaces define a name differently.
    static func gather(
        _ interfaces: [(path: String, definition: InterfaceDefinition)]
    ) throws(GeneratorError) -> [SharedType] {
        var types: [String: SharedType] = [:]
        for (path, interface) in interfaces {
            for type in interface.types {
                guard let first = types[type.name] else {
                    types[type.name] = SharedType(
                        path: path, definition: type, documentation: type.documentation)
                    continue
                }
                guard first.definition.type.description == type.type.description else {
                    throw GeneratorError(
                        path: path, position: type.position,
                        reason: "\(type.name) is \(type.type) here, and "
                            + "\(first.definition.type) in \(first.path):\(first.definition.position)"
                    )
                }
                if first.documentation.isEmpty {
                    types[type.name] = SharedType(
                        path: first.path, definition: first.definition,
                        documentation: type.documentation)
                }
            }
        }
        return types.values.sorted { $0.definition.name < $1.definition.name }
    }

    static func makeText(
        _ types: [SharedType], module: String, recursion: RecursiveTypes
    ) -> String {
        var source = SourceText()
        source.line("// Generated from the interface definitions: the types that they name.")
        guard !types.isEmpty else { return source.text }
        source.line("")
        source.line("public import JSONCodec")
        source.line("public import Varlink")
        for type in types {
            source.line("")
            let writer = TypeWriter(
                module: module, recursion: recursion, owner: type.definition.name)
            writer.write(
                type.definition.type, name: type.definition.name,
                documentation: type.documentation.isEmpty
                    ? "`\(type.definition.name)` of the interface definitions."
                    : type.documentation,
                to: &source)
        }
        return source.text
    }
}
