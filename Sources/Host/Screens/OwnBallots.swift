import AtriumKit
import Index

/// The ballots of one person, as far as their screens need them.
///
/// The votes component alone knows them: it is asked for what comes into sight, once it is quiet, and
/// what is committed from then on is followed.
final class OwnBallots {
    let actor: String
    /// The values by subject; of a subject that is not ``known``, nothing.
    private(set) var values: [Subject: Double] = [:]
    /// Another one when everything must be asked for again.
    private(set) var generation = 0
    private(set) var screens: [ScreenID: Screen] = [:]

    /// Whose account all of this stands in: of one of those who have screens here.
    private var account: ScreenAccount?
    /// With how many bytes it is charged.
    private var charged = 0
    private var knownBytes = 0
    private var sightBytes = 0

    /// The actor's screens by their views.
    private var byView: [ObjectIdentifier: [ScreenID: Screen]] = [:]
    /// What the actor's screens show of them, for the next one that shows the same.
    private var sights: [SightKey: OwnSight] = [:]

    private struct SightKey: Hashable {
        var view: UInt64
        var subject: Subject
    }

    private weak var home: ContainerScreens?
    private var known: Set<Subject> = []
    private var wanted: Set<Subject> = []
    private var asked: Slot?

    init(_ actor: String, in home: ContainerScreens) {
        self.actor = actor
        self.home = home
    }

    /// The actor has one more screen.
    func insert(_ screen: Screen) {
        screens[screen.id] = screen
        account = account ?? screen.account
        updateCharge()
    }

    /// The actor has one screen less.
    func remove(_ screen: Screen) {
        screens[screen.id] = nil
        guard !screens.values.contains(where: { $0.account === account }) else { return }
        account?.charge(-charged)
        charged = 0
        account = screens.values.first?.account
        updateCharge()
    }

    /// Charges for what is kept now.
    private func updateCharge() {
        guard let account else { return }
        let more = knownBytes + sightBytes - charged
        charged += more
        if more != 0 { account.charge(more) }
    }

    /// One of the actor's screens shows a view now.
    func show(_ screen: Screen, on view: SharedView) {
        byView[ObjectIdentifier(view), default: [:]][screen.id] = screen
    }

    /// One of the actor's screens shows a view no longer.
    func hide(_ screen: Screen, from view: SharedView) {
        byView[ObjectIdentifier(view)]?[screen.id] = nil
        if byView[ObjectIdentifier(view)]?.isEmpty == true { byView[ObjectIdentifier(view)] = nil }
    }

    /// The actor's screens that show a view.
    func screens(of view: AnyObject) -> [Screen] {
        byView[ObjectIdentifier(view)].map { Array($0.values) } ?? []
    }

    /// Whether the ballots on these are known; else they are asked for.
    ///
    /// While the votes component is not there, all is known that can be.
    func knows(_ subjects: some Sequence<Subject>) -> Bool {
        guard let container = home?.container,
            let votes = container.wiring.votes.flatMap({ container.slot($0) }),
            votes.isAttached, container.domain.actors.number(of: actor) != nil
        else { return true }
        let unknown = subjects.filter { !known.contains($0) }
        guard !unknown.isEmpty else { return true }
        wanted.formUnion(unknown)
        if asked == nil { ask(votes) }
        return unknown.allSatisfy(known.contains)
    }

    /// The person voted, or took a vote back.
    func note(_ value: Double?, on subject: Subject) {
        values[subject] = value
        dropSights()
        // What is being answered now may be older.
        know(subject)
        wanted.remove(subject)
        updateCharge()
    }

    /// Ballots changed by other ways than votes: all are asked for again.
    func forget() {
        generation += 1
        known.removeAll()
        knownBytes = 0
        values.removeAll()
        dropSights()
        updateCharge()
    }

    private func know(_ subject: Subject) {
        if known.insert(subject).inserted { knownBytes += subject.weight }
    }

    private func dropSights() {
        sights.removeAll()
        sightBytes = 0
    }

    /// Whether the ballot on this is known, without asking for it.
    func isKnown(_ subject: Subject) -> Bool { known.contains(subject) }

    /// The values on the items that a view shows, and on what a screen is focused on.
    func sight(of state: ViewState, _ subject: Subject) -> OwnSight {
        guard !values.isEmpty else { return .none }
        let key = SightKey(view: state.number, subject: subject)
        if let known = sights[key] { return known }
        var items: [String: Double] = [:]
        for list in state.lists {
            for item in list.items { items[item.row.id] = values[.item(item.row.id)] }
        }
        let focus = values[subject]
        // Those of views that have changed since go with the rest.
        if sights.count > 2 * screens.count + 8 { dropSights() }
        let sight = items.isEmpty && focus == nil ? .none : OwnSight(items: items, focus: focus)
        sights[key] = sight
        sightBytes += items.keys.reduce(200) { $0 + 50 + $1.utf8.count }
        updateCharge()
        return sight
    }

    private func ask(_ votes: Slot) {
        // Sized as ever a window was; whoever scrolls through a catalogue starts over.
        if known.count > 20_000 { forget() }
        asked = votes
        var subjects: [Subject] = []
        let generation = generation
        votes.ask(
            Question(
                needsQuiet: true, isOfScreen: true,
                make: { [self] in
                    subjects = Array(wanted)
                    wanted.removeAll()
                    guard let number = home?.domain.actors.number(of: actor) else {
                        return .ballotsOf(ActorID(0), subjects: [])
                    }
                    return .ballotsOf(number, subjects: subjects)
                },
                done: { [self] result in
                    asked = nil
                    if generation == self.generation { take(result, of: subjects) }
                    home?.ballotsAnswered(self)
                }))
    }

    private func take(_ result: Result<ComponentAnswer, HostError>, of subjects: [Subject]) {
        // Without an answer they count as none until the component is there again.
        var ballots: [Ballot?] = Array(repeating: nil, count: subjects.count)
        if case .success(.ballotsOf(let found)) = result { ballots = found }
        for (subject, ballot) in zip(subjects, ballots) where !known.contains(subject) {
            know(subject)
            values[subject] = ballot?.value
        }
        dropSights()
        updateCharge()
    }
}

extension Subject {
    /// About what it takes in memory to know somebody's ballot on it.
    fileprivate var weight: Int { 150 + (item?.utf8.count ?? 0) }
}
