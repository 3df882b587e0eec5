/// An interface as its definition says: its types, methods and errors, in the order of the text.
///
/// As UAPI.20 v0.1 has it. Types, methods and errors share their names, which are unique, and every type
/// that is named exists.
public struct InterfaceDefinition: Sendable, Hashable {
    /// Its name, such as `org.example.ftl`.
    public let name: String

    /// The comment above it, without the number signs; empty where there is none.
    public let documentation: String

    /// The text that was read, as it was: what the service sends its clients.
    public let text: String

    /// Its named types.
    public let types: [TypeDefinition]

    /// Its methods.
    public let methods: [MethodDefinition]

    /// Its errors.
    public let errors: [ErrorDefinition]
}

extension InterfaceDefinition {
    /// Reads a definition.
    ///
    /// - Parameter text: The whole text of a `.varlink` file.
    /// - Throws: ``DefinitionError`` with the line and the column, where it breaks the grammar, names
    ///   something twice or names a type that it does not define.
    public init(_ text: String) throws(DefinitionError) {
        var parser = Parser(text)
        self = try parser.interface()
        try checkUnique()
        try checkDefined(parser.references)
    }
}

/// A named type: a structure or an enumeration.
public struct TypeDefinition: Sendable, Hashable {
    /// Its name.
    public let name: String

    /// The comment above it; empty where there is none.
    public let documentation: String

    /// What it is: a ``FieldType/structure(_:)`` or an ``FieldType/enumeration(_:)``.
    public let type: FieldType

    /// Where its name stands.
    public let position: TextPosition
}

/// A method: what it takes and what it answers.
public struct MethodDefinition: Sendable, Hashable {
    /// Its name, without the interface's.
    public let name: String

    /// The comment above it; empty where there is none.
    public let documentation: String

    /// What a call carries.
    public let parameters: Structure

    /// What a reply carries.
    public let reply: Structure

    /// Where its name stands.
    public let position: TextPosition
}

/// An error that methods may be answered with.
public struct ErrorDefinition: Sendable, Hashable {
    /// Its name, without the interface's.
    public let name: String

    /// The comment above it; empty where there is none.
    public let documentation: String

    /// What it carries.
    public let parameters: Structure

    /// Where its name stands.
    public let position: TextPosition
}

/// A place in a text, as editors count.
public struct TextPosition: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The line, from 1.
    public let line: Int

    /// The column in characters, from 1.
    public let column: Int

    /// Makes a position, from 1.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// Both, as `line:column`.
    public var description: String { "\(line):\(column)" }

    /// Whether one stands before the other.
    public static func < (one: TextPosition, other: TextPosition) -> Bool {
        (one.line, one.column) < (other.line, other.column)
    }
}

/// Why a definition was refused.
public struct DefinitionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where.
    public let position: TextPosition

    /// What is wrong, such as `expected a colon, found ','`.
    public let reason: String

    /// Both, as `line:column: reason`.
    public var description: String { "\(position): \(reason)" }
}
