import AtriumKit
import Catalog
import CommentThreads
import Stars
import Threads

// Components that do one thing wrong each, for the conformance suite to find. They hold a sound
// one inside, and pass everything else on to it.

/// Stars, passed on.
class WrappedStars: Voting {
    let sound: Stars
    required init(context: ComponentContext) throws { sound = try Stars(context: context) }
    class var settings: [Setting] { Stars.settings }
    var facts: VoteFacts { sound.facts }
    var delegate: (any VotingDelegate)? {
        get { sound.delegate }
        set { sound.delegate = newValue }
    }
    var tallies: [(subject: Subject, tally: Tally)] { Array(sound.tallies) }
    func apply(_ change: Change) { sound.apply(change) }
    func cast(_ ballot: Ballot, _ context: CommandContext) throws(Refusal) -> [Change] {
        try sound.cast(ballot, context)
    }
    func retract(
        actor: ActorID, subject: Subject, _ context: CommandContext
    ) throws(Refusal) -> [Change] {
        try sound.retract(actor: actor, subject: subject, context)
    }
    func tally(of subject: Subject) -> Tally { sound.tally(of: subject) }
    func ballot(of actor: ActorID, on subject: Subject) -> Ballot? {
        sound.ballot(of: actor, on: subject)
    }
    func ballots(on subject: Subject, after: ActorID?, limit: Int) -> [Ballot] {
        sound.ballots(on: subject, after: after, limit: limit)
    }
    func recordKeys(about subject: Subject) -> [String] { sound.recordKeys(about: subject) }
}

/// Takes more stars than it says.
final class ModestStars: WrappedStars {
    override var facts: VoteFacts { VoteFacts(min: 1, max: 3, step: 1) }
}

/// Counts a ballot when it decides, and remembers it beside the records.
final class HastyStars: WrappedStars {
    private var extra = 0
    override var tallies: [(subject: Subject, tally: Tally)] {
        super.tallies.map { subject, tally in
            var tally = tally
            tally.count += extra
            return (subject, tally)
        }
    }
    override func cast(_ ballot: Ballot, _ context: CommandContext) throws(Refusal) -> [Change] {
        extra += 1
        return try super.cast(ballot, context)
    }
}

/// Gives the latest value that it saw as the score.
final class LatestStars: WrappedStars, VotingDelegate {
    private var latest: [Subject: Double] = [:]
    private weak var outer: (any VotingDelegate)?
    override var delegate: (any VotingDelegate)? {
        get { outer }
        set {
            outer = newValue
            sound.delegate = newValue == nil ? nil : self
        }
    }
    override var tallies: [(subject: Subject, tally: Tally)] {
        super.tallies.map { ($0, twisted($1, of: $0)) }
    }
    override func tally(of subject: Subject) -> Tally {
        twisted(super.tally(of: subject), of: subject)
    }
    override func apply(_ change: Change) {
        if let value = change.value, let ballot = Ballot(key: change.key, value: value) {
            latest[ballot.subject] = ballot.value
        }
        super.apply(change)
    }
    func voting(_ votes: any Voting, didChange tally: Tally, of subject: Subject) {
        outer?.voting(self, didChange: twisted(tally, of: subject), of: subject)
    }
    private func twisted(_ tally: Tally, of subject: Subject) -> Tally {
        var tally = tally
        if tally.score != nil { tally.score = latest[subject] ?? tally.score }
        return tally
    }
}

/// Accepts that a ballot is taken back, and keeps it.
final class StickyStars: WrappedStars {
    override func apply(_ change: Change) {
        if change.value != nil { super.apply(change) }
    }
}

/// Accepts no ballot at all.
final class RefusingStars: WrappedStars {
    override func cast(_ ballot: Ballot, _ context: CommandContext) throws(Refusal) -> [Change] {
        throw Refusal(.refused, "Nobody votes here.")
    }
}

/// Gives a reason that is another one each time.
final class MoodyStars: WrappedStars {
    override func cast(_ ballot: Ballot, _ context: CommandContext) throws(Refusal) -> [Change] {
        guard ballot.value > 1 else {
            throw Refusal(.refused, "Not in mood \(Int.random(in: 0...1_000_000)).")
        }
        return try super.cast(ballot, context)
    }
}

/// Counts its refusals.
final class CountingStars: WrappedStars {
    private var refusals = 0
    override func cast(_ ballot: Ballot, _ context: CommandContext) throws(Refusal) -> [Change] {
        guard ballot.value > 1 else {
            refusals += 1
            throw Refusal(.refused, "This is refusal number \(refusals).")
        }
        return try super.cast(ballot, context)
    }
}

/// Refuses with a word.
final class TerseStars: WrappedStars {
    override func cast(_ ballot: Ballot, _ context: CommandContext) throws(Refusal) -> [Change] {
        guard ballot.value > 1 else { throw Refusal(.refused, "No.") }
        return try super.cast(ballot, context)
    }
}

/// Has all votes cast at the beginning of time.
final class TimelessStars: WrappedStars {
    override func cast(_ ballot: Ballot, _ context: CommandContext) throws(Refusal) -> [Change] {
        var ballot = ballot
        ballot.cast = Timestamp(milliseconds: 0)
        return try super.cast(ballot, context)
    }
}

/// Threads, passed on.
class WrappedThreads: Commenting {
    let sound: Threads
    required init(context: ComponentContext) throws { sound = try Threads(context: context) }
    class var settings: [Setting] { Threads.settings }
    var delegate: (any CommentingDelegate)? {
        get { sound.delegate }
        set { sound.delegate = newValue }
    }
    var counts: [(subject: Subject, count: Int)] { Array(sound.counts) }
    func apply(_ change: Change) { sound.apply(change) }
    func post(_ draft: CommentDraft, _ context: CommandContext) throws(Refusal) -> [Change] {
        try sound.post(draft, context)
    }
    func edit(_ id: String, text: String, _ context: CommandContext) throws(Refusal) -> [Change] {
        try sound.edit(id, text: text, context)
    }
    func delete(_ id: String, _ context: CommandContext) throws(Refusal) -> [Change] {
        try sound.delete(id, context)
    }
    func moderate(
        _ id: String, state: Comment.State, _ context: CommandContext
    ) throws(Refusal) -> [Change] {
        try sound.moderate(id, state: state, context)
    }
    func entry(_ id: String) -> ThreadPage.Entry? { sound.entry(id) }
    func thread(_ query: ThreadQuery) throws(Refusal) -> ThreadPage { try sound.thread(query) }
    func count(of subject: Subject) -> Int { sound.count(of: subject) }
    func recordKeys(about subject: Subject) -> [String] { sound.recordKeys(about: subject) }
}

/// Drops a reply whose parent it does not know yet.
final class ForgetfulThreads: WrappedThreads {
    override func apply(_ change: Change) {
        let comment = change.value.flatMap { Comment(key: change.key, value: $0) }
        if let parent = comment?.parent, entry(parent) == nil { return }
        super.apply(change)
    }
}

/// Never lets go of a comment.
final class IndelibleThreads: WrappedThreads {
    override func apply(_ change: Change) {
        if change.value != nil { super.apply(change) }
    }
}

/// Writes comments under another name.
final class GhostThreads: WrappedThreads {
    override func post(
        _ draft: CommentDraft, _ context: CommandContext
    ) throws(Refusal) -> [Change] {
        var context = context
        context.actor = ActorID(99)
        return try super.post(draft, context)
    }
}

/// Keeps what it has when a record makes no sense.
final class LenientThreads: WrappedThreads {
    override func apply(_ change: Change) {
        if let value = change.value, Comment(key: change.key, value: value) == nil { return }
        super.apply(change)
    }
}

/// A source that tells of what is new, and not of what is gone.
final class QuietCatalog: ContentListing {
    weak var delegate: (any ContentListingDelegate)?
    private let sound: Catalog
    init(context: ComponentContext) { sound = Catalog(context: context) }
    var items: [Item] { Array(sound.items) }
    func apply(_ change: Change) {
        sound.delegate = change.value == nil ? nil : delegate
        sound.apply(change)
    }
    func put(_ items: [Item], _ context: CommandContext) throws(Refusal) -> ContentDecision {
        try sound.put(items, context)
    }
    func remove(_ ids: [String], _ context: CommandContext) throws(Refusal) -> [Change] {
        try sound.remove(ids, context)
    }
}

/// Filters that still offer what was told before.
final class PilingFilters: Filtering {
    weak var delegate: (any FilteringDelegate)?
    private var known: Set<Value> = []
    init(context: ComponentContext) {}
    var observedFields: [String] { ["genres"] }
    func fieldValuesDidChange(_ values: [String: [Value]]) {
        known.formUnion(values["genres"] ?? [])
    }
    var sections: [FilterSection] {
        let filters = known.compactMap(\.text).sorted().map {
            Filter(id: $0, title: $0, predicate: .equals(field: "genres", value: .text($0)))
        }
        return [FilterSection(id: "genre", title: "Genre", input: .several, filters: filters)]
    }
    func filter(_ id: String, in section: String) throws(Refusal) -> Filter {
        let filters = sections.first { $0.id == section }?.filters
        guard let filter = filters?.first(where: { $0.id == id }) else {
            throw Refusal(.filterNotFound, "There is no \(section)=\(id).")
        }
        return filter
    }
}
