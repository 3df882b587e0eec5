import AtriumKit

/// What filters components answer, once for all views that ask the same.
///
/// An answer is kept as long as screens follow what happened: views that are shown later ask again, for a
/// component may offer something else without having been told of other values.
struct SharedAnswers {
    struct Key: Hashable {
        var component: ObjectIdentifier
        /// The values that the component was told of before it was asked.
        var values: UInt64?
        var query: ComponentQuery
    }

    /// So many are kept: what single views have selected is worth less.
    private static let most = 256

    private(set) var known: [Key: ComponentAnswer] = [:]
    private var waiting: [Key: [(Result<ComponentAnswer, HostError>) -> Void]] = [:]

    /// Lets somebody wait for an answer.
    ///
    /// - Returns: whether they are the first, and ask.
    mutating func wait(
        for key: Key, _ done: @escaping (Result<ComponentAnswer, HostError>) -> Void
    ) -> Bool {
        waiting[key, default: []].append(done)
        return waiting[key]?.count == 1
    }

    /// Takes an answer in, and gives those who wait for it.
    mutating func take(
        _ answer: Result<ComponentAnswer, HostError>, for key: Key, isKept: Bool
    ) -> [(Result<ComponentAnswer, HostError>) -> Void] {
        if isKept, case .success(let answer) = answer {
            if known.count >= Self.most { known.removeAll() }
            known[key] = answer
        }
        return waiting.removeValue(forKey: key) ?? []
    }

    /// Screens have followed what happened.
    mutating func forget() { known.removeAll() }
}

extension ContainerScreens {
    /// Asks a filters component for a view: those that ask the same share one answer.
    func ask(_ slot: Slot, _ query: ComponentQuery, _ done: @escaping Answer<ComponentAnswer>) {
        let key = SharedAnswers.Key(
            component: ObjectIdentifier(slot), values: slot.own.filters?.reported, query: query)
        if let known = screening.answers.known[key] { return done(.success(known)) }
        guard screening.answers.wait(for: key, done) else { return }
        slot.ask(query, isOfScreen: true) { [self] result in
            let waiting = screening.answers.take(
                result, for: key, isKept: screening.isFollowing)
            // Each goes on to ask for what it has selected: thousands would be one long turn.
            domain.inSlices(waiting.map { done in { done(result) } })
        }
    }
}
