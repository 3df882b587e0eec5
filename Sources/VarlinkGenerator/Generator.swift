import VarlinkIDL

/// A definition's file.
struct Source: Sendable {
    let path: String
    let text: String
}

/// A file of Swift.
struct GeneratedFile: Sendable {
    let name: String
    let text: String
}

/// Why nothing is generated, in the form of a compiler's message, so that editors find the place.
struct GeneratorError: Error, CustomStringConvertible {
    let path: String
    let position: TextPosition
    let reason: String

    var description: String { "\(path):\(position): error: \(reason)" }
}

/// Turns definitions into Swift: a file for each interface, one for the types that they share, and one for
/// their errors.
///
/// The plugin names these files before this runs, from the definitions' file names alone:
/// `org.atrium.Votes.varlink` becomes `Votes.swift`; the others are `SharedTypes.swift` and
/// `SharedErrors.swift`.
struct Generator {
    private let interfaces: [Interface]
    private let types: [SharedDefinition]
    private let errors: [SharedDefinition]
    private let recursion: RecursiveTypes
    private let module: String

    private struct Interface {
        let path: String
        let definition: InterfaceDefinition
    }

    /// Reads the definitions, and checks their names and shared definitions across files.
    init(sources: [Source], module: String) throws(GeneratorError) {
        var interfaces: [Interface] = []
        for source in sources {
            do throws(DefinitionError) {
                let definition = try InterfaceDefinition(source.text)
                interfaces.append(Interface(path: source.path, definition: definition))
            } catch {
                throw GeneratorError(
                    path: source.path, position: error.position, reason: error.reason)
            }
        }
        self.interfaces = interfaces
        self.module = module
        types = try SharedDefinition.merge(
            interfaces.flatMap { interface in
                interface.definition.types.map {
                    SharedDefinition($0, of: interface.definition, in: interface.path)
                }
            })
        errors = try SharedDefinition.merge(
            interfaces.flatMap { interface in
                interface.definition.errors.map {
                    SharedDefinition($0, of: interface.definition, in: interface.path)
                }
            })
        recursion = RecursiveTypes(types)
        try checkNames()
    }

    /// The generated files: one for each source in their order, then the shared types and errors.
    func makeFiles() -> [GeneratedFile] {
        var files = interfaces.map { interface in
            let writer = InterfaceWriter(
                definition: interface.definition, module: module, recursion: recursion)
            return GeneratedFile(
                name: interface.definition.swiftName + ".swift", text: writer.makeText())
        }
        files.append(
            GeneratedFile(
                name: "SharedTypes.swift",
                text: SharedDefinition.makeText(
                    types: types, module: module, recursion: recursion)))
        let errors = ErrorWriter(
            errors: errors, types: TypeWriter(module: module, recursion: recursion))
        files.append(GeneratedFile(name: "SharedErrors.swift", text: errors.makeText()))
        return files
    }

    /// Checks that no two top-level names are the same, and that none hides a name that generated code uses.
    private func checkNames() throws(GeneratorError) {
        var taken = [ErrorWriter.name: "all errors"]
        let start = TextPosition(line: 1, column: 1)
        for interface in interfaces {
            let name = interface.definition.swiftName
            for name in [name, name + "Service"] {
                if let other = taken[name] {
                    throw GeneratorError(
                        path: interface.path, position: start,
                        reason: "\(name) would be generated for \(other) too")
                }
                taken[name] = interface.path
            }
            try check(interface.definition, in: interface.path)
        }
        for type in types {
            guard !recursion.isEndless(type.name) else {
                throw GeneratorError(
                    path: type.path, position: type.position,
                    reason:
                        "\(type.name) holds itself: no value has an end without a '?'")
            }
            if let other = taken[type.name] {
                throw GeneratorError(
                    path: type.path, position: type.position,
                    reason:
                        "the type \(type.name) is called like what is generated for \(other)"
                )
            }
        }
    }

    private func check(
        _ definition: InterfaceDefinition, in path: String
    ) throws(GeneratorError) {
        let names =
            definition.types.map { ($0.name, $0.position) }
            + definition.methods.map { ($0.name, $0.position) }
            + definition.errors.map { ($0.name, $0.position) }
        for (name, position) in names where SwiftNames.taken.contains(name) {
            throw GeneratorError(
                path: path, position: position,
                reason: "the generated code needs Swift's own \(name): choose another name")
        }
        for type in definition.types { try check(type.type, at: type.position, in: path) }
        for method in definition.methods {
            try check(.structure(method.parameters), at: method.position, in: path)
            try check(.structure(method.reply), at: method.position, in: path)
        }
        for error in definition.errors {
            try check(.structure(error.parameters), at: error.position, in: path)
        }
    }

    private func check(
        _ type: FieldType, at position: TextPosition, in path: String
    ) throws(GeneratorError) {
        switch type {
        case .structure(let structure):
            guard structure.fields.count <= 64 else {
                throw GeneratorError(
                    path: path, position: position,
                    reason: "\(structure.fields.count) fields are more than 64")
            }
            var nested: [String: String] = [:]
            for field in structure.fields where field.type.hasNestedType {
                let name = SwiftNames.nestedType(field.name)
                if let other = nested[name] {
                    throw GeneratorError(
                        path: path, position: field.position,
                        reason: "\(name) would be generated for \(other) too")
                }
                nested[name] = field.name
            }
            for field in structure.fields { try check(field.type, at: field.position, in: path) }
        case .array(let element), .map(let element), .nullable(let element):
            try check(element, at: position, in: path)
        default:
            break
        }
    }
}
