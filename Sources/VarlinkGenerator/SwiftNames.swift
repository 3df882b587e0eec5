import VarlinkIDL

/// Swift names for what a definition names.
enum SwiftNames {
    /// Names of Swift and of its modules that generated code refers to, and that no definition may hide.
    static let taken: Set<String> = [
        "Any", "Array", "Bool", "CaseIterable", "Dictionary", "Double", "Error", "Hashable", "Int",
        "JSONError", "JSONKeySet", "JSONMemberSet", "JSONObject", "JSONReader", "JSONValue",
        "JSONWriter", "Optional", "Parameters", "Protocol", "Reply", "Self", "Sendable", "String",
        "Type", "VarlinkCall", "VarlinkCodable", "VarlinkErrorReply", "VarlinkInterface",
        "VarlinkMethod", "VarlinkRemoteError", "VarlinkRouter",
    ]

    private static let keywords: Set<String> = [
        "as", "associatedtype", "await", "break", "case", "catch", "class", "continue",
        "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false",
        "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout", "internal",
        "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public",
        "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch",
        "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]

    /// Names that mean something else behind a dot, or that the compiler synthesises.
    private static let members: Set<String> = ["hashValue", "init", "self"]

    /// The name of a field or a function: in backticks where it is a keyword, with an underscore appended where
    /// backticks do not help.
    ///
    /// No name of a definition ends in an underscore: the grammar forbids it.
    static func identifier(_ name: String) -> String {
        if members.contains(name) || taken.contains(name) { return name + "_" }
        return keywords.contains(name) ? "`\(name)`" : name
    }

    /// A case of an enumeration, with its raw value where that differs from the name.
    static func enumerationCase(_ value: String) -> String {
        let isTaken = ["allCases", "rawValue"].contains(value)
        let name = isTaken ? value + "_" : identifier(value)
        return name.hasSuffix("_") ? "\(name) = \"\(value)\"" : name
    }

    /// The stored property behind a field whose type is that of the structure itself.
    static func box(_ field: String) -> String { field + "_box" }

    /// The name of a field's unnamed type: the field's name, capitalised.
    static func nestedType(_ field: String) -> String {
        let words = field.split(separator: "_")
        let name = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        return taken.contains(name) || name == field ? name + "Value" : name
    }

    /// A method's function: `SetHidden` becomes `setHidden`.
    static func function(_ method: String) -> String {
        let name = method.prefix(1).lowercased() + method.dropFirst()
        return name == "init" ? "`init`" : identifier(name)
    }

    /// The name of a local variable in generated code, which differs from those of the fields.
    ///
    /// No name of a definition ends in an underscore: the grammar forbids it.
    static func local(_ name: String, besides fields: [Field]) -> String {
        fields.contains { $0.name == name } ? name + "_" : name
    }
}

extension InterfaceDefinition {
    /// The name of the interface in Swift: the last part, capitalised, without hyphens.
    ///
    /// It may begin with a digit, which Swift's names may not: `com.example.0day` is `Interface0day`.
    var swiftName: String {
        let last = name.split(separator: ".").last ?? ""
        let words = last.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }
        let name = words.joined()
        return name.first?.isNumber == true ? "Interface" + name : name
    }
}
