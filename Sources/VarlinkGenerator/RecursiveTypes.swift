import VarlinkIDL

/// Which named types hold which others, or themselves, by value.
///
/// A Swift structure can't hold itself, not even as an optional. Arrays and dictionaries keep their
/// elements elsewhere, so that a type may hold itself through them.
struct RecursiveTypes {
    private let held: [String: Set<String>]
    private let heldForSure: [String: Set<String>]

    /// Computes which types hold which, from all named types.
    init(_ types: [SharedDefinition]) {
        held = Self.closure(types.map { ($0.name, $0.type.heldNames(throughNullable: true)) })
        heldForSure = Self.closure(
            types.map { ($0.name, $0.type.heldNames(throughNullable: false)) })
    }

    /// Whether a value of a type would have no end.
    func isEndless(_ name: String) -> Bool {
        heldForSure[name]?.contains(name) ?? false
    }

    /// Whether a nullable field must be kept elsewhere for the type that it is a part of to have an end.
    func isRecursive(_ type: FieldType, in owner: String?) -> Bool {
        guard let owner, case .nullable(let wrapped) = type else { return false }
        return wrapped.heldNames(throughNullable: true).contains { name in
            name == owner || held[name]?.contains(owner) == true
        }
    }

    private static func closure(_ edges: [(String, Set<String>)]) -> [String: Set<String>] {
        let next = Dictionary(edges) { first, _ in first }
        return next.mapValues { start in
            var found = start
            var waiting = Array(start)
            while let name = waiting.popLast() {
                for other in next[name] ?? [] where found.insert(other).inserted {
                    waiting.append(other)
                }
            }
            return found
        }
    }
}

extension FieldType {
    /// The named types that a value of this one holds within itself.
    fileprivate func heldNames(throughNullable: Bool) -> Set<String> {
        switch self {
        case .named(let name): [name]
        case .structure(let structure):
            structure.fields.reduce(into: []) { names, field in
                names.formUnion(field.type.heldNames(throughNullable: throughNullable))
            }
        case .nullable(let type): throughNullable ? type.heldNames(throughNullable: true) : []
        case .bool, .int, .float, .string, .object, .any, .enumeration, .array, .map: []
        }
    }
}
