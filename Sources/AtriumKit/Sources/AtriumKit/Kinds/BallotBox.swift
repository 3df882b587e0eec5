/// The ballots of a votes component: the bookkeeping of ``Voting`` that is the same for all.
///
/// It reads records, counts, and knows who voted what. What a vote is worth is the component's: it gives the score, and
/// decides which votes it takes.
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
    /// What a change did to one actor's ballot on one subject.
    public struct Turn: Sendable, Hashable {
        /// What the ballot is about.
        public var subject: Subject
        /// Whose it is.
        public var actor: ActorID
        /// What it was; nil: there was none.
        public var previous: Ballot?
        /// What it is; nil: there is none any more.
        public var ballot: Ballot?

        /// A turn from one ballot to another.
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
        /// Up to so many actors are sorted when somebody asks for them.
        static let few = 4_096

        var byActor = SplitDictionary<ActorID, Vote>()
        var histogram: [Double: Int] = [:]
        /// The actors in order, once they are more than a few: sorting all of them would take too long.
        var ordered: SplitOrder<ActorID>?
    }

    private var votes = SplitDictionary<Subject, Votes>()

    /// A box without ballots.
    public init() {}

    /// The subjects that have ballots, in any order.
    public var subjects: some Sequence<Subject> { votes.keys }

    /// Makes one record what a change says.
    ///
    /// - Parameters:
    ///   - change: the record; one that is no ballot's counts as none.
    ///   - isTaken: whether a ballot counts; one that does not counts as none, such as one that is not on the scale
    ///     any more. By default all do.
    /// - Returns: what it did; nil: nothing.
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

    /// An actor's ballot on a subject; nil: there is none.
    public func ballot(of actor: ActorID, on subject: Subject) -> Ballot? {
        votes[subject]?.byActor[actor].map {
            Ballot(subject: subject, actor: actor, value: $0.value, cast: $0.cast)
        }
    }

    /// The ballots on a subject by actor, after one actor, at most so many.
    ///
    /// A page costs what it holds, however many ballots there are. It changes nothing any more, and is mutating for those
    /// who were built when it did.
    public mutating func ballots(on subject: Subject, after: ActorID?, limit: Int) -> [Ballot] {
        guard let votes = votes[subject] else { return [] }
        return votes.page(after: after, limit: limit).map { actor, vote in
            Ballot(subject: subject, actor: actor, value: vote.value, cast: vote.cast)
        }
    }

    /// The keys of all records about a subject, for ``Voting/recordKeys(about:)``.
    public func recordKeys(about subject: Subject) -> [String] {
        votes[subject]?.byActor.keys.map { Ballot.key(actor: $0, subject: subject) } ?? []
    }

    /// How many ballots there are on a subject.
    public func count(of subject: Subject) -> Int { votes[subject]?.byActor.count ?? 0 }

    /// How many ballots on a subject have each value.
    public func histogram(of subject: Subject) -> [Double: Int] { votes[subject]?.histogram ?? [:] }

    /// The sum of all votes on a subject, the same in whatever order they came; nil without ballots.
    public func sum(of subject: Subject) -> Double? {
        votes[subject].map { votes in
            votes.histogram.sorted { $0.key < $1.key }.reduce(0) { $0 + $1.key * Double($1.value) }
        }
    }

    /// The tally of a subject, with a score that the component gives; without ballots an empty one.
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
    /// Puts an actor's vote in place of the one before; nil takes it out.
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

    /// The votes by actor, after one, at most so many.
    fileprivate func page(
        after: ActorID?, limit: Int
    ) -> [(actor: ActorID, vote: BallotBox.Vote)] {
        let ordered = ordered ?? SplitOrder(sorting: byActor.keys)
        return ordered.page(after: after, limit: limit).compactMap { actor in
            byActor[actor].map { (actor, $0) }
        }
    }
}
