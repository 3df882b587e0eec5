import AtriumKit
import Index

/// The ballots of the actors whose screens are open on a container, each kept once for all screens of the actor.
final class ScreenBallots {
    private unowned let screens: ContainerScreens
    private var known: [String: OwnBallots] = [:]

    init(of screens: ContainerScreens) { self.screens = screens }

    private var container: Container { screens.container }

    /// Gives a screen the ballots of its actor.
    func insert(_ screen: Screen) {
        guard let actor = screen.actor else { return }
        let ballots = known[actor] ?? OwnBallots(actor, in: screens)
        known[actor] = ballots
        ballots.insert(screen)
        screen.ballots = ballots
    }

    /// Forgets a screen, and with an actor's last one the ballots.
    func remove(_ screen: Screen) {
        guard let ballots = screen.ballots else { return }
        ballots.remove(screen)
        if ballots.screens.isEmpty { known[ballots.actor] = nil }
    }

    /// Updates an actor's ballot on the actor's screens.
    func update(_ value: Double?, of actor: ActorID, on subject: Subject, in slot: Slot) {
        guard !known.isEmpty, slot.name == container.derived.votes,
            let ballots = container.domain.actors.name(of: actor).flatMap({ known[$0] })
        else { return }
        ballots.update(value, on: subject)
        let updates = screens.updates
        if let item = subject.item {
            for list in container.slots.lazy.compactMap(\.list) {
                list.live.visitHolders(knowing: item) { view in
                    updates.touch(ballots.screens(of: view))
                }
            }
        }
        for focus in (screens.shared.focuses[subject] ?? [:]).values {
            updates.touch(focus.screens.values.filter { $0.ballots === ballots })
        }
    }

    /// Drops cached ballots after a change other than a vote.
    func clear() {
        for ballots in known.values {
            ballots.clear()
            screens.updates.touch(ballots.screens.values)
        }
    }
}

/// One person's ballots, as far as the person's screens need them.
///
/// Only the votes component has them. It is asked for the subjects that become visible, once it is quiet; later
/// changes are taken from commits.
final class OwnBallots {
    let actor: String
    /// The values by subject; subjects that are not ``known`` have none here.
    private(set) var values: [Subject: Double] = [:]
    /// Changes when all ballots must be requested again.
    private(set) var generation = 0
    private(set) var screens: [ScreenID: Screen] = [:]

    /// The account that is charged for this: that of a user with screens of the actor.
    private var account: ScreenAccount?
    /// The bytes charged to the account.
    private var charged = 0
    private var knownBytes = 0
    private var shownBytes = 0

    /// The actor's screens by their views.
    private var byView: [ObjectIdentifier: [ScreenID: Screen]] = [:]
    /// The ballots that the actor's screens show, shared by screens that show the same.
    private var shownByView: [ViewSubject: ShownBallots] = [:]
    /// The last one that was looked up: most screens of a person show the same.
    private var lastShown: (key: ViewSubject, ballots: ShownBallots)?

    private struct ViewSubject: Hashable {
        var view: UInt64
        var subject: Subject
    }

    /// Refers to it until the actor's last screen is closed.
    private let home: ContainerScreens
    private var known: Set<Subject> = []
    private var wanted: Set<Subject> = []
    private var asked: Slot?

    init(_ actor: String, in home: ContainerScreens) {
        self.actor = actor
        self.home = home
    }

    /// Adds a screen of the actor.
    func insert(_ screen: Screen) {
        screens[screen.id] = screen
        account = account ?? screen.account
        updateCharge()
    }

    /// Removes a screen of the actor.
    func remove(_ screen: Screen) {
        screens[screen.id] = nil
        guard !screens.values.contains(where: { $0.account === account }) else { return }
        account?.charge(-charged)
        charged = 0
        account = screens.values.first?.account
        updateCharge()
    }

    /// Charges the account for what is kept now.
    private func updateCharge() {
        guard let account else { return }
        let more = knownBytes + shownBytes - charged
        charged += more
        if more != 0 { account.charge(more) }
    }

    /// Records that one of the actor's screens shows a view.
    func show(_ screen: Screen, on view: SharedView) {
        byView[ObjectIdentifier(view), default: [:]][screen.id] = screen
    }

    /// Records that one of the actor's screens no longer shows a view.
    func hide(_ screen: Screen, from view: SharedView) {
        byView[ObjectIdentifier(view)]?[screen.id] = nil
        if byView[ObjectIdentifier(view)]?.isEmpty == true { byView[ObjectIdentifier(view)] = nil }
    }

    /// The actor's screens that show a view.
    func screens(of view: AnyObject) -> [Screen] {
        byView[ObjectIdentifier(view)].map { Array($0.values) } ?? []
    }

    /// Whether the ballots on these subjects are known; if not, they are requested.
    ///
    /// While the votes component is not attached, no more can be known, so the result is true.
    func knows(_ subjects: some Sequence<Subject>) -> Bool {
        let container = home.container
        guard let votes = container.derived.votes.flatMap({ container.slot($0) }),
            votes.isAttached, container.domain.actors.number(of: actor) != nil
        else { return true }
        let unknown = subjects.filter { !known.contains($0) }
        guard !unknown.isEmpty else { return true }
        wanted.formUnion(unknown)
        if asked == nil { ask(votes) }
        return unknown.allSatisfy(known.contains)
    }

    /// Updates a ballot after a vote or its withdrawal.
    func update(_ value: Double?, on subject: Subject) {
        values[subject] = value
        dropShown()
        // The answer to a request in progress may be older than this vote.
        markKnown(subject)
        wanted.remove(subject)
        updateCharge()
    }

    /// Drops all ballots after a change other than a vote, so that they are requested again.
    func clear() {
        generation += 1
        known.removeAll()
        knownBytes = 0
        values.removeAll()
        dropShown()
        updateCharge()
    }

    private func markKnown(_ subject: Subject) {
        if known.insert(subject).inserted { knownBytes += subject.weight }
    }

    private func dropShown() {
        shownByView.removeAll()
        lastShown = nil
        shownBytes = 0
    }

    /// Whether the ballot on a subject is known; does not request it.
    func isKnown(_ subject: Subject) -> Bool { known.contains(subject) }

    /// The ballots on the items that a view shows, and on a screen's subject.
    func shown(in state: ViewState, _ subject: Subject) -> ShownBallots {
        guard !values.isEmpty else { return .none }
        if let lastShown, lastShown.key.view == state.number, lastShown.key.subject == subject {
            return lastShown.ballots
        }
        let key = ViewSubject(view: state.number, subject: subject)
        if let known = shownByView[key] {
            lastShown = (key, known)
            return known
        }
        var items: [String: Double] = [:]
        for list in state.lists {
            for item in list.items { items[item.row.id] = values[.item(item.row.id)] }
        }
        let focus = values[subject]
        // Also drops those of views that have changed since.
        if shownByView.count > 2 * screens.count + 8 { dropShown() }
        let ballots =
            items.isEmpty && focus == nil ? .none : ShownBallots(items: items, focus: focus)
        shownByView[key] = ballots
        lastShown = (key, ballots)
        shownBytes += items.keys.reduce(200) { $0 + 50 + $1.utf8.count }
        updateCharge()
        return ballots
    }

    private func ask(_ votes: Slot) {
        // Far more than a window shows: a user who scrolls through a catalogue starts again.
        if known.count > 20_000 { clear() }
        asked = votes
        var subjects: [Subject] = []
        let generation = generation
        votes.requests.ask(
            Question(
                needsQuiet: true, isOfScreen: true,
                make: { [self] in
                    subjects = Array(wanted)
                    wanted.removeAll()
                    guard let number = home.domain.actors.number(of: actor) else {
                        return .ballotsOf(ActorID(0), subjects: [])
                    }
                    return .ballotsOf(number, subjects: subjects)
                },
                done: { [self] result in
                    asked = nil
                    if generation == self.generation { handle(result, of: subjects) }
                    home.updates.touch(screens.values.filter(\.isBlocked))
                }), for: votes)
    }

    private func handle(_ result: Result<ComponentAnswer, HostError>, of subjects: [Subject]) {
        // Without an answer, they count as no ballots until the component is attached again.
        var ballots: [Ballot?] = Array(repeating: nil, count: subjects.count)
        if case .success(.ballotsOf(let found)) = result { ballots = found }
        for (subject, ballot) in zip(subjects, ballots) where !known.contains(subject) {
            markKnown(subject)
            values[subject] = ballot?.value
        }
        dropShown()
        updateCharge()
    }
}

extension Subject {
    /// The approximate memory for knowing a ballot on it, in bytes.
    fileprivate var weight: Int { 150 + (item?.utf8.count ?? 0) }
}
