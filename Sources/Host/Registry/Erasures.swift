import AtriumKit
import DequeModule

/// Erases persons, one after another.
public final class Erasures {
    /// The maximum number of erasures that are running or waiting.
    private static let most = 100

    private let state: RegistryState
    private let changes: StructureQueue
    /// The erasures; the first one is running.
    private(set) var waiting: Deque<PersonErasure> = []

    init(in state: RegistryState, after changes: StructureQueue) {
        self.state = state
        self.changes = changes
    }

    /// Erases a person: the name, ballots, comments, and their part in notifications.
    ///
    /// Comments that have replies stay, as deleted comments without an author. When the person is being erased
    /// already, the reply is that erasure's.
    ///
    /// - Parameters:
    ///   - name: the person, as in `unix:1000`.
    ///   - reply: called once no file of the store names the person; fails with `actorNotFound` or `limitExceeded`,
    ///     or with `storeUnavailable` if the erasure is not finished yet, or not begun, as the reason says.
    public func erase(_ name: String, _ reply: @escaping Reply<ErasureResult>) {
        if let known = waiting.first(where: { $0.name == name }) { return known.add(reply) }
        guard let actor = state.domain.actors.number(of: name) else {
            return reply(.failure(.actorNotFound(name)))
        }
        if let error = state.domain.refusal { return reply(.failure(error.asNotBegun)) }
        guard waiting.count < Self.most else {
            return reply(
                .failure(.limitExceeded(limit: "erasures", value: Self.most, retryAfter: 10)))
        }
        add(actor, name, isNoted: false, reply)
    }

    /// Continues the erasures that an earlier process began: the persons' names are hidden at once.
    func resume(_ numbers: [Int64]) {
        for actor in numbers.map(ActorID.init) {
            let name = state.domain.actors.name(of: actor)
            state.domain.actors.erase(actor)
            add(actor, name, isNoted: true)
        }
    }

    /// Appends an erasure, which runs when all before it are finished.
    private func add(
        _ actor: ActorID, _ name: String?, isNoted: Bool, _ reply: Reply<ErasureResult>? = nil
    ) {
        let erasure = PersonErasure(
            of: actor, name: name, isNoted: isNoted, in: state, after: changes)
        if let reply { erasure.add(reply) }
        waiting.append(erasure)
        if waiting.count == 1 { next() }
    }

    private func next() {
        waiting.first?.run { [self] in
            waiting.removeFirst()
            next()
        }
    }
}
