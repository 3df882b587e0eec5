extension InterfaceDefinition {
    /// Sees to it that names are unique and that named types exist.
    func checkNames() throws(DefinitionError) {
        try checkUnique()
        let known = Set(types.map(\.name))
        for type in types { try checkReferences(type.type, to: known, at: type.position) }
        for method in methods {
            try checkReferences(.structure(method.parameters), to: known, at: method.position)
            try checkReferences(.structure(method.reply), to: known, at: method.position)
        }
        for error in errors {
            try checkReferences(.structure(error.parameters), to: known, at: error.position)
        }
    }

    private struct Member {
        let what: String
        let name: String
        let position: TextPosition
    }

    private func checkUnique() throws(DefinitionError) {
        let members =
            types.map { Member(what: "type", name: $0.name, position: $0.position) }
            + methods.map { Member(what: "method", name: $0.name, position: $0.position) }
            + errors.map { Member(what: "error", name: $0.name, position: $0.position) }
        var known: [String: Member] = [:]
        for member in members.sorted(by: { $0.position < $1.position }) {
            if let first = known[member.name] {
                throw DefinitionError(
                    position: member.position,
                    reason: "the \(member.what) \(excerpt(member.name)) is called like the "
                        + "\(first.what) on line \(first.position.line)")
            }
            known[member.name] = member
        }
    }

    private func checkReferences(
        _ type: FieldType, to known: Set<String>, at position: TextPosition
    ) throws(DefinitionError) {
        switch type {
        case .named(let name):
            guard known.contains(name) else {
                throw DefinitionError(
                    position: position, reason: "there is no type \(excerpt(name))")
            }
        case .structure(let structure):
            for field in structure.fields {
                try checkReferences(field.type, to: known, at: field.position)
            }
        case .array(let element), .map(let element), .nullable(let element):
            try checkReferences(element, to: known, at: position)
        case .bool, .int, .float, .string, .object, .any, .enumeration:
            break
        }
    }
}

/// The beginning of what a hostile text may have made very long.
func excerpt(_ text: String) -> String {
    let length = 60
    return text.utf8.count <= length ? text : text.prefix(length) + "…"
}
