/// The places in a queue of waiting calls, which users share so that no user can fill the queue.
///
/// A call gets a place if its user has fewer calls in the queue than there are free places. So a single user gets at
/// most half of the places, and another user still finds some.
final class WaitingPlaces {
    /// The place of one call; it becomes free when the last reference to it goes.
    final class Place {
        private let user: String
        private let places: WaitingPlaces

        fileprivate init(of user: String, in places: WaitingPlaces) {
            (self.user, self.places) = (user, places)
        }

        deinit { places.leave(user) }
    }

    /// Thrown when there is no place for a call.
    struct Full: Error {
        /// The limit and what to do, as a sentence that begins with the number of waiting calls.
        let reason: String
    }

    /// How many places are taken.
    private(set) var count = 0
    private var counts: [String: Int] = [:]

    /// Takes a place for a call.
    ///
    /// - Parameters:
    ///   - user: the user who makes the call.
    ///   - most: the number of places (``HostLimits/waitingCalls``).
    /// - Returns: the place; keep it for as long as the call waits.
    /// - Throws: when the user has no place left, or the queue is full.
    func acquire(for user: String, of most: Int) throws(Full) -> Place {
        let own = counts[user, default: 0]
        guard own < most - count else { throw Full(reason: reason(own, most)) }
        count += 1
        counts[user] = own + 1
        return Place(of: user, in: self)
    }

    private func leave(_ user: String) {
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
