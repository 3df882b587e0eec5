import AtriumKit
import DequeModule
import Store

// Persons who want to be forgotten.
extension Registry {
    /// How many erasures may wait.
    private static let mostErasures = 100

    /// Erases a person: name, ballots, comments, and their part in notifications.
    ///
    /// Comments that others replied to stay, as deleted ones of nobody's. One erasure is made at a time.
    /// Where a person is being erased already, the reply is that erasure's.
    ///
    /// - Parameters:
    ///   - name: the person, as in `unix:1000`.
    ///   - reply: once no file of the store holds them; fails with `actorNotFound`, `limitExceeded`, or
    ///     with `storeUnavailable` where it could not be ended yet.
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
        let erasure = PersonErasure(of: actor, name: name, isNoted: false, in: state)
        erasure.add { reply($0) }
        erasures.add(erasure)
    }

    /// Goes on with what an earlier process began: nobody is shown these persons from now on.
    func goOnErasing(_ numbers: [Int64]) {
        for number in numbers {
            let actor = ActorID(number)
            let name = domain.actors.name(of: actor)
            domain.actors.erase(actor)
            state.erasures.add(
                PersonErasure(of: actor, name: name, isNoted: true, in: state))
        }
    }
}

/// The erasures that are to be made, one after another.
final class Erasures {
    /// The first is being made.
    private(set) var waiting: Deque<PersonErasure> = []

    /// Takes one in, to be made when all before are over.
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
