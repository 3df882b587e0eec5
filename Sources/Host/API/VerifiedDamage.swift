/// The damage that a verification found in a component.
struct VerifiedDamage: Sendable, Hashable {
    private var first: Damage?
    private var others = 0

    init() {}

    /// The damage that was found, the worst first.
    init(_ damage: [Damage]) {
        first = damage.first
        others = max(damage.count - 1, 0)
    }

    /// The damage and what to do about it, for people; nil: there is none.
    var problem: String? {
        guard let first else { return nil }
        let more = others > 0 ? " ('atriumctl verify' lists \(others) more)" : ""
        return "is damaged, as the last verification found: \(first.found)\(more). \(first.advice)"
    }
}
