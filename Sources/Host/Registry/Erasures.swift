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
    /// The erasures that have begun, and that only the next process can go on with.
    private var blocked: [PersonErasure] = []

    init(in state: RegistryState, after changes: StructureQueue) {
        self.state = state
        self.changes = changes
    }

    /// Erases a person: the name, ballots, comments, and their part in notifications.
    ///
    /// Comments that have replies stay, as deleted comments without an author. When the person is being erased
    /// already, the reply is that erasure's. Somebody who came back under the name since it began is a new person, who
    /// is erased after it.
    ///
    /// - Parameters:
    ///   - name: the person, as in `unix:1000`.
    ///   - reply: called once no file of the store names the person; fails with `actorNotFound` or `limitExceeded`,
    ///     or with `storeUnavailable` if the erasure is not finished yet, or not begun, as the reason says. A name that
    ///     nobody has may be that of a person whose erasure is unfinished and has erased the name: that fails with
    ///     `storeUnavailable`, too.
    public func erase(_ name: String, _ reply: @escaping Reply<ErasureResult>) {
        let number = state.domain.actors.number(of: name)
        // Once an erasure has begun, the name may be another person's.
        let known = waiting.last {
            $0.name == name && !$0.isBlocked && (number == nil || number == $0.actor)
        }
        if let known { return known.add(reply) }
        guard let actor = number else { return reply(.failure(absence(of: name))) }
        if let error = state.domain.refusal { return reply(.failure(error.asNotBegun)) }
        guard waiting.count < Self.most else {
            return reply(
                .failure(.limitExceeded(limit: "erasures", value: Self.most, retryAfter: 10)))
        }
        add(actor, name, isNoted: false, reply)
    }

    /// Continues the erasures of persons that an earlier process began: their names, which the store still holds, are
    /// hidden already.
    func resume(_ numbers: [Int64], _ names: [Int64: String]) {
        for number in numbers { add(ActorID(number), names[number], isNoted: true) }
    }

    /// The erasures that failed or were interrupted, and are not finished: a sentence each.
    var problems: [String] { (blocked + waiting).compactMap(\.problem) }

    /// Why nobody of a name can be erased: there is nobody, or an erasure that may be theirs is unfinished.
    private func absence(of name: String) -> HostError {
        let unfinished = blocked + waiting
        let own = unfinished.last { $0.name == name && $0.isBlocked }
        if let failure = own?.failure { return failure }
        // The name is gone from the store before the rest is, so it is unknown whose erasures these are.
        let unnamed = unfinished.filter { $0.name == nil }
        guard let first = unnamed.first else { return .actorNotFound(name) }
        let reason = first.failure?.sentence ?? "It goes on by itself."
        return .storeUnavailable(
            reason:
                "Nobody has the name '\(name)', but an erasure that was begun before the last start is unfinished, "
                + "and may be this person's: its name is erased already. \(reason)",
            retryAfter: unnamed.allSatisfy { $0.isBlocked } ? nil : 10)
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
            if let ended = waiting.popFirst(), ended.isBlocked { blocked.append(ended) }
            next()
        }
    }
}
