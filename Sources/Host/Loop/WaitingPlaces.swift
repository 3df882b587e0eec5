/// The places of a queue in which calls wait: users share them, and nobody fills the queue for the others.
///
/// A call is taken where its user has fewer calls in the queue than there are free places. So a user who is alone has
/// half of the places at most, and whoever comes then finds some.
final class WaitingPlaces {
    /// The place of one call, which is free again once nobody holds this.
    final class Place {
        private let user: String
        private let places: WaitingPlaces

        fileprivate init(of user: String, in places: WaitingPlaces) {
            (self.user, self.places) = (user, places)
        }

        deinit { places.leave(user) }
    }

    /// There is no place for a call.
    struct Full: Error {
        /// Which limit, and what to do, in a sentence that begins with how many calls wait.
        let reason: String
    }

    /// How many calls have a place.
    private(set) var count = 0
    private var counts: [String: Int] = [:]

    /// Takes a place for a call.
    ///
    /// - Parameters:
    ///   - user: whose call it is.
    ///   - most: how many places there are (``HostLimits/waitingCalls``).
    /// - Returns: the place, to be held for as long as the call waits.
    /// - Throws: where the user has no more places, or there are none.
    func take(for user: String, of most: Int) throws(Full) -> Place {
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
            return "\(count) calls wait already, and no more may (waitingCalls). Try again later."
        }
        return "\(own) calls of the same user wait already. Of \(most) calls (waitingCalls) a user "
            + "may have no more than there are free places left: await answers before the next call."
    }
}
