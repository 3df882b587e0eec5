extension InterfaceDefinition {
    /// Sees to it that types that are named exist.
    func checkDefined(
        _ references: [(name: String, position: TextPosition)]
    ) throws(DefinitionError) {
        let known = Set(types.map(\.name))
        for (name, position) in references where !known.contains(name) {
            throw DefinitionError(
                position: position, reason: "there is no type \(excerpt(name))")
        }
    }

    private struct Member {
        let what: String
        let name: String
        let position: TextPosition
    }

    /// Sees to it that no two members are called the same.
    func checkUnique() throws(DefinitionError) {
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
}

/// The beginning of what a hostile text may have made very long.
func excerpt(_ text: String) -> String {
    let length = 60
    return text.utf8.count <= length ? text : text.prefix(length) + "…"
}
