import AtriumKit

/// The votes on one subject in the order of their actors, each in sixteen bytes.
///
/// Up to 512 stand in one sorted array, more in several of them: a vote finds its place in logarithmic time and moves few
/// others. A copy shares its memory until one of both changes, and then an array is copied at a time.
struct PackedVotes {
    /// A vote, and whose it is.
    private struct Entry {
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

    /// How many votes an array has at most.
    private static let most = 512

    /// All votes, while one array is enough.
    private var few: [Entry] = []
    /// Once it is not, arrays in order, none of them empty; empty before.
    private var pieces: [[Entry]] = []
    /// How many votes there are.
    private(set) var count = 0

    /// Whether there are none.
    var isEmpty: Bool { count == 0 }

    /// All actors, in order.
    var actors: some Sequence<ActorID> {
        (pieces.isEmpty ? [few] : pieces).lazy.joined().map(\.actor)
    }

    /// An actor's vote; nil: there is none.
    subscript(actor: ActorID) -> Vote? {
        guard !pieces.isEmpty else { return Self.vote(of: actor, in: few) }
        let piece = piece(of: actor)
        return piece < pieces.count ? Self.vote(of: actor, in: pieces[piece]) : nil
    }

    /// Makes room for so many more votes at once, while one array is enough for all.
    mutating func reserve(_ more: Int) {
        guard pieces.isEmpty, few.count + more <= Self.most else { return }
        few.reserveCapacity(few.count + more)
    }

    /// Puts an actor's vote in place of the one before; nil takes it out.
    ///
    /// - Returns: the one before; nil: there was none.
    mutating func replace(_ vote: Vote?, of actor: ActorID) -> Vote? {
        let entry = vote.map { Entry(actor, $0) }
        guard !pieces.isEmpty else {
            let previous = Self.replace(entry, of: actor, in: &few)
            count = few.count
            if count > Self.most {
                pieces = [few]
                few = []
                split(0)
            }
            return previous
        }
        let piece = min(piece(of: actor), pieces.count - 1)
        let previous = Self.replace(entry, of: actor, in: &pieces[piece])
        count += (vote == nil ? 0 : 1) - (previous == nil ? 0 : 1)
        if pieces[piece].isEmpty {
            pieces.remove(at: piece)
        } else if pieces[piece].count > Self.most {
            split(piece)
        }
        return previous
    }

    /// The votes by actor, after one, at most so many.
    func page(after actor: ActorID?, limit: Int) -> [(actor: ActorID, vote: Vote)] {
        let pieces = pieces.isEmpty ? [few] : pieces
        var place = 0
        var piece = 0
        if let actor {
            piece = pieces.count == 1 ? 0 : self.piece(of: actor)
            guard piece < pieces.count else { return [] }
            place = Self.place(of: actor, in: pieces[piece])
            if place < pieces[piece].count, pieces[piece][place].actor == actor { place += 1 }
        }
        var page: [(actor: ActorID, vote: Vote)] = []
        while page.count < limit, piece < pieces.count {
            for entry in pieces[piece][place...].prefix(limit - page.count) {
                page.append((entry.actor, entry.vote))
            }
            (piece, place) = (piece + 1, 0)
        }
        return page
    }

    /// Makes two of an array that has too many votes, neither with more room than it needs.
    private mutating func split(_ piece: Int) {
        let all = pieces[piece]
        pieces[piece] = Array(all[..<(all.count / 2)])
        pieces.insert(Array(all[(all.count / 2)...]), at: piece + 1)
    }

    /// The first piece that ends with an actor or after them.
    private func piece(of actor: ActorID) -> Int {
        var (low, high) = (0, pieces.count)
        while low < high {
            let middle = (low + high) / 2
            if pieces[middle][pieces[middle].count - 1].actor < actor {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    /// Where an actor's vote stands, or would.
    private static func place(of actor: ActorID, in entries: [Entry]) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].actor < actor { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func vote(of actor: ActorID, in entries: [Entry]) -> Vote? {
        let place = place(of: actor, in: entries)
        return place < entries.count && entries[place].actor == actor ? entries[place].vote : nil
    }

    private static func replace(
        _ entry: Entry?, of actor: ActorID, in entries: inout [Entry]
    ) -> Vote? {
        let place = place(of: actor, in: entries)
        guard place < entries.count, entries[place].actor == actor else {
            guard let entry else { return nil }
            // An array that doubles has room for half as many again on average.
            if entries.count == entries.capacity {
                entries.reserveCapacity(entries.count + max(1, entries.count / 8))
            }
            entries.insert(entry, at: place)
            return nil
        }
        defer { if let entry { entries[place] = entry } else { entries.remove(at: place) } }
        return entries[place].vote
    }
}
