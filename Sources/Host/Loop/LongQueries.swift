import DequeModule

/// The queries that take more than one turn of the loop: each user runs one at a time, others wait in order.
///
/// Running queries take turns slice by slice (``Slices/run(_:then:)``), so that a thousand queries of one user
/// delay other users' as little as one does. A running query's results are in memory. A waiting query has only its
/// call, which counts towards its connection's memory.
final class LongQueries {
    /// Ends a query; call it exactly once.
    typealias End = () -> Void
    typealias Query = (@escaping End) -> Void

    private unowned let domain: Domain
    private var running: Set<String> = []
    private var waiting: [String: Deque<Query>] = [:]

    init(_ domain: Domain) { self.domain = domain }

    /// Runs a query when its user's turn comes, which may be during this call; throws `limitExceeded` when too many
    /// of the user's queries wait, unless the caller bounds them otherwise.
    func add(of user: String, isBounded: Bool = true, _ query: @escaping Query) throws(HostError) {
        guard running.insert(user).inserted else {
            let limit = domain.limits.waitingQueries
            guard !isBounded || waiting[user, default: []].count < limit else {
                throw .limitExceeded(limit: "waitingQueries", value: limit, retryAfter: 1)
            }
            return waiting[user, default: []].append(query)
        }
        begin(query, of: user)
    }

    /// As ``add(of:_:)``, for a call that is made when its turn comes; a refusal goes to `reply`.
    func add<T>(
        of user: String, _ reply: @escaping Answer<T>,
        _ call: @escaping (@escaping Answer<T>) -> Void
    ) {
        do throws(HostError) {
            try add(of: user) { end in
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
                return false
            } then: {
            }
        }
    }

    private func beginNext(of user: String) {
        guard let next = waiting[user]?.popFirst() else {
            running.remove(user)
            return
        }
        if waiting[user]?.isEmpty == true { waiting[user] = nil }
        begin(next, of: user)
    }
}
