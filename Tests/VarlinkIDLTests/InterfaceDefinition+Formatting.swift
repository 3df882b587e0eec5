import VarlinkIDL

extension InterfaceDefinition {
    /// The definition laid out anew: members apart by a blank line, what fits on a line of 100
    /// characters on one, and comments above what they are about.
    ///
    /// Reading it gives the same definition, but for positions. Comments that document nothing are lost.
    var formatted: String {
        var layout = Layout()
        layout.add(documentation)
        layout.text += "interface \(name)\n"
        for member in inOrder {
            layout.text += "\n"
            switch member {
            case .type(let type):
                layout.add(type.documentation)
                layout.text += "type \(type.name) "
                layout.add(type.type)
            case .method(let method):
                layout.add(method.documentation)
                layout.text += "method \(method.name)"
                layout.add(.structure(method.parameters), reserving: 4)
                layout.text += " -> "
                layout.add(.structure(method.reply))
            case .error(let error):
                layout.add(error.documentation)
                layout.text += "error \(error.name) "
                layout.add(.structure(error.parameters))
            }
            layout.text += "\n"
        }
        return layout.text
    }

    private enum Member {
        case type(TypeDefinition)
        case method(MethodDefinition)
        case error(ErrorDefinition)

        var position: TextPosition {
            switch self {
            case .type(let type): type.position
            case .method(let method): method.position
            case .error(let error): error.position
            }
        }
    }

    /// Types, methods and errors, as the text mixes them.
    private var inOrder: [Member] {
        (types.map(Member.type) + methods.map(Member.method) + errors.map(Member.error))
            .sorted { $0.position < $1.position }
    }
}

/// A text that grows, indented by two spaces a level.
private struct Layout {
    var text = ""
    private var indent = ""

    private static let width = 100

    /// Adds a comment, with the indentation of what follows it.
    mutating func add(_ documentation: String) {
        guard !documentation.isEmpty else { return }
        for line in documentation.split(separator: "\n", omittingEmptySubsequences: false) {
            text += "\(line.isEmpty ? "#" : "# \(line)")\n\(indent)"
        }
    }

    /// Adds a type: on this line if nothing in it is documented and it fits, with room for what
    /// follows.
    mutating func add(_ type: FieldType, reserving room: Int = 1) {
        let line = type.description
        let column = text.utf8.reversed().prefix { $0 != UInt8(ascii: "\n") }.count
        if !type.isDocumented, column + line.utf8.count + room <= Layout.width {
            text += line
            return
        }
        switch type {
        case .structure(let structure):
            addLines(structure.fields.map { ($0.documentation, $0.name, $0.type) })
        case .enumeration(let enumeration):
            addLines(enumeration.values.map { ($0.documentation, $0.name, nil) })
        case .array(let element):
            text += "[]"
            add(element, reserving: room)
        case .map(let element):
            text += "[string]"
            add(element, reserving: room)
        case .nullable(let type):
            text += "?"
            add(type, reserving: room)
        case .bool, .int, .float, .string, .object, .any, .named:
            text += line
        }
    }

    /// Adds fields or values in parentheses, each on a line of its own.
    private mutating func addLines(
        _ lines: [(documentation: String, name: String, type: FieldType?)]
    ) {
        guard !lines.isEmpty else {
            text += "()"
            return
        }
        text += "("
        let outer = indent
        indent += "  "
        for (index, line) in lines.enumerated() {
            text += (index == 0 ? "\n" : ",\n") + indent
            add(line.documentation)
            text += line.name
            guard let type = line.type else { continue }
            text += ": "
            add(type)
        }
        indent = outer
        text += "\n\(indent))"
    }
}

extension FieldType {
    /// Whether a field or a value in it has a comment.
    fileprivate var isDocumented: Bool {
        switch self {
        case .structure(let structure):
            structure.fields.contains { !$0.documentation.isEmpty || $0.type.isDocumented }
        case .enumeration(let enumeration):
            enumeration.values.contains { !$0.documentation.isEmpty }
        case .array(let element), .map(let element), .nullable(let element): element.isDocumented
        case .bool, .int, .float, .string, .object, .any, .named: false
        }
    }
}
