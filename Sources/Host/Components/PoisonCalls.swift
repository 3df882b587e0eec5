import AtriumKit
import DequeModule

/// Identifies a call to a component, so that a repetition of it is recognised.
///
/// Generated ids, times and screens are left out, because a repetition has others.
struct CallIdentity: Hashable {
    /// The call, such as `castBallot`.
    let name: String
    /// The item, comment or subject of the call, for people.
    let about: String?
    /// The actor on whose behalf the call is made; nil for a query.
    let actor: ActorID?
    private let digest: Int

    init(_ command: ComponentCommand, by actor: ActorID) {
        name = command.name
        self.actor = actor
        switch command {
        case .putItems(let items): about = Self.words(items.map(\.id))
        case .removeItems(let ids): about = Self.words(ids)
        case .castBallot(let subject, _), .retractBallot(let subject):
            about = Self.words(subject)
        case .postComment(let draft): about = Self.words(draft.subject)
        case .editComment(let id, _), .deleteComment(let id), .moderateComment(let id, _, _, _):
            about = Self.words([id])
        case .restoreRecords(let changes): about = Self.words(changes.map(\.key))
        }
        if case .postComment(var draft) = command {
            draft.id = ""
            digest = ComponentCommand.postComment(draft).hashValue
        } else {
            digest = command.hashValue
        }
    }

    init(_ query: ComponentQuery) {
        name = query.name
        actor = nil
        about =
            switch query {
            case .details(let id), .comment(let id): Self.words([id])
            case .ballots(let subject, _, _): Self.words(subject)
            case .recordKeys(let subjects), .recordKeyPage(let subjects, _, _):
                subjects.first.flatMap { Self.words($0) }
            default: nil
            }
        switch query {
        case .select(let filter, let selection, _):
            digest = ComponentQuery.select(filter, of: selection, screen: "").hashValue
        case .deselect(let filter, let selection, _):
            digest = ComponentQuery.deselect(filter, of: selection, screen: "").hashValue
        case .clear(let selection, _):
            digest = ComponentQuery.clear(selection, screen: "").hashValue
        default: digest = query.hashValue
        }
    }

    /// The call without its actor.
    var anyone: Content { Content(name: name, digest: digest) }

    struct Content: Hashable {
        let name: String
        let digest: Int
    }

    /// The call for people, such as `putItems of 'a' and 2 more`.
    var words: String { name + (about.map { " of \($0)" } ?? "") }

    private static func words(_ ids: [String]) -> String? {
        guard let first = ids.first else { return nil }
        return "'\(first.prefix(200))'" + (ids.count > 1 ? " and \(ids.count - 1) more" : "")
    }

    private static func words(_ subject: Subject) -> String {
        subject.item.map { "'\($0.prefix(200))'" } ?? "the container"
    }
}

/// The calls during which a component's worker ended: they are refused for a while, all others are made.
///
/// A call is refused to the actors on whose behalf it ended a worker, and to everyone once there are two of them.
/// When there are too many such calls, the oldest are forgotten.
struct PoisonCalls {
    /// The maximum number of calls that are remembered.
    static let most = 64

    private struct Call {
        let content: CallIdentity.Content
        let words: String
        var actors: Set<ActorID?>
        var until: Timestamp
        var reason: String
    }

    private var calls: Deque<Call> = []

    var isEmpty: Bool { calls.isEmpty }

    /// Remembers a call during which the worker ended, and until when it is not tried again.
    mutating func add(_ call: CallIdentity, until: Timestamp, because reason: String) {
        var actors: Set<ActorID?> = [call.actor]
        if let index = calls.firstIndex(where: { $0.content == call.anyone }) {
            actors.formUnion(calls.remove(at: index).actors)
        }
        calls.append(
            Call(
                content: call.anyone, words: call.words, actors: actors, until: until,
                reason: reason))
        if calls.count > Self.most { calls.removeFirst() }
    }

    /// The error with which a call is refused; nil if it may be made.
    mutating func refusal(
        of call: CallIdentity, by component: String, at now: Timestamp
    ) -> HostError? {
        calls.removeAll { $0.until <= now }
        guard let known = calls.first(where: { $0.content == call.anyone }),
            known.actors.contains(call.actor) || known.actors.count > 1
        else { return nil }
        return .componentFailed(
            ComponentFailure(
                component: component,
                reason: "The component failed whenever this call was made, so it is refused until "
                    + "\(known.until.text). Other calls are answered.",
                details: Self.sentence(call.words, known.reason, until: known.until),
                retryAfter: Double(known.until.milliseconds - now.milliseconds) / 1_000,
                isOfCall: true))
    }

    /// The refused calls, for people.
    func words(at now: Timestamp) -> [String] {
        calls.filter { $0.until > now }.map { "\($0.words), until \($0.until.text)" }
    }

    private static func sentence(_ call: String, _ reason: String, until: Timestamp) -> String {
        "The call \(call) ended the component's worker, and is refused until \(until.text): "
            + "\(reason) Other calls are answered."
    }
}
