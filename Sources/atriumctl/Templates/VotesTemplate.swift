/// A new plugin of the kind `votes`: thumbs up and down.
enum VotesTemplate {
    /// The component.
    static let source = ##"""
        public import AtriumKit

        /// Thumbs: 1 for up, -1 for down. The score is the sum.
        public final class {{Name}}: Voting {
            public weak var delegate: (any VotingDelegate)?
            private var ballots: [Subject: [ActorID: Ballot]] = [:]

            public init(context: ComponentContext) {}

            /// What front ends offer: these two values, on items and on the container.
            public var facts: VoteFacts { VoteFacts(min: -1, max: 1, step: 2) }

            /// State changes here alone: when a command was accepted, and when the host restarts.
            public func apply(_ change: Change) {
                guard let (subject, actor) = Ballot.parse(key: change.key) else { return }
                ballots[subject, default: [:]][actor] =
                    change.value.flatMap { Ballot(key: change.key, value: $0) }
                delegate?.voting(self, didChange: tally(of: subject), of: subject)
            }

            /// Says what would change, and changes nothing.
            public func cast(_ ballot: Ballot, _ context: CommandContext) throws(Refusal) -> [Change] {
                guard ballot.value == 1 || ballot.value == -1 else {
                    throw Refusal(.refused, "A thumb is 1 (up) or -1 (down), not \(ballot.value).")
                }
                if ballots[ballot.subject]?[ballot.actor]?.value == ballot.value { return [] }
                return [ballot.record]
            }

            public func retract(
                actor: ActorID, subject: Subject, _ context: CommandContext
            ) throws(Refusal) -> [Change] {
                if ballots[subject]?[actor] == nil { return [] }
                return [.removed(key: Ballot.key(actor: actor, subject: subject))]
            }

            public func tally(of subject: Subject) -> Tally {
                let values = ballots[subject, default: [:]].values.map(\.value)
                var tally = Tally(count: values.count, score: values.isEmpty ? nil : values.reduce(0, +))
                for value in values {
                    tally.histogram[Value.number(value).plainText ?? "", default: 0] += 1
                }
                return tally
            }

            public var tallies: [(subject: Subject, tally: Tally)] {
                ballots.keys.map { ($0, tally(of: $0)) }
            }

            public func ballot(of actor: ActorID, on subject: Subject) -> Ballot? {
                ballots[subject]?[actor]
            }

            public func ballots(on subject: Subject, after: ActorID?, limit: Int) -> [Ballot] {
                let all = ballots[subject, default: [:]].values.sorted { $0.actor < $1.actor }
                return Array(all.filter { after.map($0.actor.follows) ?? true }.prefix(limit))
            }

            public func recordKeys(about subject: Subject) -> [String] {
                ballots[subject, default: [:]].keys.map { Ballot.key(actor: $0, subject: subject) }
            }
        }

        extension ActorID {
            fileprivate func follows(_ other: ActorID) -> Bool { other < self }
        }

        /// Exports the class; the host finds the function by its name.
        @c({{entry}})
        public func exported() -> UnsafeMutableRawPointer { exportPlugin({{Name}}.self) }
        """##

    /// A test of what it does.
    static let test = ##"""
            @Test func `thumbs add up`() throws {
                let host = try MemoryHost({{Name}}.self)
                try host.run(.castBallot(subject: .container, value: 1), as: 1)
                try host.run(.castBallot(subject: .container, value: -1), as: 2)
                let tally = Tally(count: 2, score: 0, histogram: ["1": 1, "-1": 1])
                #expect(host.events.last == .tally(.container, tally))
                #expect(throws: Refusal.self) { try host.run(.castBallot(subject: .container, value: 5)) }
            }
        """##
}
