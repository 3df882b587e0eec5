import VarlinkIDL

/// Writes structures and enumerations.
struct TypeWriter {
    let module: String

    /// Writes a type with a name.
    func write(
        _ type: FieldType, name: String, documentation: String, to source: inout SourceText
    ) {
        switch type {
        case .enumeration(let enumeration):
            write(enumeration, name: name, documentation: documentation, to: &source)
        case .structure(let structure):
            write(structure, name: name, documentation: documentation, to: &source)
        case .array(let element), .map(let element), .nullable(let element):
            write(element, name: name, documentation: documentation, to: &source)
        case .bool, .int, .float, .string, .object, .any, .named:
            break
        }
    }

    /// Writes a structure.
    ///
    /// - Parameters:
    ///   - structure: Its fields.
    ///   - name: What it is called.
    ///   - documentation: What it is.
    ///   - protocols: What it conforms to, besides `Hashable`.
    ///   - fullName: What an error is called on the wire; nil for what is none.
    ///   - source: Where to.
    func write(
        _ structure: Structure, name: String, documentation: String,
        protocols: String = "VarlinkCodable", fullName: String? = nil,
        to source: inout SourceText
    ) {
        source.documentation(documentation)
        source.block("public struct \(name): \(protocols), Hashable") { source in
            if let fullName {
                source.line("/// The error's full name.")
                source.line("public static let name = \"\(fullName)\"")
                source.line("")
            }
            for field in structure.fields {
                source.documentation(
                    field.documentation.isEmpty ? "`\(field.name)`" : field.documentation)
                source.line(
                    "public var \(SwiftNames.identifier(field.name)): \(swiftType(of: field))")
                source.line("")
            }
            StructureWriter(structure: structure, types: self).write(to: &source)
            for field in structure.fields where field.type.hasNestedType {
                source.line("")
                write(
                    field.type, name: SwiftNames.nestedType(field.name),
                    documentation: "What `\(field.name)` holds.", to: &source)
            }
        }
    }

    private func write(
        _ enumeration: Enumeration, name: String, documentation: String,
        to source: inout SourceText
    ) {
        source.documentation(documentation)
        source.block("public enum \(name): String, VarlinkCodable, Hashable, CaseIterable") {
            source in
            for value in enumeration.values {
                source.line("/// `\(value)`")
                source.line("case \(SwiftNames.identifier(value))")
            }
            source.line("")
            source.line("/// Reads one of the values.")
            source.block("public init(json: inout JSONReader) throws(JSONError)") { source in
                source.line("self = try json.readCase(of: Self.self)")
            }
            source.line("")
            source.line("/// Writes the value.")
            source.block("public func write(to json: inout JSONWriter)") { source in
                source.line("json.string(rawValue)")
            }
        }
    }

    /// The Swift type of a field.
    func swiftType(of field: Field) -> String {
        swiftType(field.type, nested: SwiftNames.nestedType(field.name))
    }

    /// The Swift type for a type.
    ///
    /// Named types are written with the module's name: a method may be called like a type.
    func swiftType(_ type: FieldType, nested: String) -> String {
        switch type {
        case .bool: "Bool"
        case .int: "Int"
        case .float: "Double"
        case .string: "String"
        case .object: "JSONObject"
        case .any: "JSONValue"
        case .named(let name): "\(module).\(name)"
        case .structure, .enumeration: nested
        case .array(let element): "[\(swiftType(element, nested: nested))]"
        case .map(let element): "[String: \(swiftType(element, nested: nested))]"
        case .nullable(let type): swiftType(type, nested: nested) + "?"
        }
    }
}

extension FieldType {
    /// Whether there is a structure or an enumeration without a name in it.
    var hasNestedType: Bool {
        switch self {
        case .structure, .enumeration: true
        case .array(let element), .map(let element), .nullable(let element): element.hasNestedType
        case .bool, .int, .float, .string, .object, .any, .named: false
        }
    }

    /// The type without the question mark; nil for one that has none.
    var wrapped: FieldType? {
        if case .nullable(let type) = self { type } else { nil }
    }
}
