import AtriumKit
import Index

/// An open screen of one user on a container.
///
/// A screen is pulled: a change wakes its reader once, and the difference from the last revision is computed when the
/// reader pulls. So all commits that pass while the reader is slow become one revision, and nothing is queued for the
/// reader; only the last sent revisions are kept.
///
/// It outlives its connection for a while, with what it was last sent, so that another connection can resume it.
public final class Screen: Queueable {
    /// The state of the reader.
    enum Reader {
        /// There is none: the screen waits to be resumed.
        case gone
        /// It has received everything, and the next change wakes it.
        case waiting
        /// It was woken or is working, and will pull when it can take more.
        case woken
    }

    /// The content of one container that was shown.
    struct Content {
        var snapshot: ScreenSnapshot
        /// The number of commits of the container at that time.
        var commits: Int
        /// The generation of the actor's ballots.
        var generation: Int
    }

    let id: ScreenID
    let account: ScreenAccount
    /// The actor whose ballots it shows as `mine`; nil: nobody's.
    public let actor: String?
    /// The actor for whom items are chosen on it.
    public let agent: String
    /// The screens of its container; nil: the container was removed, and with it this part of another's screen.
    ///
    /// They refer to it until it is closed; all that show a removed container are. References up here are strong,
    /// because a weak one makes all uses of its object slower.
    public private(set) var home: ContainerScreens?
    private(set) var choices: Choices
    /// Its state as a part of another screen; nil: it is not a part.
    let partState: PartState?
    /// The containers that it shows as parts, in their order.
    var parts: [Screen] = []
    /// Choices made on parts in another process, by path, until the parts exist.
    var keptParts: [String: KeptScreen] = [:]
    private(set) var view: SharedView?
    private(set) var focus: SharedFocus?
    var ballots: OwnBallots?

    private(set) var reader = Reader.gone
    var queueMarks = QueueMarks()
    /// Whether a revision is due, but waits for a component's answer.
    private var awaitsAnswer = false
    private(set) var isEnded = false
    private(set) var turn = 0

    private var wake: @Sendable () -> Void = {}
    /// The messages of its delegates for the next revision.
    private var messages = PendingMessages()
    private(set) var sent: SentRevisions
    /// The bytes charged for its choices.
    private var weight = 0
    private var onTheirWay: [(Int) -> Void] = []
    private let tasks = ScreenTasks()

    init(
        _ id: ScreenID, _ request: ScreenRequest, of account: ScreenAccount,
        on home: ContainerScreens
    ) {
        self.id = id
        self.account = account
        actor = request.actor
        agent = request.agent ?? account.owner
        self.home = home
        choices = Choices()
        partState = nil
        sent = SentRevisions(of: account)
    }

    /// Creates a part of a screen, without choices.
    init(as state: PartState, of parent: Screen, on home: ContainerScreens) {
        id = ScreenID("\(parent.root.id)/\(state.path)")
        account = parent.account
        actor = parent.actor
        agent = parent.agent
        self.home = home
        partState = state
        choices = Choices()
        sent = SentRevisions(of: account)
    }

    /// The screen of which it is a part, at any level; itself if it is not a part.
    var root: Screen { partState?.root ?? self }

    /// Whether a revision is due, but waits for a component's answer.
    var isBlocked: Bool { root.awaitsAnswer || partState?.unsettled != nil }

    /// Whether its reader will pull soon, or waits for a revision that is due.
    var isBehind: Bool { reader == .woken || reader == .waiting && isBlocked }

    /// Its user.
    var owner: String { account.owner }
}

// MARK: Messages of its delegate

extension Screen {
    /// Sends a message with the next revision; a later message replaces an earlier one.
    func send(message: String) { updateMessages { $0.set(message: message) } }

    /// Has the client open another container at the next revision; a later one replaces an earlier one.
    func send(navigation: NavigationTarget) { updateMessages { $0.set(navigation: navigation) } }

    /// Defers messages while a delegate decides on choices; they are sent with the revision that shows the choices.
    func deferMessages() -> MessageDeferral { root.messages.startDeferral() }

    /// Ends a deferral, when the choices are shown or can't be.
    func endDeferral(_ deferral: MessageDeferral) { updateMessages { $0.end(deferral) } }

    /// Changes the messages of the whole screen, and wakes its reader if there are some to send now.
    private func updateMessages(_ change: (inout PendingMessages) -> Void) {
        let root = root
        change(&root.messages)
        if root.messages.isDue { root.touched() }
    }
}

// MARK: Readers

extension Screen {
    /// Attaches a reader that has the revision `base`, or none, detaches the previous one, and returns the reader's
    /// turn.
    // Swift 6.3.1 can't optimize a caller that it is inlined into ("read-only scope invalidated by a local write").
    @inline(never)
    func attach(
        from base: Int?, reset: String?, isQuiet: Bool = false,
        wake: @escaping @Sendable () -> Void
    ) -> Int {
        let previous = self.wake
        turn += 1
        self.wake = wake
        sent.attach(from: base, reset: reset, isQuiet: isQuiet)
        let hadReader = reader != .gone
        reader = .woken
        // The previous reader pulls, and its pull reports that another one has taken over.
        if hadReader { previous() }
        return turn
    }

    /// Detaches the reader of a turn; returns whether it was the current reader.
    func detach(_ turn: Int) -> Bool {
        guard turn == self.turn, reader != .gone else { return false }
        reader = .gone
        wake = {}
        replyToWaiting()
        return true
    }

    /// Stops the screen, because its container was removed; it will be ended later.
    func freeze() { isEnded = true }

    /// Ends the screen, because its container was removed; the next pull returns that error.
    func end() {
        isEnded = true
        touched()
        replyToWaiting()
    }

    /// Empties a closed part, because its container was removed; its screen goes on without it.
    func endPart() {
        (home, view, focus, ballots) = (nil, nil, nil, nil)
        parts = []
    }

    /// Wakes the reader after something that the screen shows may have changed.
    func touched() {
        if let root = partState?.root { return root.touched() }
        guard reader == .waiting else { return }
        reader = .woken
        wake()
    }

    /// Calls back with the revision that shows all choices so far, once it is on its way.
    func whenOnItsWay(_ done: @escaping (Int) -> Void) {
        if let root = partState?.root { return root.whenOnItsWay(done) }
        touched()
        if isBlocked, reader == .waiting { return onTheirWay.append(done) }
        if reader != .waiting, differs { sent.promiseNext() }
        done(sent.newest)
    }

    /// Restores the revision number of another process, until the reader resumes; `isSame`: it showed the same as the
    /// revision that was just pulled.
    func restoreRevision(_ revision: Int, isSame: Bool) {
        _ = detach(turn)
        sent.restore(revision, isSame: isSame)
    }

    /// Releases a closed screen: its user is no longer charged for it.
    func release() {
        isEnded = true
        wake = {}
        replyToWaiting()
        sent.removeAll()
        account.charge(-weight)
        weight = 0
        view?.remove(self)
        focus?.remove(self)
    }

    private func replyToWaiting() {
        let waiting = onTheirWay
        onTheirWay.removeAll()
        if !waiting.isEmpty, differs { sent.promiseNext() }
        for done in waiting { done(sent.newest) }
    }
}

// MARK: Revisions

extension Screen {
    /// Makes the next revision; nil: nothing is new.
    ///
    /// In both cases the reader then has everything, and will be woken.
    func pull() -> Result<ScreenRevision?, HostError> {
        guard let home, !isEnded else { return .failure(.screenNotFound(id.text)) }
        home.updates.catchUp(self)
        forEachPart { $0.home?.updates.catchUp($0) }
        guard let view, let focus, !isEnded else {
            return .failure(.screenNotFound(id.text))
        }
        let base = sent.base
        reader = .waiting
        // Both are evaluated, because each requests what it needs.
        let isKnown = isSettled(view, focus, since: base?.content)
        guard areSettled(since: base?.parts ?? []), isKnown else {
            awaitsAnswer = true
            home.updates.block(self)
            forEachPart { $0.home?.updates.block($0) }
            return .success(nil)
        }
        if awaitsAnswer {
            awaitsAnswer = false
            home.updates.unblock(self)
            forEachPart { $0.home?.updates.unblock($0) }
        }
        let revision = revision(
            at: snapshot(view, focus, home),
            parts.isEmpty ? [] : shownParts(since: base?.parts ?? []), since: base, home)
        replyToWaiting()
        return .success(revision)
    }

    func isSettled(_ view: SharedView, _ focus: SharedFocus, since base: Content?) -> Bool {
        view.isSettled && focus.isSettled && knowsBallots(view.state, base)
    }

    func snapshot(
        _ view: SharedView, _ focus: SharedFocus, _ home: ContainerScreens
    ) -> ScreenSnapshot {
        let own = ballots?.shown(in: view.state, choices.subject) ?? ShownBallots.none
        return view.snapshots.snapshot(
            view.state, focus, own, held: ownHeld(focus, home), of: ballots,
            readers: view.screens.count,
            in: home.domain)
    }

    func content(_ snapshot: ScreenSnapshot, _ home: ContainerScreens) -> Content {
        Content(
            snapshot: snapshot, commits: home.updates.commits, generation: ballots?.generation ?? 0)
    }

    /// The revision from what the reader has to the present; nil if nothing changed and no caller waits.
    private func revision(
        at snapshot: ScreenSnapshot, _ shown: [ShownPart], since base: Frame?,
        _ home: ContainerScreens
    ) -> ScreenRevision? {
        let isDue = sent.isDue || messages.isDue
        let changes = ShownPart.steps(from: base?.parts ?? [], to: shown)
        if !isDue, changes.isEmpty, let base, base.content.snapshot === snapshot { return nil }
        let step = snapshot.step(from: base?.content.snapshot)
        let isEmpty = step.isEmpty && changes.isEmpty
        guard isDue || !isEmpty else { return nil }
        let (frame, reset) = sent.make(
            content(snapshot, home), shown, isNew: !isEmpty || messages.isDue, home.domain.limits)
        let (message, navigation) = messages.take()
        return ScreenRevision(
            screen: id, base: base?.revision, revision: frame.revision,
            sequence: home.domain.commits.sequence,
            commits: base.map { frame.commits(since: $0) } ?? 0, reset: reset,
            message: message, navigation: navigation, step: step, parts: changes)
    }

    /// The last sent revision as a whole one; nil: nothing was sent.
    func fullRevision() -> ScreenRevision? {
        guard let home, let frame = sent.last else { return nil }
        return ScreenRevision(
            screen: id, base: nil, revision: frame.revision, sequence: home.domain.commits.sequence,
            commits: 0, reset: nil, step: frame.content.snapshot.step(from: nil),
            parts: ShownPart.steps(from: [], to: frame.parts))
    }

    /// The difference in charged bytes that other choices would make.
    func cost(of choices: Choices) -> Int {
        // Each kept revision names its parts.
        choices.weight + (partState == nil ? 0 : 2_000) - weight
    }

    /// Whether what it shows differs from what its reader was last sent.
    private var differs: Bool {
        guard !messages.isDue, let home, let view, let focus,
            let last = sent.base
        else { return true }
        let (now, before) = (snapshot(view, focus, home), last.content.snapshot)
        if now !== before, !now.step(from: before).isEmpty { return true }
        return !(parts.isEmpty && last.parts.isEmpty)
            && !ShownPart.steps(from: last.parts, to: shownParts(since: last.parts)).isEmpty
    }
}

// MARK: Choices

extension Screen {
    /// Runs a task after those before it, so that each starts from what the previous one left.
    func queue(_ task: @escaping ScreenTasks.Task) { root.tasks.add(task) }

    /// Registers a change by its delegate that waits for its turn; returns false if too many wait.
    func awaitEdit() -> Bool { root.tasks.awaitEdit() }

    /// Ends a change by its delegate.
    func endEdit() { root.tasks.endEdit() }

    /// Shows other choices, together, once their view is ready.
    func show(_ choices: Choices, _ view: SharedView, _ focus: SharedFocus) {
        if self.view == nil { home?.ballots.insert(self) }
        if self.view !== view {
            self.view?.remove(self)
            view.insert(self)
            home?.audience.schedule(forPartsOf: self, hiding: choices.view.hidden)
        }
        if self.focus !== focus {
            self.focus?.remove(self)
            focus.insert(self)
        }
        // The next revision shows the choices on which delegates decided.
        root.messages.endDeferrals()
        partState?.isOpen = true
        partState?.followed = partState?.following
        partState?.problem = nil
        choose(choices)
        self.view = view
        self.focus = focus
    }

    /// Empties a part that can't be shown.
    func leaveViews() {
        view?.remove(self)
        focus?.remove(self)
        (view, focus) = (nil, nil)
    }

    /// Sets the choices, whether or not they can be shown.
    func choose(_ choices: Choices) {
        self.choices = choices
        let more = cost(of: choices)
        weight += more
        account.charge(more)
    }
}

// The reader's own ballots and held comments, which are not shared between screens.
extension Screen {
    /// Whether the ballots on everything that is shown are known; those shown by the last revision are.
    func knowsBallots(_ state: ViewState, _ base: Content?) -> Bool {
        guard let ballots else { return true }
        guard let base, base.generation == ballots.generation else {
            let items = state.lists.flatMap { $0.items.map { Subject.item($0.row.id) } }
            return ballots.knows(items + [choices.subject])
        }
        let new =
            base.snapshot.view === state ? [] : state.change(from: base.snapshot.view).newItems
        if new.isEmpty, ballots.isKnown(choices.subject) { return true }
        return ballots.knows(new.map(Subject.item) + [choices.subject])
    }

    /// The reader's own comments on the screen's subject that other users can't see.
    func ownHeld(_ focus: SharedFocus, _ home: ContainerScreens) -> [CommentView] {
        let held = focus.state.held
        guard !held.isEmpty, let actor, let number = home.domain.actors.number(of: actor) else {
            return []
        }
        return held[number] ?? []
    }
}

extension Screen {
    /// The choices made on a screen.
    struct Choices {
        var view: ViewKey { didSet { seen = nil } }
        var subject: Subject { didSet { seen = nil } }
        /// These choices as a delegate saw them; nil: no delegate did.
        private var seen: ScreenChoices?

        init(view: ViewKey = ViewKey(), subject: Subject = .container) {
            self.view = view
            self.subject = subject
        }
    }
}

extension Screen.Choices {
    /// The choices as a delegate sees them.
    var asSeen: ScreenChoices { seen ?? ScreenChoices(self) }

    /// The choices as a delegate sees them, kept for later comparison.
    mutating func choicesSeen() -> ScreenChoices {
        if let seen { return seen }
        let choices = ScreenChoices(self)
        seen = choices
        return choices
    }

    /// Adopts the key of the view that shows these choices, so that its screens share one copy; the path may have
    /// changed.
    mutating func share(_ key: ViewKey) {
        let kept = key.path == view.path ? seen : nil
        view = key
        seen = kept
    }
}
