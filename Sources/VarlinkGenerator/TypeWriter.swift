import VarlinkIDL

/// Writes structures and enumerations.
struct TypeWriter {
    let module: String

    /// Which types hold themselves.
    let recursion: RecursiveTypes

    /// The named type that is written; nil for the parameters of a method or an error.
    var owner: String?

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

    /// Writes a structure that conforms to some protocols besides `Hashable`; an error has a name on the wire.
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
                writeProperty(field, to: &source)
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

    private func writeProperty(_ field: Field, to source: inout SourceText) {
        let head = "public var \(SwiftNames.identifier(field.name)): \(swiftType(of: field))"
        guard isRecursive(field) else { return source.line(head) }
        let box = SwiftNames.box(field.name)
        source.block(head) { source in
            source.line("get { \(box).first }")
            source.line("set { \(box) = newValue.map { [$0] } ?? [] }")
        }
        source.line("")
        source.line("// A structure can't hold itself: at most one element, kept elsewhere.")
        let element = swiftType(
            field.type.wrapped ?? field.type, nested: SwiftNames.nestedType(field.name))
        source.line("private var \(box): [\(element)]")
    }

    /// Whether a field is kept in an array of at most one element.
    func isRecursive(_ field: Field) -> Bool {
        recursion.isRecursive(field.type, in: owner)
    }

    private func write(
        _ enumeration: Enumeration, name: String, documentation: String,
        to source: inout SourceText
    ) {
        source.documentation(documentation)
        source.block("public enum \(name): String, VarlinkCodable, Hashable, CaseIterable") {
            source in
            for value in enumeration.values {
                source.documentation(
                    value.documentation.isEmpty ? "`\(value.name)`" : value.documentation)
                source.line("case \(SwiftNames.enumerationCase(value.name))")
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

    func swiftType(of field: Field) -> String {
        swiftType(field.type, nested: SwiftNames.nestedType(field.name))
    }

    /// The Swift type for a type.
    ///
    /// Named types are written with the module's name: a method or an error may have the name of a type of
    /// another interface.
    func swiftType(_ type: FieldType, nested: String) -> String {
        switch type {
        case .bool: "Bool"
        case .int: "Int"
        case .float: "Double"
        case .string: "String"
        case .object: "JSONObject"
        case .any: "JSONValue"
        case .named(let name): "\(module)::\(name)"
        case .structure, .enumeration: nested
        case .array(let element): "[\(swiftType(element, nested: nested))]"
        case .map(.int): "JSONCounts"
        case .map(let element): "[String: \(swiftType(element, nested: nested))]"
        case .nullable(let type): swiftType(type, nested: nested) + "?"
        }
    }
}

extension FieldType {
    /// Whether it contains an unnamed structure or enumeration.
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
