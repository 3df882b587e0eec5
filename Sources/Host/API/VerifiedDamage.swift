/// What a verification found wrong with a component.
struct VerifiedDamage: Sendable, Hashable {
    private var first: Damage?
    private var others = 0

    /// Nothing.
    init() {}

    /// What was found, the gravest first.
    init(_ damage: [Damage]) {
        first = damage.first
        others = max(damage.count - 1, 0)
    }

    /// What is wrong, and what to do, for people; nil: nothing is.
    var problem: String? {
        guard let first else { return nil }
        let more = others > 0 ? " ('atriumctl verify' tells of \(others) more)" : ""
        return "is damaged, as it was verified: \(first.found)\(more). \(first.advice)"
    }
}
