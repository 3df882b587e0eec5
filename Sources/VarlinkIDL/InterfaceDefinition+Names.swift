extension InterfaceDefinition {
    /// Sees to it that names are unique and that named types exist.
    func checkNames() throws(DefinitionError) {
        try checkUnique(types.map { ($0.name, $0.position) }, what: "type")
        try checkUnique(methods.map { ($0.name, $0.position) }, what: "method")
        try checkUnique(errors.map { ($0.name, $0.position) }, what: "error")
        for type in types { try checkReferences(type.type, at: type.position) }
        for method in methods {
            try checkReferences(.structure(method.parameters), at: method.position)
            try checkReferences(.structure(method.reply), at: method.position)
        }
        for error in errors {
            try checkReferences(.structure(error.parameters), at: error.position)
        }
    }

    private func checkUnique(
        _ names: [(name: String, position: TextPosition)], what: String
    ) throws(DefinitionError) {
        var lines: [String: Int] = [:]
        for (name, position) in names {
            if let line = lines[name] {
                throw DefinitionError(
                    position: position, reason: "the \(what) \(name) is defined on line \(line) too"
                )
            }
            lines[name] = position.line
        }
    }

    private func checkReferences(
        _ type: FieldType, at position: TextPosition
    ) throws(DefinitionError) {
        switch type {
        case .named(let name):
            guard types.contains(where: { $0.name == name }) else {
                throw DefinitionError(position: position, reason: "there is no type \(name)")
            }
        case .structure(let structure):
            for field in structure.fields {
                try checkReferences(field.type, at: field.position)
            }
        case .array(let element), .map(let element), .nullable(let element):
            try checkReferences(element, at: position)
        case .bool, .int, .float, .string, .object, .any, .enumeration:
            break
        }
    }
}
