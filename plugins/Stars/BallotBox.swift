import AtriumKit

/// One actor's vote on a subject.
struct Vote: Equatable {
    /// The value, in steps of the scale.
    let units: Int
    /// When it was cast, or last changed.
    let cast: Timestamp
}

/// The votes on one subject, with what they add up to.
///
/// There is one for each item with votes, so it is two references: what follows from the histogram is not kept.
struct BallotBox {
    /// How many votes have a value.
    private struct Bar {
        let units: Int32
        var count: Int32
    }

    private var votes = PackedVotes()
    /// In the order of their values; none is of no votes.
    private var histogram: [Bar] = []

    var isEmpty: Bool { histogram.isEmpty }

    subscript(actor: ActorID) -> Vote? { votes[actor] }

    var actors: some Sequence<ActorID> { votes.actors }

    /// Makes room for so many more votes at once.
    mutating func reserve(_ more: Int) { votes.reserve(more) }

    /// Puts an actor's vote in place of the one before, nil takes it out; returns whether the tally is another one
    /// now.
    mutating func replace(_ vote: Vote?, of actor: ActorID) -> Bool {
        let previous = votes.replace(vote, of: actor)
        guard previous?.units != vote?.units else { return false }
        if let previous { count(previous.units, by: -1) }
        if let vote { count(vote.units, by: 1) }
        return true
    }

    /// What the votes add up to.
    func tally(on scale: Scale) -> Tally {
        var (count, sum) = (0, 0)
        for bar in histogram {
            count += Int(bar.count)
            sum += Int(bar.units) * Int(bar.count)
        }
        return Tally(
            count: count, score: isEmpty ? nil : scale.score(sum, of: count),
            values: histogram.count
        ) { place in
            (scale.value(Int(histogram[place].units)), Int(histogram[place].count))
        }
    }

    /// The votes by actor, after one, at most so many.
    func page(after: ActorID?, limit: Int) -> [(actor: ActorID, vote: Vote)] {
        votes.page(after: after, limit: limit)
    }

    private mutating func count(_ units: Int, by step: Int32) {
        let place = histogram.firstIndex { $0.units >= Int32(units) } ?? histogram.count
        guard place < histogram.count, histogram[place].units == Int32(units) else {
            // Most are a few bars, and an array that doubles has room for half as many again.
            if histogram.count == histogram.capacity, histogram.count < 16 {
                histogram.reserveCapacity(histogram.count + 1)
            }
            return histogram.insert(Bar(units: Int32(units), count: step), at: place)
        }
        histogram[place].count += step
        if histogram[place].count == 0 { histogram.remove(at: place) }
    }
}
