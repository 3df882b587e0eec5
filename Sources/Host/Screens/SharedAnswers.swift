import AtriumKit

/// Answers of filters components, shared by all views with the same question.
///
/// Answers are kept only while screens are updated. Views that are shown later ask again, because a component may
/// offer something else without new values from the host.
final class SharedAnswers {
    private struct Key: Hashable {
        var component: ObjectIdentifier
        /// The version of the values that the component received before the question.
        var values: UInt64?
        var query: ComponentQuery
    }

    /// The most answers that are kept; selections of single views are not worth keeping.
    private static let most = 256

    private unowned let screens: ContainerScreens
    private var known: [Key: ComponentAnswer] = [:]
    private var waiting: [Key: [(Result<ComponentAnswer, HostError>) -> Void]] = [:]

    init(of screens: ContainerScreens) { self.screens = screens }

    /// Asks a filters component for a view; views with the same question share one answer.
    func ask(_ slot: Slot, _ query: ComponentQuery, _ done: @escaping Answer<ComponentAnswer>) {
        let key = Key(
            component: ObjectIdentifier(slot), values: slot.own.filters?.reported, query: query)
        if let known = known[key] { return done(.success(known)) }
        waiting[key, default: []].append(done)
        guard waiting[key]?.count == 1 else { return }
        slot.requests.ask(query, for: slot, isOfScreen: true) { [screens] in
            screens.answers.handle($0, for: key)
        }
    }

    /// Takes an answer, and passes it to all who wait for it.
    private func handle(_ answer: Result<ComponentAnswer, HostError>, for key: Key) {
        if screens.updates.isFollowing, case .success(let answer) = answer {
            if known.count >= Self.most { known.removeAll() }
            known[key] = answer
        }
        let waiting = waiting.removeValue(forKey: key) ?? []
        // In slices, because each view then asks for its selection: thousands would be one long turn.
        screens.domain.slices.run(waiting.map { done in { done(answer) } })
    }

    /// Drops the answers after screens were updated.
    func clear() { known.removeAll() }
}
