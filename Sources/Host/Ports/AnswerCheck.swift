public import AtriumKit
import Index
import PluginLoader
import Store

/// Checks what a component answers, raises and publishes; a value that breaks a rule is rejected as a whole.
///
/// A decision may write only the records that the command names, each in the shape that its kind has. An answer may
/// contain only what was asked for. Numbers must be finite and counts must not be negative. Records, tallies,
/// sections and notifications are bounded here. The reader of a worker's messages bounds those, the texts of its
/// failures and the state that it loads.
///
/// For a component in the daemon's own process, decisions, events and a source's answers are checked. Its answers to
/// queries, and the tallies and counts that it loads, are not.
public final class AnswerCheck: Sendable {
    /// How many patterns a component may observe.
    public static let patterns = InProcessServices.maxPatterns
    /// The most bytes of a ballot's record.
    private static let ballotBytes = 4_096
    /// The most values of a tally's histogram.
    static let histogramValues = 16_384
    /// The most sections of a component.
    public static let sections = 256
    /// The bytes of a filter's id that are always allowed; `filterBytes` may allow more, and limits what is selected.
    private static let filterBytes = 4_096
    /// The most filters of a section, unless `facetValues` allows more values of a field.
    static let filters = 16_384
    /// The most texts, ranges and parts of combined predicates, in the filters of all sections together.
    static let searches = 1_000
    /// The most held comments in a page of a thread.
    static let mostHeld = 1_000
    /// The most bytes of the items in a source's answer.
    static let answerBytes = 4 << 20
    /// The most ballots, comments or items that a component may count; sums of such counts don't overflow.
    static let mostCount = 1 << 40
    /// The times that a record may contain: from 1970 to 9999, in milliseconds.
    static let validTimes: ClosedRange<Int64> = 0...253_402_300_799_999

    let kind: Kind
    let limits: HostLimits
    private let topic: String
    let checker: FieldChecker

    /// Makes a check for the component that this request makes.
    public init(_ request: LaunchRequest) {
        kind = request.plugin.kind
        topic = "\(request.container).plugin.\(request.component)."
        limits = request.limits
        checker = FieldChecker(fields: request.fields)
    }

    /// Returns those of a component's observed fields that exist, each once.
    public func observable(_ names: [String]) -> [String] {
        var rest = Set(checker.fields.map(\.name) + DerivedValues.names)
        return names.filter { rest.remove($0) != nil }
    }

    /// Why a notification can't be posted, as a clause; nil: it can.
    public func problem(publishing name: String, _ payload: [String: Value]) -> String? {
        if let problem = Topic.problem(in: name) ?? Topic.problem(in: topic + name) {
            return problem
        }
        let size = Value.object(payload).roughSize
        guard size > limits.payloadBytes else { return nil }
        return "its payload has \(size) bytes, at most \(limits.payloadBytes) are allowed "
            + "(limits.payloadBytes)"
    }

    /// The most bytes of the id of a filter on offer.
    var filterBytes: Int { max(limits.filterBytes, Self.filterBytes) }

    func tooBig(_ value: Value, _ limit: Int, _ what: String) -> String? {
        let size = value.roughSize
        return size <= limit ? nil : "\(what) of \(size) bytes, where \(limit) are allowed"
    }
}

// MARK: Decisions

extension AnswerCheck {
    /// A call to a component whose answer is checked.
    public enum Asked: Sendable {
        case command(ComponentCommand, CommandContext)
        case query(ComponentQuery)
    }

    /// The most items and subjects in the events of a decision: they are shown in one turn of the event loop.
    ///
    /// A command names at most ``HostLimits/batchItems``; a component reports other changes by itself, later.
    var decisionEvents: Int { 4 * max(limits.batchItems, 1_000) }

    /// The problem of a decision, as the continuation of "answered with"; nil: nothing.
    public func problem(
        in decision: Decision, on command: ComponentCommand, _ context: CommandContext
    ) -> String? {
        if case .putItems(let items) = command, decision.putsUnchanged(items) { return nil }
        let size = decision.changes.reduce(0) {
            $0 + $1.key.utf8.count + ($1.value?.roughSize ?? 0)
        }
        // The store rejects an entry beyond `mostBytes`. A decision of twice that need not be examined.
        guard size <= 2 * Entry.mostBytes else {
            return "records of \(size) bytes, where \(2 * Entry.mostBytes) are allowed"
        }
        let count = decision.events.reduce(0) { $0 + $1.count }
        guard count <= decisionEvents else {
            return "changes of \(count) items or subjects, where \(decisionEvents) are allowed"
        }
        // The host checked the command's items before the call, so an item that is equal to one of them fits.
        var put: [String: Item] = [:]
        if case .putItems(let items) = command {
            put.reserveCapacity(items.count)
            for item in items { put[item.id] = item }
        }
        let problem =
            switch command {
            case .putItems(let items): self.problem(in: decision, putting: put, items.count)
            case .removeItems(let ids): self.problem(in: decision, removing: ids)
            case .castBallot(let subject, _), .retractBallot(let subject):
                self.problem(in: decision, ofBallotOn: subject, by: context.actor)
            case .postComment(let draft):
                self.problem(in: decision, ofComment: draft.id, draft, by: context.actor)
            case .editComment(let id, _), .deleteComment(let id), .moderateComment(let id, _, _, _):
                self.problem(in: decision, ofComment: id, nil, by: context.actor)
            case .restoreRecords(let changes):
                decision.changes == changes && decision.answer == .restored(changes.count)
                    ? nil : "other records than were to be restored"
            }
        return problem ?? self.problem(in: decision.events)
            ?? (kind == .contents ? unfitItem(in: decision.events, put) : nil)
    }

    private func problem(
        in decision: Decision, putting asked: [String: Item], _ count: Int
    ) -> String? {
        for change in decision.changes {
            guard let put = asked[change.key] else {
                return Self.record(change.key, "was not put")
            }
            guard let value = change.value, let item = Item(key: change.key, value: value) else {
                return Self.record(change.key, "is no item")
            }
            if item != put, let problem = checker.check(item) {
                return "an item that does not fit: \(problem)"
            }
        }
        guard case .items(let inserted, let updated, let unchanged) = decision.answer else {
            return Self.anotherAnswer
        }
        guard inserted.allSatisfy({ asked[$0] != nil }), updated.allSatisfy({ asked[$0] != nil }),
            (0...count).contains(unchanged)
        else { return "items that were not put" }
        return nil
    }

    private func problem(in decision: Decision, removing ids: [String]) -> String? {
        let asked = Set(ids)
        for change in decision.changes where !asked.contains(change.key) || change.value != nil {
            return Self.record(change.key, "was not to be removed")
        }
        guard case .removed(let removed) = decision.answer else { return Self.anotherAnswer }
        return removed.allSatisfy(asked.contains) ? nil : "items that were not to be removed"
    }

    private func problem(
        in decision: Decision, ofBallotOn subject: Subject, by actor: ActorID
    ) -> String? {
        let key = Ballot.key(actor: actor, subject: subject)
        for change in decision.changes {
            guard change.key == key else {
                return Self.record(change.key, "is not that ballot's")
            }
            guard let value = change.value else { continue }
            if let problem = tooBig(value, Self.ballotBytes, "a ballot") { return problem }
            guard let ballot = Ballot(subject: subject, actor: actor, record: value),
                isValid(ballot)
            else { return Self.record(key, "is no ballot") }
        }
        guard case .ballot(let tally, let previous, let current) = decision.answer else {
            return Self.anotherAnswer
        }
        guard previous?.isFinite ?? true, current?.isFinite ?? true else {
            return "a value that is no finite number"
        }
        return problem(in: tally)
    }

    private func problem(
        in decision: Decision, ofComment id: String, _ draft: CommentDraft?, by actor: ActorID
    ) -> String? {
        for change in decision.changes {
            guard change.key == id else {
                return Self.record(change.key, "is not that comment's")
            }
            guard let value = change.value else { continue }
            guard let comment = Comment(key: id, value: value), isValid(comment) else {
                return Self.record(id, "is no comment")
            }
            guard let draft else { continue }
            guard comment.author == actor, comment.subject == draft.subject,
                comment.parent == draft.parent
            else { return Self.record(id, "is another's comment, or at another place") }
        }
        guard case .comment(let entry) = decision.answer, entry.comment.id == id, isValid(entry)
        else { return Self.anotherAnswer }
        return nil
    }

    private func unfitItem(in events: [ComponentEvent], _ put: [String: Item]) -> String? {
        // Other kinds raise no events about items.
        guard kind == .contents else { return nil }
        for event in events {
            guard case .contents(let change) = event else { continue }
            for item in change.items where put[item.id] != item {
                if let problem = checker.check(item) {
                    return "an item that does not fit: \(problem)"
                }
            }
        }
        return nil
    }

    static let anotherAnswer = "something else than was asked"

    static func record(_ key: String, _ reason: String) -> String {
        // A ballot's key contains a line feed.
        let name = key.prefix(100).split(separator: "\n", omittingEmptySubsequences: false)
        return "the record '\(name.joined(separator: "/"))', which \(reason)"
    }
}
