public import AtriumKit

/// The rules that every delegate must keep.
///
/// The suite calls a delegate with random arguments, the same for the same seed, and checks that
/// - equal arguments give equal results, also from a new delegate that was never called before, and deciding what a
///   screen shows sends the same messages, leads to the same places and makes the same changes;
/// - its own result, passed as an argument, is returned unchanged.
public enum DelegateSuite {
    private static let sameAnswer =
        "the same question has the same answer, whatever was asked or happened before"
    private static let settled = "asked about its own answer, it gives just that"

    /// Runs the suite.
    ///
    /// - Parameters:
    ///   - type: the delegate's class.
    ///   - settings: the delegate's settings; a plugin's manifest gives them as `"conformance": {"settings": {…}}`.
    ///   - fields: the container's fields.
    ///   - seed: the seed of the random arguments; a failure names it.
    ///   - questions: the number of calls.
    /// - Throws: ``DelegateFailure`` for the first rule that is broken, or the errors of the delegate's `init`.
    public static func run(
        _ type: ContainerDelegate.Type, settings: [String: Value] = [:],
        fields: [Field] = Conformance.fields, seed: UInt64 = 1, questions: Int = 200
    ) throws {
        var questioner = Questioner(fields: fields, seed: seed)
        let host = try DelegateHost(type, settings: settings, fields: fields)
        for number in 0..<questions {
            let fresh = try DelegateHost(type, settings: settings, fields: fields)
            let hosts = [host, host, fresh]
            func check<Answer: Equatable>(_ what: String, _ answers: [Answer]) throws {
                guard let first = answers.first, let other = answers.first(where: { $0 != first })
                else { return }
                throw DelegateFailure(
                    seed: seed, rule: sameAnswer,
                    difference: "question \(number), \(what): \(first), then \(other)")
            }
            let (ballot, draft) = (questioner.ballot(), questioner.draft())
            try check("\(ballot)", hosts.map { $0.delegate.votes(.votes, shouldAccept: ballot) })
            try check(
                "\(draft)",
                hosts.map {
                    $0.delegate.comments(.comments, shouldAccept: draft, by: ballot.actor)
                })
            try check(
                "the text '\(draft.text)'",
                hosts.map {
                    $0.delegate.comments(
                        .comments, shouldAcceptEdit: draft.text, of: draft.id, by: ballot.actor)
                })
            let (next, shown) = (questioner.choices(), questioner.shown())
            let screen = ScreenReference(id: "s\(number % 3)", actor: ballot.actor)
            let shows = hosts.map { $0.ask(screen, next, after: shown) }
            let answers = shows.map(\.answer)
            try check("\(next)", answers)
            try check("\(next), what it did beside", shows.map(\.deeds))
            for (host, answer) in zip(hosts, answers) {
                let again = host.ask(screen, answer, after: shown).answer
                guard again != answer else { continue }
                throw DelegateFailure(
                    seed: seed, rule: settled,
                    difference: "question \(number), \(next): \(answer), then \(again)")
            }
            questioner.happen(to: host.delegate, on: screen)
        }
    }
}

/// A rule that a delegate breaks.
public struct DelegateFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The seed that reproduces the failure.
    public var seed: UInt64
    /// The rule, in a sentence.
    public var rule: String
    /// The difference between the results.
    public var difference: String

    /// The failure as text, for people.
    public var description: String {
        "delegate, seed \(seed): broken is \"\(rule)\": \(difference)"
    }
}

extension ComponentReference {
    fileprivate static let votes = ComponentReference(name: "votes", kind: .votes)
    fileprivate static let comments = ComponentReference(name: "comments", kind: .comments)
    fileprivate static let filters = ComponentReference(name: "filters", kind: .filters)
    fileprivate static let list = ComponentReference(name: "list", kind: .contents)
}

/// Random arguments for a delegate.
private struct Questioner {
    let fields: [Field]
    var random: SeededRandom

    init(fields: [Field], seed: UInt64) {
        self.fields = fields
        random = SeededRandom(seed: seed)
    }

    private static let words = [
        "", "a", "Alien", "zzz", "é", "two words", "a text that is longer than most of them are",
    ]
    private static let items = ["a", "b", "alien-1979"]

    private mutating func word() -> String { random.pick(Self.words, or: "") }

    private mutating func item() -> String? {
        random.oneIn(3) ? nil : random.pick(Self.items, or: "a")
    }

    mutating func ballot() -> Ballot {
        Ballot(
            subject: Subject(item: item()), actor: ActorID(Int64.random(in: 1...3, using: &random)),
            value: Double(Int.random(in: -2...11, using: &random)),
            cast: Timestamp(milliseconds: 1_767_225_600_000))
    }

    mutating func draft() -> CommentDraft {
        CommentDraft(id: "c", subject: Subject(item: item()), parent: nil, text: word())
    }

    mutating func shown() -> ScreenChoices? { random.oneIn(4) ? nil : choices() }

    mutating func choices() -> ScreenChoices {
        var choices = ScreenChoices()
        if random.oneIn(3) { choices.scope = random.pick(["a", "b"], or: "a") }
        if random.oneIn(2) {
            let section = fields.randomElement(using: &random)?.name ?? "genre"
            choices.selection[section] = [word(), "drama"]
        }
        if random.oneIn(2) { choices.search = word() }
        if random.oneIn(3), let field = fields.randomElement(using: &random) {
            choices.sort = [random.oneIn(2) ? "-\(field.name)" : field.name]
        }
        if random.oneIn(4) { choices.path = [random.pick(Self.items, or: "a")] }
        choices.focus = item()
        if random.oneIn(4) { choices.hidden = ["votes"] }
        return choices
    }

    private mutating func comment() -> Comment {
        let draft = self.draft()
        return Comment(
            id: draft.id, subject: draft.subject, parent: nil, author: ActorID(1),
            text: draft.text, created: Timestamp(milliseconds: 1_767_225_600_000),
            fingerprint: draft.fingerprint)
    }

    /// Notifies the delegate of events, which must not change its results.
    mutating func happen(to delegate: ContainerDelegate, on screen: ScreenReference) {
        let selection = Selection(["genre": [word()]])
        delegate.filters(
            .filters, didSelect: word(), in: "genre", now: selection, on: screen.id)
        delegate.filters(
            .filters, didDeselect: word(), in: "genre", now: Selection(), on: screen.id)
        delegate.filters(.filters, didClearOn: screen.id)
        delegate.contents(.list, didSelect: "a", on: screen.id, by: screen.actor)
        for change in changes() { delegate.contents(.list, didChange: change) }
        let (comment, subject) = (self.comment(), Subject(item: item()))
        delegate.comments(.comments, didPost: comment)
        delegate.comments(.comments, didEdit: comment)
        delegate.comments(.comments, didRemove: comment)
        delegate.comments(.comments, didChange: 1, of: subject)
        delegate.votes(.votes, didChange: Tally(count: 1, score: 3), of: subject)
        happenInPart(of: delegate, on: screen)
    }

    /// Notifies the delegate of events of a part, and of user actions on the part.
    private mutating func happenInPart(of delegate: ContainerDelegate, on screen: ScreenReference) {
        let part = PartReference(path: "part", container: "other")
        delegate.screen(screen, part: part.path, didShow: choices())
        delegate.screen(screen, part: part.path, didSelect: "a")
        for change in changes() { delegate.part(part, contents: .list, didChange: change) }
        let (comment, subject) = (self.comment(), Subject(item: item()))
        delegate.part(part, comments: .comments, didPost: comment)
        delegate.part(part, comments: .comments, didEdit: comment)
        delegate.part(part, comments: .comments, didRemove: comment)
        delegate.part(part, comments: .comments, didChange: 1, of: subject)
        delegate.part(part, votes: .votes, didChange: Tally(count: 1, score: 3), of: subject)
    }

    private mutating func changes() -> [ContentChange] {
        let changed = Item(id: item() ?? "c", fields: [:])
        return [.replaceAll, .insert([changed]), .update([changed]), .remove([changed.id])]
    }
}
