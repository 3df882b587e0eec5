/// A new plugin of the kind `votes`: thumbs up and down.
enum VotesTemplate {
    /// The component.
    static let source = ##"""
        public import AtriumKit

        /// Thumbs: 1 for up, -1 for down. The score is the sum.
        public final class {{Name}}: Voting {
            public weak var delegate: (any VotingDelegate)?
            /// Who voted what: read from records, counted, and named for the host.
            private var box = BallotBox()

            public init(context: ComponentContext) {}

            /// What front ends offer: these two values, on items and on the container.
            public var facts: VoteFacts { VoteFacts(min: -1, max: 1, step: 2) }

            /// State changes here alone: when a command was accepted, and when the host restarts.
            public func apply(_ change: Change) {
                guard let turn = box.apply(change) else { return }
                delegate?.voting(self, didChange: tally(of: turn.subject), of: turn.subject)
            }

            /// Says what would change, and changes nothing.
            public func cast(_ ballot: Ballot, _ context: CommandContext) throws(Refusal) -> [Change] {
                guard ballot.value == 1 || ballot.value == -1 else {
                    throw Refusal(.refused, "A thumb is 1 (up) or -1 (down), not \(ballot.value).")
                }
                let previous = box.ballot(of: ballot.actor, on: ballot.subject)
                return previous?.value == ballot.value ? [] : [ballot.record]
            }

            public func retract(
                actor: ActorID, subject: Subject, _ context: CommandContext
            ) throws(Refusal) -> [Change] {
                if box.ballot(of: actor, on: subject) == nil { return [] }
                return [.removed(key: Ballot.key(actor: actor, subject: subject))]
            }

            public func tally(of subject: Subject) -> Tally {
                box.tally(of: subject, score: box.sum(of: subject))
            }

            public var tallies: [(subject: Subject, tally: Tally)] {
                box.subjects.map { ($0, tally(of: $0)) }
            }

            public func ballot(of actor: ActorID, on subject: Subject) -> Ballot? {
                box.ballot(of: actor, on: subject)
            }

            public func ballots(on subject: Subject, after: ActorID?, limit: Int) -> [Ballot] {
                box.ballots(on: subject, after: after, limit: limit)
            }

            public func recordKeys(about subject: Subject) -> [String] { box.recordKeys(about: subject) }
        }

        /// Exports the class; the host finds the function by its name.
        @c({{entry}})
        public func exported() -> UnsafeMutableRawPointer { exportPlugin({{Name}}.self) }
        """##

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
