import AtriumKit
import DequeModule
import Store

// Erasure of persons.
extension Registry {
    /// The maximum number of erasures that are running or waiting.
    private static let mostErasures = 100

    /// Erases a person: the name, ballots, comments, and their part in notifications.
    ///
    /// Comments that have replies stay, as deleted comments without an author. Erasures run one at a time. When the
    /// person is being erased already, the reply is that erasure's.
    ///
    /// - Parameters:
    ///   - name: the person, as in `unix:1000`.
    ///   - reply: called once no file of the store names the person; fails with `actorNotFound` or `limitExceeded`,
    ///     or with `storeUnavailable` if the erasure is not finished yet, or not begun, as the reason says.
    public func erase(_ name: String, _ reply: @escaping Reply<ErasureResult>) {
        let erasures = state.erasures
        if let known = erasures.waiting.first(where: { $0.name == name }) {
            return known.add { reply($0) }
        }
        guard let actor = domain.actors.number(of: name) else {
            return reply(.failure(.actorNotFound(name)))
        }
        if let error = domain.refusal { return reply(.failure(error)) }
        guard erasures.waiting.count < Self.mostErasures else {
            return reply(
                .failure(
                    .limitExceeded(limit: "erasures", value: Self.mostErasures, retryAfter: 10)))
        }
        let erasure = PersonErasure(of: actor, name: name, isNoted: false, in: self)
        erasure.add { reply($0) }
        erasures.add(erasure)
    }

    /// Continues the erasures that an earlier process began: the persons' names are hidden at once.
    func goOnErasing(_ numbers: [Int64]) {
        for number in numbers {
            let actor = ActorID(number)
            let name = domain.actors.name(of: actor)
            domain.actors.erase(actor)
            state.erasures.add(
                PersonErasure(of: actor, name: name, isNoted: true, in: self))
        }
    }
}

/// The queue of erasures, which run one after another.
final class Erasures {
    /// The erasures; the first one is running.
    private(set) var waiting: Deque<PersonErasure> = []

    /// Appends an erasure, which runs when all before it are finished.
    func add(_ erasure: PersonErasure) {
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
