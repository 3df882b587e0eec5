/// The permits to wait in a queue of calls, which users share so that no user can fill the queue.
///
/// A call gets a permit if its user has fewer calls in the queue than there are free permits. So a single user gets at
/// most half of the permits, and another user still finds some.
final class WaitPermits {
    /// The permit of one call; it becomes free when the last reference to it goes.
    final class Permit {
        private let user: String
        private let permits: WaitPermits

        fileprivate init(of user: String, in permits: WaitPermits) {
            (self.user, self.permits) = (user, permits)
        }

        deinit { permits.release(user) }
    }

    /// Thrown when there is no permit for a call.
    struct Full: Error {
        /// The limit and what to do, as a sentence that begins with the number of waiting calls.
        let reason: String
    }

    /// The number of permits in use.
    private(set) var count = 0
    private var counts: [String: Int] = [:]

    /// Acquires one of so many permits for a user's call, to be kept for as long as it waits; throws when the user
    /// has none left, or the queue is full.
    func acquire(for user: String, of most: Int) throws(Full) -> Permit {
        let own = counts[user, default: 0]
        guard own < most - count else { throw Full(reason: reason(own, most)) }
        count += 1
        counts[user] = own + 1
        return Permit(of: user, in: self)
    }

    private func release(_ user: String) {
        count -= 1
        let own = counts[user, default: 0] - 1
        counts[user] = own > 0 ? own : nil
    }

    private func reason(_ own: Int, _ most: Int) -> String {
        guard count < most else {
            return "The queue of \(count) waiting calls (waitingCalls) is full; try again later."
        }
        return "This user already has \(own) calls waiting; a user may have at most as many as "
            + "places are left of \(most) (waitingCalls). Await replies first."
    }
}
