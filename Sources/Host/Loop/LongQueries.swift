import DequeModule

/// Queries that take more than a turn of the loop: of each user one at a time, the others in their order.
///
/// Those under way are found in slices, each in turn (``Domain/inSlices(_:then:)``), so that a user's
/// thousand delay others' by no more than one does. What is found for a query is in memory while it is
/// under way; one that waits has no more than its call, which its connection is charged with.
final class LongQueries {
    /// Ends what began; to be called once.
    typealias End = () -> Void
    typealias Query = (@escaping End) -> Void

    private unowned let domain: Domain
    private var running: Set<String> = []
    private var waiting: [String: Deque<Query>] = [:]

    init(_ domain: Domain) { self.domain = domain }

    /// Begins a user's query when its turn comes, which may be during this call.
    ///
    /// - Throws: `limitExceeded` where too many of the user's wait, unless these are bounded otherwise.
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

    /// As ``add(of:_:)``, for a call that is begun anew with its turn, and so is refused as it would be
    /// then.
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
            // Not at once: of thousands that end as soon as they begin, each would begin the next.
            domain.inSlices { [self] in
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
