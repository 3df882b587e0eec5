/// The ballots of a votes component: the bookkeeping that all implementations of ``Voting`` share.
///
/// It reads records, counts, and knows each actor's ballot. The component computes the score, and decides which votes
/// it accepts.
///
/// ```swift
/// func apply(_ change: Change) {
///     guard let turn = box.apply(change) else { return }
///     delegate?.voting(self, didChange: tally(of: turn.subject), of: turn.subject)
/// }
///
/// func tally(of subject: Subject) -> Tally {
///     box.tally(of: subject, score: box.sum(of: subject))
/// }
/// ```
public struct BallotBox {
    /// The effect of a change on one actor's ballot on one subject.
    public struct Turn: Sendable, Hashable {
        /// The subject of the ballot.
        public var subject: Subject
        /// The actor whose ballot it is.
        public var actor: ActorID
        /// The ballot before; nil if there was none.
        public var previous: Ballot?
        /// The ballot now; nil if there is none any more.
        public var ballot: Ballot?

        /// Creates the transition from one ballot to another.
        public init(subject: Subject, actor: ActorID, previous: Ballot?, ballot: Ballot?) {
            self.subject = subject
            self.actor = actor
            self.previous = previous
            self.ballot = ballot
        }
    }

    fileprivate struct Vote: Equatable {
        let value: Double
        let cast: Timestamp
    }

    fileprivate struct Votes {
        /// Up to this number of actors are sorted on request.
        static let few = 4_096

        var byActor = SplitDictionary<ActorID, Vote>()
        var histogram: [Double: Int] = [:]
        /// The actors in order, once there are more than `few`: sorting all of them would take too long.
        var ordered: SplitOrder<ActorID>?
    }

    private var votes = SplitDictionary<Subject, Votes>()

    /// Creates a box without ballots.
    public init() {}

    /// The subjects that have ballots, in any order.
    public var subjects: some Sequence<Subject> { votes.keys }

    /// Applies a change of one record.
    ///
    /// - Parameters:
    ///   - change: the change; a record that is no ballot counts as none.
    ///   - isTaken: whether a ballot counts; one that does not, such as one off the scale, counts as none. By default
    ///     all count.
    /// - Returns: the effect; nil if there is none.
    @discardableResult
    public mutating func apply(
        _ change: Change, where isTaken: (Ballot) -> Bool = { _ in true }
    ) -> Turn? {
        guard let (subject, actor) = Ballot.parse(key: change.key) else { return nil }
        let read = change.value.flatMap { Ballot(subject: subject, actor: actor, record: $0) }
        let ballot = read.flatMap { $0.value.isFinite && isTaken($0) ? $0 : nil }
        let previous = self.ballot(of: actor, on: subject)
        guard previous != ballot else { return nil }
        let isEmpty = votes.change(subject, default: Votes()) { votes in
            votes.replace(ballot.map { Vote(value: $0.value, cast: $0.cast) }, of: actor)
            return votes.byActor.isEmpty
        }
        if isEmpty { votes[subject] = nil }
        return Turn(subject: subject, actor: actor, previous: previous, ballot: ballot)
    }

    /// Returns an actor's ballot on a subject; nil if there is none.
    public func ballot(of actor: ActorID, on subject: Subject) -> Ballot? {
        votes[subject]?.byActor[actor].map {
            Ballot(subject: subject, actor: actor, value: $0.value, cast: $0.cast)
        }
    }

    /// Returns at most `limit` ballots on a subject, ordered by actor, starting after an actor.
    ///
    /// Its cost is proportional to the page, not to the number of ballots. Changes nothing; `mutating` only for
    /// compatibility with older plugins.
    public mutating func ballots(on subject: Subject, after: ActorID?, limit: Int) -> [Ballot] {
        guard let votes = votes[subject] else { return [] }
        return votes.page(after: after, limit: limit).map { actor, vote in
            Ballot(subject: subject, actor: actor, value: vote.value, cast: vote.cast)
        }
    }

    /// Returns the keys of all records about a subject, for ``Voting/recordKeys(about:)``.
    public func recordKeys(about subject: Subject) -> [String] {
        votes[subject]?.byActor.keys.map { Ballot.key(actor: $0, subject: subject) } ?? []
    }

    /// Returns the number of ballots on a subject.
    public func count(of subject: Subject) -> Int { votes[subject]?.byActor.count ?? 0 }

    /// Returns the number of ballots on a subject by value.
    public func histogram(of subject: Subject) -> [Double: Int] { votes[subject]?.histogram ?? [:] }

    /// Returns the sum of all votes on a subject, independent of their order; nil without ballots.
    public func sum(of subject: Subject) -> Double? {
        votes[subject].map { votes in
            votes.histogram.sorted { $0.key < $1.key }.reduce(0) { $0 + $1.key * Double($1.value) }
        }
    }

    /// Returns the tally of a subject, with the component's score; without ballots an empty tally.
    public func tally(of subject: Subject, score: Double?) -> Tally {
        guard let votes = votes[subject] else { return Tally() }
        var written = [String: Int](minimumCapacity: votes.histogram.count)
        for (value, count) in votes.histogram {
            written[Value.number(value).plainText ?? ""] = count
        }
        return Tally(count: votes.byActor.count, score: score, histogram: written)
    }
}

extension BallotBox.Votes {
    /// Replaces an actor's vote; nil removes it.
    fileprivate mutating func replace(_ vote: BallotBox.Vote?, of actor: ActorID) {
        let previous = byActor[actor]
        byActor[actor] = vote
        if let previous { count(previous.value, by: -1) }
        if let vote { count(vote.value, by: 1) }
        guard (previous == nil) != (vote == nil) else { return }
        if vote == nil {
            ordered?.remove(actor)
        } else if ordered != nil {
            ordered?.insert(actor)
        } else if byActor.count > Self.few {
            ordered = SplitOrder(sorting: byActor.keys)
        }
    }

    private mutating func count(_ value: Double, by step: Int) {
        let count = histogram[value, default: 0] + step
        histogram[value] = count == 0 ? nil : count
    }

    /// Returns at most `limit` votes, ordered by actor, starting after an actor.
    fileprivate func page(
        after: ActorID?, limit: Int
    ) -> [(actor: ActorID, vote: BallotBox.Vote)] {
        let ordered = ordered ?? SplitOrder(sorting: byActor.keys)
        return ordered.page(after: after, limit: limit).compactMap { actor in
            byActor[actor].map { (actor, $0) }
        }
    }
}
