import VarlinkIDL

/// How things of a definition are called in Swift.
enum SwiftNames {
    /// Names that the generated code uses for what Swift and its modules call so.
    static let taken: Set<String> = [
        "Any", "Array", "Bool", "CaseIterable", "Dictionary", "Double", "Error", "Hashable", "Int",
        "JSONError", "JSONKeySet", "JSONMemberSet", "JSONObject", "JSONReader", "JSONValue",
        "JSONWriter", "Optional", "Parameters", "Protocol", "Reply", "Self", "Sendable", "String",
        "Type", "VarlinkCall", "VarlinkCodable", "VarlinkErrorReply", "VarlinkInterface",
        "VarlinkMethod", "VarlinkRouter",
    ]

    private static let keywords: Set<String> = [
        "as", "associatedtype", "await", "break", "case", "catch", "class", "continue",
        "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false",
        "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout", "internal",
        "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public",
        "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch",
        "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]

    /// A field, a value or a function's name, in backticks where it is a keyword.
    static func identifier(_ name: String) -> String {
        keywords.contains(name) ? "`\(name)`" : name
    }

    /// The type of a field without a name of its own: the field's, capitalised.
    static func nestedType(_ field: String) -> String {
        let words = field.split(separator: "_")
        let name = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        return taken.contains(name) ? name + "Value" : name
    }

    /// A method's function: `SetHidden` becomes `setHidden`.
    static func function(_ method: String) -> String {
        identifier(method.prefix(1).lowercased() + method.dropFirst())
    }

    /// A name for what the generated code needs itself, kept clear of the fields' names.
    static func local(_ name: String, besides fields: [Field]) -> String {
        // No field's name ends in an underscore: the grammar forbids it.
        fields.contains { $0.name == name } ? name + "_" : name
    }
}

extension InterfaceDefinition {
    /// The name of the interface in Swift: the last part, capitalised, without hyphens.
    var swiftName: String {
        let last = name.split(separator: ".").last ?? ""
        return last.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }
            .joined()
    }
}
