import DequeModule

/// The queries that take more than one turn of the loop: each user runs one at a time, others wait in order.
///
/// A user is here the person for whom a call is made: those for whom a front end calls take turns with each other.
///
/// Running queries take turns slice by slice (``Slices/run(_:then:)``), so that a thousand queries of one user
/// delay other users' as little as one does. A running query's results are in memory. A waiting query has only its
/// call, which counts towards its connection's memory.
final class LongQueries {
    /// Ends a query; call it exactly once.
    typealias End = () -> Void
    typealias Query = (@escaping End) -> Void

    /// A query that waits for its user's turn.
    ///
    /// Not a tuple: closures in a tuple are wrapped anew each time they are put into the queue.
    private struct Waiting {
        let query: Query
        let isAwaited: () -> Bool
    }

    /// The error of a query that ends early because nobody waits for its result, so that nobody gets it.
    static var abandoned: HostError {
        .refused(reason: "Nobody waits for the answer any more.", retryAfter: nil)
    }

    private unowned let domain: Domain
    private var running: Set<String> = []
    private var waiting: [String: Deque<Waiting>] = [:]

    init(_ domain: Domain) { self.domain = domain }

    /// Runs a query when its user's turn comes, which may be during this call; throws `limitExceeded` when too many
    /// of the user's queries wait, unless the caller bounds them otherwise.
    ///
    /// `isAwaited` is asked when the turn of a query that waited has come: one whose result nobody waits for any more
    /// is dropped then, and never called.
    func add(
        of user: String, isBounded: Bool = true, while isAwaited: @escaping () -> Bool = { true },
        _ query: @escaping Query
    ) throws(HostError) {
        guard running.insert(user).inserted else {
            let limit = domain.limits.waitingQueries
            guard !isBounded || waiting[user, default: []].count < limit else {
                throw .limitExceeded(limit: "waitingQueries", value: limit, retryAfter: 1)
            }
            return waiting[user, default: []].append(
                Waiting(query: query, isAwaited: isAwaited))
        }
        begin(query, of: user)
    }

    /// As ``add(of:isBounded:while:_:)``, for a call that is made when its turn comes; a refusal goes to `reply`.
    func add<T>(
        of user: String, while isAwaited: @escaping () -> Bool, _ reply: @escaping Answer<T>,
        _ call: @escaping (@escaping Answer<T>) -> Void
    ) {
        do throws(HostError) {
            try add(of: user, while: isAwaited) { end in
                call { result in
                    reply(result)
                    end()
                }
            }
        } catch {
            reply(.failure(error))
        }
    }

    private func begin(_ query: Query, of user: String) {
        query { [self] in
            guard waiting[user] != nil else {
                running.remove(user)
                return
            }
            // In slices: thousands of short queries that begin each other directly would block the loop.
            domain.slices.run { [self] in
                beginNext(of: user)
            } then: {
            }
        }
    }

    /// Begins the user's next query; returns true if it dropped that one, so that another may come.
    private func beginNext(of user: String) -> Bool {
        guard let next = waiting[user]?.popFirst() else {
            running.remove(user)
            return false
        }
        if waiting[user]?.isEmpty == true { waiting[user] = nil }
        guard next.isAwaited() else { return true }
        begin(next.query, of: user)
        return false
    }
}
