import AtriumKit
import JSONCodec

/// The command that casts or retracts a ballot.
final class BallotCommand: Command {
    private let item: String?
    /// The value to cast; nil retracts the ballot.
    private let value: Double?
    private let reply: Answer<VoteResult>

    init(
        _ value: Double?, on item: String?, to slot: Slot, of container: Container,
        by caller: Caller, _ reply: @escaping Answer<VoteResult>
    ) {
        self.item = item
        self.value = value
        self.reply = reply
        let subject = Subject(item: item)
        super.init(
            value.map { .castBallot(subject: subject, value: $0) }
                ?? .retractBallot(subject: subject),
            on: slot, of: container, container.context(caller))
    }

    override func objection() -> HostError? {
        if let absence = container.absence(of: item) ?? container.closure(.votes) {
            return absence
        }
        guard let value else { return nil }
        guard value.isFinite else { return .refused(reason: "No number.", retryAfter: nil) }
        let ballot = Ballot(
            subject: Subject(item: item), actor: context.actor, value: value, cast: context.time)
        return container.veto(slot) { container.delegate.votes($0, shouldAccept: ballot) }
    }

    override func draft(of decision: Decision) -> EntryDraft? {
        guard !decision.changes.isEmpty,
            case .ballot(let tally, let previous, _) = decision.answer
        else { return nil }
        return EntryDraft(
            topic: value == nil ? .votesRetracted : .votesCast,
            // Visible to everyone, so it names neither the actor nor their vote.
            payload: Payload.object {
                $0.member("component", slot.name)
                $0.member("item", item)
                $0.member("count", tally.count)
                $0.member("score", tally.score)
            },
            restricted: Payload.object {
                $0.member("value", value)
                $0.member("previous", previous)
            })
    }

    override func end(_ result: Result<Decided, HostError>) {
        reply(
            result.map { decided in
                guard case .ballot(let tally, let previous, let current) = decided.decision.answer
                else {
                    return VoteResult(
                        tally: TallyView(tally: Tally(), mine: nil), previous: nil,
                        sequence: decided.sequence)
                }
                return VoteResult(
                    tally: TallyView(tally: tally, mine: current), previous: previous,
                    sequence: decided.sequence)
            })
    }
}
