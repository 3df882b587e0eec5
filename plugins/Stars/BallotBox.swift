import AtriumKit

/// One actor's vote on a subject.
struct Vote: Equatable {
    /// The value, in steps of the scale.
    let units: Int
    /// When it was cast, or last changed.
    let cast: Timestamp
}

/// The votes on one subject, with what they add up to.
struct BallotBox {
    private var votes = SplitDictionary<ActorID, Vote>()
    private var sum = 0
    private var histogram: [Int: Int] = [:]
    // The actors in order, once somebody has asked for them: a restore need not sort.
    private var ordered: [ActorID]?

    var isEmpty: Bool { votes.isEmpty }

    subscript(actor: ActorID) -> Vote? { votes[actor] }

    var actors: some Sequence<ActorID> { votes.keys }

    /// Puts an actor's vote in place of the one before; nil takes it out.
    ///
    /// - Returns: whether the tally is another one now.
    mutating func replace(_ vote: Vote?, of actor: ActorID) -> Bool {
        let previous = votes[actor]
        votes[actor] = vote
        if let previous { count(previous.units, by: -1) }
        if let vote { count(vote.units, by: 1) }
        if (previous == nil) != (vote == nil) {
            order(actor, isIn: vote != nil)
        }
        return previous?.units != vote?.units
    }

    /// What the votes add up to.
    func tally(on scale: Scale) -> Tally {
        var written = [String: Int](minimumCapacity: histogram.count)
        for (units, count) in histogram {
            written[Value.number(scale.value(units)).plainText ?? ""] = count
        }
        return Tally(
            count: votes.count, score: votes.isEmpty ? nil : scale.score(sum, of: votes.count),
            histogram: written)
    }

    /// The votes by actor, after one, at most so many.
    mutating func page(after: ActorID?, limit: Int) -> [(actor: ActorID, vote: Vote)] {
        let actors = ordered ?? votes.keys.sorted()
        ordered = actors
        var start = 0
        if let after { start = actors.firstIndex(greaterThan: after) }
        return actors[start...].prefix(max(0, limit)).compactMap { actor in
            votes[actor].map { (actor, $0) }
        }
    }

    /// Puts an actor in order, or takes one out.
    private mutating func order(_ actor: ActorID, isIn: Bool) {
        guard let place = ordered?.firstIndex(greaterThan: actor) else { return }
        if isIn {
            ordered?.insert(actor, at: place)
        } else {
            ordered?.remove(at: place - 1)
        }
    }

    private mutating func count(_ units: Int, by step: Int) {
        sum += units * step
        let count = histogram[units, default: 0] + step
        histogram[units] = count == 0 ? nil : count
    }
}

extension [ActorID] {
    /// Where the first actor with a greater number stands, in a sorted array.
    fileprivate func firstIndex(greaterThan actor: ActorID) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] > actor { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
