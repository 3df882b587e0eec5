import VarlinkIDL

/// How things of a definition are called in Swift.
enum SwiftNames {
    /// Names that the generated code uses for what Swift and its modules call so.
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

    /// What means something else behind a dot, or that the compiler makes by itself.
    private static let members: Set<String> = ["hashValue", "init", "self"]

    /// A field or a function's name, in backticks where it is a keyword, with an underscore behind it
    /// where that does not help.
    ///
    /// No name of a definition ends in an underscore: the grammar forbids it.
    static func identifier(_ name: String) -> String {
        if members.contains(name) || taken.contains(name) { return name + "_" }
        return keywords.contains(name) ? "`\(name)`" : name
    }

    /// A case of an enumeration, with its value where that is another one.
    static func enumerationCase(_ value: String) -> String {
        let isTaken = ["allCases", "rawValue"].contains(value)
        let name = isTaken ? value + "_" : identifier(value)
        return name.hasSuffix("_") ? "\(name) = \"\(value)\"" : name
    }

    /// Where a field keeps a value of the type that it is a part of.
    static func box(_ field: String) -> String { field + "_box" }

    /// The type of a field without a name of its own: the field's, capitalised.
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

    /// A name for what the generated code needs itself, kept clear of the fields' names.
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
