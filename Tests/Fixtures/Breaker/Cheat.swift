import AtriumKit

/// Votes that are answered with what no host should believe, as the setting says.
final class Cheat: Voting {
    private static let lie = Setting.text(
        "lie", "What to say in place of the truth."
    ).defaulting(to: "")
    static var settings: [Setting] { [lie.setting] }

    weak var delegate: (any VotingDelegate)?
    let tallies: [(subject: Subject, tally: Tally)]
    private let context: ComponentContext
    private let lie: String

    init(context: ComponentContext) throws {
        self.context = context
        lie = context.settings[Self.lie]
        tallies = lie == "tallies" ? [(.container, Tally(count: -1))] : []
    }

    var facts: VoteFacts {
        switch lie {
        case "facts": VoteFacts(min: 1, max: .infinity)
        case "step": VoteFacts(step: 0)
        case "subjects": VoteFacts(subjects: [])
        default: VoteFacts(min: 1)
        }
    }

    func cast(_ ballot: Ballot, _ context: CommandContext) throws(Refusal) -> [Change] {
        let key = Ballot.key(actor: ballot.actor, subject: ballot.subject)
        switch lie {
        case "key": return [.put(key: "nonsense", value: .object([:]))]
        case "value": return [.put(key: key, value: "nonsense")]
        case "person":
            let other = Ballot.key(actor: ActorID(ballot.actor.number + 1), subject: ballot.subject)
            return [ballot.record, .removed(key: other)]
        case "size", "greatest":
            let length = lie == "size" ? 100_000 : 34_000_000
            return [
                .put(
                    key: key,
                    value: [
                        "value": 1, "cast": 1, "more": .text(String(repeating: "a", count: length)),
                    ])
            ]
        default: return [ballot.record]
        }
    }

    func retract(
        actor: ActorID, subject: Subject, _ context: CommandContext
    ) throws(Refusal) -> [Change] {
        [.removed(key: Ballot.key(actor: actor, subject: subject))]
    }

    func tally(of subject: Subject) -> Tally {
        switch lie {
        case "score": Tally(count: 1, score: .nan)
        case "histogram": Tally(count: 1, score: 1, histogram: ["1": 7])
        default: Tally(count: 1, score: 1)
        }
    }

    func ballot(of actor: ActorID, on subject: Subject) -> Ballot? { nil }

    func ballots(on subject: Subject, after: ActorID?, limit: Int) -> [Ballot] {
        let ballot = Ballot(
            subject: .item("another"), actor: ActorID(1), value: 1,
            cast: Timestamp(milliseconds: 0))
        return lie == "ballots" ? [ballot] : []
    }

    func recordKeys(about subject: Subject) -> [String] {
        lie == "keys" ? [Ballot.key(actor: ActorID(1), subject: .item("another"))] : []
    }

    func apply(_ change: Change) {
        delegate?.voting(self, didChange: tally(of: .container), of: .container)
    }
}

/// The plugin's entry.
@c(atrium_plugin_org_atrium_cheat)
public func cheatEntry() -> UnsafeMutableRawPointer { exportPlugin(Cheat.self) }
