import AtriumKit

/// The votes on one subject in the order of their actors.
///
/// Up to 512 stand in one sorted array, more in several of them: a vote finds its place in logarithmic time and moves few
/// others. A copy shares its memory until one of both changes, and then an array is copied at a time.
enum PackedVotes {
    /// How many votes an array has at most.
    private static let most = 512

    /// All votes, while one array is enough.
    case few(VoteArray)
    /// Once it is not, arrays in order, none of them empty.
    case many([VoteArray])

    init() { self = .few(VoteArray()) }

    /// All actors, in order.
    var actors: some Sequence<ActorID> {
        pieces.lazy.flatMap { $0.page(after: nil, limit: .max).map(\.actor) }
    }

    private var pieces: [VoteArray] {
        switch self {
        case .few(let votes): [votes]
        case .many(let pieces): pieces
        }
    }

    /// An actor's vote; nil: there is none.
    subscript(actor: ActorID) -> Vote? {
        switch self {
        case .few(let votes): return votes[actor]
        case .many(let pieces):
            let piece = Self.piece(of: actor, in: pieces)
            return piece < pieces.count ? pieces[piece][actor] : nil
        }
    }

    /// Makes room for so many more votes at once, while one array is enough for all.
    mutating func reserve(_ more: Int) {
        guard case .few(var votes) = self, votes.count + more <= Self.most else { return }
        // Otherwise the array would have two owners, and a change would copy it.
        self = PackedVotes()
        votes.reserve(more)
        self = .few(votes)
    }

    /// Puts an actor's vote in place of the one before, nil takes it out; returns the one before.
    mutating func replace(_ vote: Vote?, of actor: ActorID) -> Vote? {
        switch self {
        case .few(var votes):
            self = PackedVotes()
            let previous = votes.replace(vote, of: actor)
            self = .few(votes)
            guard votes.count > Self.most else { return previous }
            let (one, other) = votes.halves
            self = .many([one, other])
            return previous
        case .many(var pieces):
            self = PackedVotes()
            let previous = Self.replace(vote, of: actor, in: &pieces)
            self = pieces.isEmpty ? PackedVotes() : .many(pieces)
            return previous
        }
    }

    /// The votes by actor, after one, at most so many.
    func page(after actor: ActorID?, limit: Int) -> [(actor: ActorID, vote: Vote)] {
        let pieces = pieces
        let first = actor.map { Self.piece(of: $0, in: pieces) } ?? 0
        var page: [(actor: ActorID, vote: Vote)] = []
        for piece in pieces[first...] {
            guard page.count < limit else { break }
            page += piece.page(after: actor, limit: limit - page.count)
        }
        return page
    }

    private static func replace(
        _ vote: Vote?, of actor: ActorID, in pieces: inout [VoteArray]
    ) -> Vote? {
        let piece = min(piece(of: actor, in: pieces), pieces.count - 1)
        let previous = pieces[piece].replace(vote, of: actor)
        if pieces[piece].isEmpty {
            pieces.remove(at: piece)
        } else if pieces[piece].count > most {
            let (one, other) = pieces[piece].halves
            pieces[piece] = one
            pieces.insert(other, at: piece + 1)
        }
        return previous
    }

    /// The first piece that ends with an actor or after them.
    private static func piece(of actor: ActorID, in pieces: [VoteArray]) -> Int {
        var (low, high) = (0, pieces.count)
        while low < high {
            let middle = (low + high) / 2
            if let last = pieces[middle].lastActor, last < actor {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }
}
