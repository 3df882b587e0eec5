/// Reads the grammar of the interface definition language, top down.
struct Parser {
    private let text: String
    private var scanner: Scanner
    private var depth = 0

    /// The types that were named, and where.
    private(set) var references: [(name: String, position: TextPosition)] = []

    /// Deeper nesting of types than anyone writes; it keeps hostile texts from exhausting the stack.
    private static let depthLimit = 64

    init(_ text: String) {
        self.text = text
        scanner = Scanner(text)
    }

    /// The whole text: the interface's name, then its members, each on a new line.
    mutating func interface() throws(DefinitionError) -> InterfaceDefinition {
        scanner.skipBlanks()
        let documentation = self.documentation
        let start = scanner.position
        let found = scanner.found
        guard scanner.takeWord() == "interface" else {
            throw DefinitionError(
                position: start, reason: "expected 'interface' first, found \(found)")
        }
        scanner.skipBlanks()
        let name = try interfaceName()
        var types: [TypeDefinition] = []
        var methods: [MethodDefinition] = []
        var errors: [ErrorDefinition] = []
        scanner.skipBlanks()
        guard scanner.next != nil else { throw unexpected("a type, a method or an error") }
        while scanner.next != nil {
            guard scanner.isOnNewLine else { throw unexpected("the end of the line") }
            let start = scanner.position
            let found = scanner.found
            let documentation = self.documentation
            switch scanner.takeWord() {
            case "type": types.append(try type(documentation))
            case "method": methods.append(try method(documentation))
            case "error": errors.append(try error(documentation))
            default:
                throw DefinitionError(
                    position: start, reason: "expected 'type', 'method' or 'error', found \(found)")
            }
        }
        return InterfaceDefinition(
            name: name, documentation: documentation, text: text, types: types, methods: methods,
            errors: errors)
    }

    private var documentation: String { scanner.comment.joined(separator: "\n") }

    private mutating func type(_ documentation: String) throws(DefinitionError) -> TypeDefinition {
        let (name, position) = try memberName()
        let type = try group()
        scanner.skipBlanks()
        return TypeDefinition(
            name: name, documentation: documentation, type: type, position: position)
    }

    private mutating func method(
        _ documentation: String
    ) throws(DefinitionError) -> MethodDefinition {
        let (name, position) = try memberName()
        let parameters = try structure()
        scanner.skipBlanks()
        guard scanner.consume("->") else { throw unexpected("'->'") }
        scanner.skipBlanks()
        let reply = try structure()
        scanner.skipBlanks()
        return MethodDefinition(
            name: name, documentation: documentation, parameters: parameters, reply: reply,
            position: position)
    }

    private mutating func error(
        _ documentation: String
    ) throws(DefinitionError) -> ErrorDefinition {
        let (name, position) = try memberName()
        guard scanner.next == "(" else {
            throw unexpected("'(': an error that carries nothing ends in '()'")
        }
        let parameters = try structure()
        scanner.skipBlanks()
        return ErrorDefinition(
            name: name, documentation: documentation, parameters: parameters, position: position)
    }

    private mutating func structure() throws(DefinitionError) -> Structure {
        let position = scanner.position
        guard case .structure(let structure) = try group() else {
            throw DefinitionError(
                position: position, reason: "expected fields with types, found an enumeration")
        }
        return structure
    }

    /// What stands in parentheses: `name: type` makes a structure, bare names an enumeration.
    private mutating func group() throws(DefinitionError) -> FieldType {
        guard scanner.consume("(") else { throw unexpected("'('") }
        scanner.skipBlanks()
        if scanner.consume(")") { return .structure(Structure(fields: [])) }
        var names: Set<String> = []
        let (name, documentation, position) = try fieldName(besides: &names)
        guard scanner.next == ":" else {
            let first = EnumerationValue(
                name: name, documentation: documentation, position: position)
            return .enumeration(try enumeration(from: first, &names))
        }
        let first = Field(
            name: name, documentation: documentation, type: try typeOfField(), position: position)
        return .structure(try structure(from: first, &names))
    }

    /// What follows the first value, to the closing parenthesis.
    private mutating func enumeration(
        from first: EnumerationValue, _ names: inout Set<String>
    ) throws(DefinitionError) -> Enumeration {
        var values = [first]
        while scanner.consume(",") {
            scanner.skipBlanks()
            let (name, documentation, position) = try fieldName(besides: &names)
            values.append(
                EnumerationValue(name: name, documentation: documentation, position: position))
        }
        guard scanner.consume(")") else { throw unexpected("a comma or ')'") }
        return Enumeration(values: values)
    }

    /// What follows the first field, to the closing parenthesis.
    private mutating func structure(
        from first: Field, _ names: inout Set<String>
    ) throws(DefinitionError) -> Structure {
        var fields = [first]
        while scanner.consume(",") {
            scanner.skipBlanks()
            let (name, documentation, position) = try fieldName(besides: &names)
            guard scanner.next == ":" else {
                throw unexpected("a colon and a type for \(excerpt(name))")
            }
            fields.append(
                Field(
                    name: name, documentation: documentation, type: try typeOfField(),
                    position: position))
        }
        guard scanner.consume(")") else { throw unexpected("a comma or ')'") }
        return Structure(fields: fields)
    }

    /// The colon and the type behind a field's name, and the blanks behind them.
    private mutating func typeOfField() throws(DefinitionError) -> FieldType {
        _ = scanner.consume(":")
        scanner.skipBlanks()
        let type = try fieldType()
        scanner.skipBlanks()
        return type
    }

    private mutating func fieldType() throws(DefinitionError) -> FieldType {
        guard depth < Parser.depthLimit else {
            throw DefinitionError(
                position: scanner.position,
                reason: "types nest deeper than \(Parser.depthLimit) levels")
        }
        depth += 1
        defer { depth -= 1 }
        if scanner.consume("?") {
            guard scanner.next != "?" else { throw unexpected("a type behind '?'") }
            return .nullable(try fieldType())
        }
        if scanner.consume("[]") { return .array(try fieldType()) }
        if scanner.consume("[string]") { return .map(try fieldType()) }
        if scanner.next == "(" { return try group() }
        return try wordType()
    }

    /// A type that is one word: one of the language's or the name of a defined one.
    private mutating func wordType() throws(DefinitionError) -> FieldType {
        let start = scanner
        let word = scanner.takeWord(with: "_")
        switch word {
        case "bool": return .bool
        case "int": return .int
        case "float": return .float
        case "string": return .string
        case "object": return .object
        case "any": return .any
        default:
            guard let first = word.first, first.isUppercase else {
                scanner = start
                throw unexpected("a type")
            }
            guard !word.contains("_") else {
                throw DefinitionError(
                    position: start.position,
                    reason: "\(excerpt(word)) is not the name of a type: no underscores")
            }
            references.append((word, start.position))
            return .named(word)
        }
    }

    /// The name of a type, method or error, and the blanks behind it.
    private mutating func memberName() throws(DefinitionError) -> (String, TextPosition) {
        scanner.skipBlanks()
        let position = scanner.position
        guard let first = scanner.next, ("A"..."Z").contains(first) else {
            throw unexpected("a name that begins with a capital letter")
        }
        let name = scanner.takeWord()
        scanner.skipBlanks()
        return (name, position)
    }

    /// The name of a field or a value, the comment above it, and the blanks behind it.
    private mutating func fieldName(
        besides names: inout Set<String>
    ) throws(DefinitionError) -> (String, documentation: String, TextPosition) {
        let documentation = self.documentation
        let position = scanner.position
        guard let first = scanner.next, Scanner.isLetter(first) else {
            throw unexpected("the name of a field")
        }
        let name = scanner.takeWord(with: "_")
        guard !name.hasSuffix("_"), !name.contains("__") else {
            throw DefinitionError(
                position: position,
                reason: "\(excerpt(name)) is not the name of a field: "
                    + "single underscores, within it only")
        }
        guard names.insert(name).inserted else {
            throw DefinitionError(
                position: position, reason: "\(excerpt(name)) stands here twice")
        }
        scanner.skipBlanks()
        return (name, documentation, position)
    }

    /// A reversed domain name: at least two parts, the first beginning with a letter.
    private mutating func interfaceName() throws(DefinitionError) -> String {
        let position = scanner.position
        let name = scanner.takeWord(with: ".-")
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        let areFine = parts.allSatisfy { part in
            !part.isEmpty && !part.hasPrefix("-") && !part.hasSuffix("-")
        }
        guard parts.count > 1, areFine, let first = name.unicodeScalars.first,
            Scanner.isLetter(first)
        else {
            throw DefinitionError(
                position: position,
                reason: "expected the interface's name, such as org.example.ftl, found "
                    + (name.isEmpty ? scanner.found : "'\(excerpt(name))'"))
        }
        return name
    }

    private func unexpected(_ expected: String) -> DefinitionError {
        DefinitionError(
            position: scanner.position, reason: "expected \(expected), found \(scanner.found)")
    }
}
