import AtriumKit

/// Answers of filters components, shared by all views with the same question.
///
/// Answers are kept only while screens are updated. Views that are shown later ask again, because a component may
/// offer something else without new values from the host.
struct SharedAnswers {
    struct Key: Hashable {
        var component: ObjectIdentifier
        /// The version of the values that the component received before the question.
        var values: UInt64?
        var query: ComponentQuery
    }

    /// The most answers that are kept; selections of single views are not worth keeping.
    private static let most = 256

    private(set) var known: [Key: ComponentAnswer] = [:]
    private var waiting: [Key: [(Result<ComponentAnswer, HostError>) -> Void]] = [:]

    /// Adds a caller that waits for an answer.
    ///
    /// - Returns: whether it is the first, and has to ask.
    mutating func wait(
        for key: Key, _ done: @escaping (Result<ComponentAnswer, HostError>) -> Void
    ) -> Bool {
        waiting[key, default: []].append(done)
        return waiting[key]?.count == 1
    }

    /// Stores an answer, and returns the callers that wait for it.
    mutating func take(
        _ answer: Result<ComponentAnswer, HostError>, for key: Key, isKept: Bool
    ) -> [(Result<ComponentAnswer, HostError>) -> Void] {
        if isKept, case .success(let answer) = answer {
            if known.count >= Self.most { known.removeAll() }
            known[key] = answer
        }
        return waiting.removeValue(forKey: key) ?? []
    }

    /// Drops the answers after screens were updated.
    mutating func forget() { known.removeAll() }
}

extension ContainerScreens {
    /// Asks a filters component for a view; views with the same question share one answer.
    func ask(_ slot: Slot, _ query: ComponentQuery, _ done: @escaping Answer<ComponentAnswer>) {
        let key = SharedAnswers.Key(
            component: ObjectIdentifier(slot), values: slot.own.filters?.reported, query: query)
        if let known = screening.answers.known[key] { return done(.success(known)) }
        guard screening.answers.wait(for: key, done) else { return }
        slot.ask(query, isOfScreen: true) { [self] result in
            let waiting = screening.answers.take(
                result, for: key, isKept: screening.isFollowing)
            // In slices, because each view then asks for its selection: thousands would be one long turn.
            domain.inSlices(waiting.map { done in { done(result) } })
        }
    }
}
