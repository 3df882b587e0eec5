import AtriumKit

/// Votes in the order of their actors, in one array.
///
/// Each takes 14 bytes if all are of the usual kind, and 16 otherwise.
enum VoteArray {
    case short([ShortVote])
    case long([LongVote])

    init() { self = .short([]) }

    var count: Int {
        switch self {
        case .short(let votes): votes.count
        case .long(let votes): votes.count
        }
    }

    var isEmpty: Bool { count == 0 }

    /// The last actor; nil: there are no votes.
    var lastActor: ActorID? {
        switch self {
        case .short(let votes): votes.last?.actor
        case .long(let votes): votes.last?.actor
        }
    }

    /// An actor's vote; nil: there is none.
    subscript(actor: ActorID) -> Vote? {
        switch self {
        case .short(let votes): votes.vote(of: actor)
        case .long(let votes): votes.vote(of: actor)
        }
    }

    /// Makes room for so many more votes, and for no others.
    mutating func reserve(_ more: Int) {
        change {
            $0.reserveCapacity($0.count + more)
        } _: {
            $0.reserveCapacity($0.count + more)
        }
    }

    /// Puts an actor's vote in place of the one before, nil takes it out; returns the one before.
    mutating func replace(_ vote: Vote?, of actor: ActorID) -> Vote? {
        if let vote, case .short(let votes) = self, !ShortVote.canHave(vote) {
            self = .long(votes.map { LongVote($0.actor, $0.vote) })
        }
        return change {
            $0.replace(vote, of: actor)
        } _: {
            $0.replace(vote, of: actor)
        }
    }

    /// The votes by actor, after one, at most so many.
    func page(after actor: ActorID?, limit: Int) -> [(actor: ActorID, vote: Vote)] {
        switch self {
        case .short(let votes): votes.page(after: actor, limit: limit)
        case .long(let votes): votes.page(after: actor, limit: limit)
        }
    }

    /// Two halves, neither with more room than it needs.
    var halves: (VoteArray, VoteArray) {
        let middle = count / 2
        return switch self {
        case .short(let votes):
            (.short(Array(votes[..<middle])), .short(Array(votes[middle...])))
        case .long(let votes):
            (.long(Array(votes[..<middle])), .long(Array(votes[middle...])))
        }
    }

    /// Changes the array in place.
    private mutating func change<Result>(
        _ short: (inout [ShortVote]) -> Result, _ long: (inout [LongVote]) -> Result
    ) -> Result {
        switch self {
        case .short(var votes):
            // Otherwise the array would have two owners, and a change would copy it.
            self = .short([])
            defer { self = .short(votes) }
            return short(&votes)
        case .long(var votes):
            self = .short([])
            defer { self = .long(votes) }
            return long(&votes)
        }
    }
}

/// A vote, and whose it is.
protocol PackedVote {
    init(_ actor: ActorID, _ vote: Vote)

    var actor: ActorID { get }
    var vote: Vote { get }
}

/// A vote of fewer than 128 steps, cast from 2000 to 2069.
struct ShortVote: PackedVote {
    /// The bits of the time, above which the units stand.
    private static let timeBits = 41
    /// 1 January 2000.
    private static let start: Int64 = 946_684_800_000

    // Halves of words, since a number of 64 bits would stand at a multiple of eight bytes.
    private let actorParts: (UInt16, UInt16, UInt16, UInt16)
    private let voteParts: (UInt16, UInt16, UInt16)

    static func canHave(_ vote: Vote) -> Bool {
        // A time that is too early becomes a great number.
        let time = UInt64(bitPattern: vote.cast.milliseconds &- start)
        return time < 1 << timeBits && 0..<128 ~= vote.units
    }

    init(_ actor: ActorID, _ vote: Vote) {
        let number = UInt64(bitPattern: actor.number)
        actorParts = (
            UInt16(truncatingIfNeeded: number), UInt16(truncatingIfNeeded: number >> 16),
            UInt16(truncatingIfNeeded: number >> 32), UInt16(truncatingIfNeeded: number >> 48)
        )
        let time = UInt64(bitPattern: vote.cast.milliseconds &- Self.start)
        let packed = UInt64(vote.units) << UInt64(Self.timeBits) | time
        voteParts = (
            UInt16(truncatingIfNeeded: packed), UInt16(truncatingIfNeeded: packed >> 16),
            UInt16(truncatingIfNeeded: packed >> 32)
        )
    }

    var actor: ActorID {
        let (low, second, third, high) = actorParts
        let number = UInt64(low) | UInt64(second) << 16 | UInt64(third) << 32 | UInt64(high) << 48
        return ActorID(Int64(bitPattern: number))
    }

    var vote: Vote {
        let (low, middle, high) = voteParts
        let packed = UInt64(low) | UInt64(middle) << 16 | UInt64(high) << 32
        let time = Int64(packed & (1 << UInt64(Self.timeBits) - 1))
        return Vote(
            units: Int(packed >> UInt64(Self.timeBits)),
            cast: Timestamp(milliseconds: time + Self.start))
    }
}

/// A vote of any value, cast at any time.
struct LongVote: PackedVote {
    let actor: ActorID
    /// The units in the upper 14 bits, the time in the lower 50.
    private let packed: UInt64

    init(_ actor: ActorID, _ vote: Vote) {
        self.actor = actor
        // Times that a record may have are from 1970 to 9999: 48 bits.
        let time = min(max(vote.cast.milliseconds, -1 << 49), 1 << 49 - 1)
        packed = UInt64(vote.units) << 50 | UInt64(bitPattern: time) & (1 << 50 - 1)
    }

    var vote: Vote {
        Vote(
            units: Int(packed >> 50),
            cast: Timestamp(milliseconds: Int64(bitPattern: packed << 14) >> 14))
    }
}

extension Array where Element: PackedVote {
    fileprivate func vote(of actor: ActorID) -> Vote? {
        let place = place(of: actor)
        return place < count && self[place].actor == actor ? self[place].vote : nil
    }

    fileprivate mutating func replace(_ vote: Vote?, of actor: ActorID) -> Vote? {
        let place = place(of: actor)
        guard place < count, self[place].actor == actor else {
            guard let vote else { return nil }
            // An array that doubles has room for half as many again on average.
            if count == capacity { reserveCapacity(count + Swift.max(1, count / 8)) }
            insert(Element(actor, vote), at: place)
            return nil
        }
        let previous = self[place].vote
        if let vote { self[place] = Element(actor, vote) } else { remove(at: place) }
        return previous
    }

    fileprivate func page(
        after actor: ActorID?, limit: Int
    ) -> [(actor: ActorID, vote: Vote)] {
        var start = 0
        if let actor {
            start = place(of: actor)
            if start < count, self[start].actor == actor { start += 1 }
        }
        return self[start...].prefix(limit).map { ($0.actor, $0.vote) }
    }

    /// Where an actor's vote stands, or would.
    private func place(of actor: ActorID) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].actor < actor { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
