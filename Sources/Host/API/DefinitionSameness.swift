import AtriumKit

// `==` on strings ignores how an accent is encoded. A definition that differs in nothing else has still changed, so
// the texts are compared byte by byte.

extension ContainerDefinition {
    /// Whether both are byte for byte the same, including their source.
    func isSame(as other: ContainerDefinition) -> Bool {
        self == other && title.isSame(as: other.title) && source.isSame(as: other.source)
            && zip(components, other.components).allSatisfy { $0.isSame(as: $1) }
            && scopes.isSame(as: other.scopes) && delegate.isSame(as: other.delegate)
            && fields.isSame(as: other.fields)
    }
}

extension [Field] {
    /// Whether both declare the same fields, byte for byte.
    func isSame(as other: [Field]) -> Bool {
        self == other
            && zip(self, other).allSatisfy {
                $0.title.isSame(as: $1.title) && $0.unit.isSame(as: $1.unit)
                    && $0.summary.isSame(as: $1.summary)
            }
    }
}

extension DelegateDefinition? {
    /// Whether both name the same plugin with the same settings, or both are nil.
    func isSame(as other: DelegateDefinition?) -> Bool {
        self == other
            && Value.object(self?.settings ?? [:]).isSame(as: .object(other?.settings ?? [:]))
    }
}

extension ComponentDefinition {
    func isSame(as other: ComponentDefinition) -> Bool {
        self == other && title.isSame(as: other.title) && empty.isSame(as: other.empty)
            && hasSameSettings(as: other)
    }

    /// Whether both have the same settings, byte for byte.
    func hasSameSettings(as other: ComponentDefinition) -> Bool {
        settings == other.settings && Value.object(settings).isSame(as: .object(other.settings))
    }
}

extension [ScopeDefinition] {
    func isSame(as other: [ScopeDefinition]) -> Bool {
        self == other
            && zip(self, other).allSatisfy {
                $0.title.isSame(as: $1.title) && $0.delegate.isSame(as: $1.delegate)
            }
    }
}

extension String? {
    /// Whether both are the same bytes, or both are nil.
    func isSame(as other: String?) -> Bool {
        map { Array($0.utf8) } == other.map { Array($0.utf8) }
    }
}
