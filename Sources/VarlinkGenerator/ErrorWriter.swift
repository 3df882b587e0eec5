import VarlinkIDL

/// Writes the enumeration of all errors: one case for each name, whichever interfaces declare it.
struct ErrorWriter {
    /// The enumeration's name.
    static let name = "InterfaceError"

    let errors: [SharedDefinition]
    let types: TypeWriter

    func makeText() -> String {
        var source = SourceText()
        source.line("// Generated from the interface definitions: the errors that they declare.")
        guard !errors.isEmpty else { return source.text }
        source.line("")
        if errors.contains(where: { $0.type.holdsJSON }) { source.line("public import JSONCodec") }
        source.line("public import Varlink")
        source.line("")
        source.documentation(
            "An error that the interfaces declare; those of one name are the same error.")
        source.block("public enum \(Self.name): Error, Sendable, Hashable") { source in
            for error in errors {
                source.documentation(
                    error.documentation.isEmpty
                        ? "The error `\(error.name)`." : error.documentation)
                source.line("case \(error.caseName)\(payload(of: error))")
            }
            source.line("")
            writeReading(to: &source)
            source.line("")
            writeReply(to: &source)
        }
        return source.text
    }

    private func payload(of error: SharedDefinition) -> String {
        error.list { field in
            let nested = "\(error.structName).\(SwiftNames.nestedType(field.name))"
            return "\(SwiftNames.identifier(field.name)): "
                + types.swiftType(field.type, nested: nested)
        }
    }

    private func writeReading(to source: inout SourceText) {
        source.documentation(
            """
            Reads an error that a service replied with.

            - Parameter error: The error; nil is returned where no interface declares it, and where its
              parameters are not as declared.
            """)
        source.block("public init?(_ error: VarlinkRemoteError)") { source in
            source.line("switch error.name {")
            for error in errors {
                let names = error.interfaces.map { "\"\($0.name).\(error.name)\"" }
                source.line("case \(names.joined(separator: ", ")):")
                source.indented { source in
                    let read = "error.parameters(as: \(error.structName).self)"
                    let test = error.fields.isEmpty ? "\(read) != nil" : "let error = \(read)"
                    source.line("guard \(test) else { return nil }")
                    source.line("self = .\(error.caseName)\(error.arguments(of: "error."))")
                }
            }
            source.line("default: return nil")
            source.line("}")
        }
    }

    private func writeReply(to source: inout SourceText) {
        let interface = SwiftNames.local("interface", besides: errors.flatMap(\.fields))
        source.documentation(
            """
            The error as a service replies with it.

            - Parameter \(interface): The interface of the method that was called; where it does not declare
              the error, the first one that does gives the name.
            """)
        let parameter = interface == "interface" ? interface : "interface \(interface)"
        source.line("public func reply(")
        source.indented { $0.line("of \(parameter): any VarlinkInterface.Type") }
        source.block(") -> VarlinkRemoteError") { source in
            source.line("switch self {")
            for error in errors {
                let pattern = error.list { "let \(SwiftNames.identifier($0.name))" }
                let arguments = error.fields.isEmpty ? "()" : error.arguments(of: "")
                source.line("case .\(error.caseName)\(pattern):")
                source.indented {
                    $0.line(
                        "VarlinkRemoteError(\(error.structName)\(arguments), of: \(interface))")
                }
            }
            source.line("}")
        }
    }
}

extension SharedDefinition {
    fileprivate var fields: [Field] {
        if case .structure(let structure) = type { structure.fields } else { [] }
    }

    /// The case of an error: `ItemNotFound` becomes `itemNotFound`.
    fileprivate var caseName: String {
        SwiftNames.identifier(name.prefix(1).lowercased() + name.dropFirst())
    }

    /// The structure of an error as the first interface has it.
    fileprivate var structName: String { "\(interfaces[0].swiftName).\(name)" }

    /// The values of an error's fields, labelled; nothing where there are none.
    fileprivate func arguments(of value: String) -> String {
        list { field in
            let name = SwiftNames.identifier(field.name)
            return "\(name): \(value)\(name)"
        }
    }

    fileprivate func list(_ element: (Field) -> String) -> String {
        fields.isEmpty ? "" : "(" + fields.map(element).joined(separator: ", ") + ")"
    }
}

extension FieldType {
    /// Whether it contains a type of the module JSONCodec.
    fileprivate var holdsJSON: Bool {
        switch self {
        case .object, .any: true
        case .array(let element), .map(let element), .nullable(let element): element.holdsJSON
        case .structure(let structure): structure.fields.contains { $0.type.holdsJSON }
        case .bool, .int, .float, .string, .named, .enumeration: false
        }
    }
}
