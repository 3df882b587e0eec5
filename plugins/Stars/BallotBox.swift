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
    /// Up to so many actors are sorted when somebody asks for them.
    static let few = 4_096

    private var votes = SplitDictionary<ActorID, Vote>()
    private var sum = 0
    private var histogram: [Int: Int] = [:]
    /// The actors in order, once they are more than a few: sorting all of them would take too long.
    private(set) var ordered: SplitOrder<ActorID>?

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
    func page(after: ActorID?, limit: Int) -> [(actor: ActorID, vote: Vote)] {
        let ordered = ordered ?? SplitOrder(sorting: votes.keys)
        return ordered.page(after: after, limit: limit).compactMap { actor in
            votes[actor].map { (actor, $0) }
        }
    }

    /// Puts an actor in order, or takes one out.
    private mutating func order(_ actor: ActorID, isIn: Bool) {
        if !isIn {
            ordered?.remove(actor)
        } else if ordered != nil {
            ordered?.insert(actor)
        } else if votes.count > Self.few {
            ordered = SplitOrder(sorting: votes.keys)
        }
    }

    private mutating func count(_ units: Int, by step: Int) {
        sum += units * step
        let count = histogram[units, default: 0] + step
        histogram[units] = count == 0 ? nil : count
    }
}
