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
    /// How many votes have a value.
    private struct Bar {
        let units: Int32
        var count: Int32
    }

    private var votes = PackedVotes()
    private var sum = 0
    /// In the order of their values; none is of no votes.
    private var histogram: [Bar] = []

    var isEmpty: Bool { votes.isEmpty }

    subscript(actor: ActorID) -> Vote? { votes[actor] }

    var actors: some Sequence<ActorID> { votes.actors }

    /// Makes room for so many more votes at once.
    mutating func reserve(_ more: Int) { votes.reserve(more) }

    /// Puts an actor's vote in place of the one before; nil takes it out.
    ///
    /// - Returns: whether the tally is another one now.
    mutating func replace(_ vote: Vote?, of actor: ActorID) -> Bool {
        let previous = votes.replace(vote, of: actor)
        guard previous?.units != vote?.units else { return false }
        if let previous { count(previous.units, by: -1) }
        if let vote { count(vote.units, by: 1) }
        return true
    }

    /// What the votes add up to.
    func tally(on scale: Scale) -> Tally {
        var written = [String: Int](minimumCapacity: histogram.count)
        for bar in histogram {
            written[Value.number(scale.value(Int(bar.units))).plainText ?? ""] = Int(bar.count)
        }
        return Tally(
            count: votes.count, score: votes.isEmpty ? nil : scale.score(sum, of: votes.count),
            histogram: written)
    }

    /// The votes by actor, after one, at most so many.
    func page(after: ActorID?, limit: Int) -> [(actor: ActorID, vote: Vote)] {
        votes.page(after: after, limit: limit)
    }

    private mutating func count(_ units: Int, by step: Int32) {
        sum += units * Int(step)
        let place = histogram.firstIndex { $0.units >= Int32(units) } ?? histogram.count
        guard place < histogram.count, histogram[place].units == Int32(units) else {
            return histogram.insert(Bar(units: Int32(units), count: step), at: place)
        }
        histogram[place].count += step
        if histogram[place].count == 0 { histogram.remove(at: place) }
    }
}
