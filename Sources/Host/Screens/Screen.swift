import AtriumKit
import DequeModule

/// What one user has open on a container.
///
/// It is pulled: a change wakes its reader once, and the way from the last revision to now is found
/// when it is pulled. So however many commits pass while the reader is slow, they make one revision,
/// and nothing waits for the reader but the windows that it was last sent.
///
/// It outlives its connection for a while, with what it was last sent, so that another one can go on
/// from there.
public final class Screen {
    /// How the reader does.
    enum Reader {
        /// There is none: the screen waits to be resumed.
        case gone
        /// It has all there is, and is woken by the next change.
        case waiting
        /// It was woken, or is at work, and pulls when it can take more.
        case woken
    }

    /// What was seen of one container.
    struct Sight {
        var moment: ScreenSnapshot
        /// How many commits the container had seen.
        var commits: Int
        /// Of the ballots.
        var generation: Int
    }

    /// What a revision showed.
    struct Frame {
        var revision: Int
        var sight: Sight
        /// Of the parts that were shown.
        var parts: [PartSight] = []
    }

    /// A reader's word for the last revision counts so far: beyond, it could not be counted on.
    private static let mostRevisions = 1 << 53

    let id: ScreenID
    let account: ScreenAccount
    /// Whose ballots it shows as `mine`; nil: nobody's.
    public let actor: String?
    /// In whose name items are chosen on it.
    public let agent: String
    /// The screens of its container; nil: that is gone.
    public private(set) weak var home: ContainerScreens?
    private(set) var choices: Choices
    /// Which part of another screen it is; nil: a screen of its own.
    let place: PartPlace?
    /// The containers that it shows as parts, in their order.
    var parts: [Screen] = []
    /// What was chosen on parts that another process had, by their paths, until they are there.
    var keptParts: [String: KeptScreen] = [:]
    var view: SharedView?
    var focus: SharedFocus?
    var ballots: OwnBallots?

    private(set) var reader = Reader.gone
    /// Whether a revision is due that can't be made before a component has answered.
    private var awaitsAnswer = false
    private(set) var isEnded = false
    /// The last revision that was made.
    private(set) var revision = 0
    private(set) var turn = 0

    private var wake: @Sendable () -> Void = {}
    private var reset: String?
    /// What the next revision leads on from: not the last frame, but this, after a resumption.
    private var resumed: Frame?
    /// Whether the next pull answers, whatever there is: the first of each reader.
    private(set) var owesFirst = false
    /// Whether it comes from another process, which alone knew its earlier revisions.
    private var isRestored = false
    /// What its delegate has to say to its reader, with the next revision.
    private var message: String?
    private var lead: ScreenLead?
    /// How many delegates, its own and those of parts, are asked about choices that this waits for.
    private var holds = 0
    /// A revision that somebody was told is on its way.
    private var promised = 0
    private var frames: Deque<Frame> = []
    /// Bytes that it is charged with for what was chosen on it.
    private var weight = 0
    private var onTheirWay: [(Int) -> Void] = []
    private var tasks: Deque<(_ finished: @escaping () -> Void) -> Void> = []
    private var isBusy = false
    private var isGoingOn = false
    /// How many changes of its delegate's wait for their turn.
    private var edits = 0
    private static let mostEdits = 64

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
        place = nil
    }

    /// A part of a screen, on which nothing was chosen yet.
    init(at place: PartPlace, of parent: Screen, on home: ContainerScreens) {
        id = ScreenID("\(parent.root.id)/\(place.path)")
        account = parent.account
        actor = parent.actor
        agent = parent.agent
        self.home = home
        self.place = place
        choices = Choices()
    }

    /// The screen that it is a part of, at any level; itself, if it is none.
    var root: Screen { place?.root ?? self }

    /// Whether a revision is due that can't be made before a component has answered.
    var isBlocked: Bool { root.awaitsAnswer || place?.unsettled != nil }

    /// Whether its reader is about to pull, or waits for a revision that is due.
    var isBehind: Bool { reader == .woken || reader == .waiting && isBlocked }

    /// The user whose it is.
    var owner: String { account.owner }
}

// MARK: What its delegate has to say

extension Screen {
    /// A longer message is cut: in Unicode scalars, of which one seldom takes more than four bytes.
    private static let messageLength = 500

    /// Sends a message with the next revision; of several the last.
    func note(message text: String) {
        if let root = place?.root { return root.note(message: text) }
        message = String(String.UnicodeScalarView(text.unicodeScalars.prefix(Self.messageLength)))
        if hasNotice { touched() }
    }

    /// Leads its reader elsewhere with the next revision; of several the last.
    func note(lead: ScreenLead) {
        if let root = place?.root { return root.note(lead: lead) }
        self.lead = lead
        if hasNotice { touched() }
    }

    /// Its delegate is asked about choices: what it says is sent with the revision that shows them.
    func holdNotice() { root.holds += 1 }

    /// The choices are shown, or can't be.
    func releaseNotice() {
        if let root = place?.root { return root.releaseNotice() }
        guard holds > 0 else { return }
        holds -= 1
        if hasNotice { touched() }
    }

    private var hasNotice: Bool { holds == 0 && (message != nil || lead != nil) }
}

// MARK: Readers

extension Screen {
    /// Takes a reader in, and lets the one before go.
    ///
    /// - Parameters:
    ///   - base: the revision that it has; nil: none.
    ///   - reset: why it starts anew, though it asked to go on.
    ///   - isQuiet: whether it is told nothing as long as what it has is what there is.
    ///   - wake: wakes it.
    /// - Returns: its turn.
    func attach(
        from base: Int?, reset: String?, isQuiet: Bool = false,
        wake: @escaping @Sendable () -> Void
    ) -> Int {
        let previous = self.wake
        turn += 1
        self.wake = wake
        let known = base.flatMap { base in frames.first { $0.revision == base } }
        resumed = known
        if known == nil { forgetFrames() }
        self.reset = reset
        if known == nil, let base, reset == nil {
            self.reset =
                isRestored
                ? "The daemon was started anew, and goes on with what was chosen."
                : "Revision \(base) is not known any more."
            // A process that crashed may have made more revisions than it had noted.
            if isRestored { revision = max(revision, min(base, Self.mostRevisions)) }
        }
        owesFirst = !isQuiet || known == nil || base != revision
        let hadReader = reader != .gone
        reader = .woken
        // It pulls, and is told that another one is here.
        if hadReader { previous() }
        return turn
    }

    /// The reader of a turn is gone.
    ///
    /// - Returns: whether it was the present one.
    func detach(_ turn: Int) -> Bool {
        guard turn == self.turn, reader != .gone else { return false }
        reader = .gone
        wake = {}
        replyToWaiting()
        return true
    }

    /// Its container is gone: it shows nothing more, and is to be ended.
    func freeze() { isEnded = true }

    /// Its container is gone: the next pull says so.
    func end() {
        isEnded = true
        touched()
        replyToWaiting()
    }

    /// Something that it shows may have changed.
    func touched() {
        if let root = place?.root { return root.touched() }
        guard reader == .waiting else { return }
        reader = .woken
        wake()
    }

    /// Says which revision shows all that was chosen so far, once it is on its way.
    func whenOnItsWay(_ done: @escaping (Int) -> Void) {
        if let root = place?.root { return root.whenOnItsWay(done) }
        touched()
        if isBlocked, reader == .waiting { return onTheirWay.append(done) }
        if reader != .waiting, differs { promised = max(promised, revision + 1) }
        done(max(revision, promised))
    }

    /// Goes on with what another process had: its reader is to come.
    ///
    /// - Parameters:
    ///   - revision: the last one that was made there.
    ///   - isSame: whether that is what was just pulled.
    func goOn(behind revision: Int, isSame: Bool) {
        _ = detach(turn)
        self.revision = revision
        isRestored = true
        let last = frames.last
        forgetFrames()
        guard isSame, var last else { return }
        last.revision = revision
        append(last)
    }

    /// It is closed: its user is charged with nothing of it any more.
    func letGo() {
        isEnded = true
        wake = {}
        replyToWaiting()
        forgetFrames()
        account.charge(-weight)
        weight = 0
    }

    private func replyToWaiting() {
        let waiting = onTheirWay
        onTheirWay.removeAll()
        if !waiting.isEmpty, differs { promised = max(promised, revision + 1) }
        for done in waiting { done(max(revision, promised)) }
    }
}

// MARK: Revisions

extension Screen {
    /// Makes the next revision; nil: there is nothing new.
    ///
    /// Either way the reader has all there is then, and will be woken.
    func pull() -> Result<ScreenRevision?, HostError> {
        home?.catchUp(self)
        forEachPart { $0.home?.catchUp($0) }
        guard let home, let view, let focus, !isEnded else {
            return .failure(.screenNotFound(id.text))
        }
        let base = owesFirst ? resumed : frames.last
        reader = .waiting
        // Each asks for what it needs.
        let isKnown = isSettled(view, focus, since: base?.sight)
        guard areSettled(since: base?.parts ?? []), isKnown else {
            awaitsAnswer = true
            home.block(self)
            forEachPart { $0.home?.block($0) }
            return .success(nil)
        }
        if awaitsAnswer {
            awaitsAnswer = false
            home.unblock(self)
            forEachPart { $0.home?.unblock($0) }
        }
        let revision = revision(
            at: moment(view, focus, home),
            parts.isEmpty ? [] : sights(since: base?.parts ?? []), since: base, home)
        replyToWaiting()
        return .success(revision)
    }

    func isSettled(_ view: SharedView, _ focus: SharedFocus, since base: Sight?) -> Bool {
        view.isSettled && focus.isSettled && knowsBallots(view.state, base)
    }

    func moment(
        _ view: SharedView, _ focus: SharedFocus, _ home: ContainerScreens
    ) -> ScreenSnapshot {
        let own = ballots?.sight(of: view.state, choices.subject) ?? OwnSight.none
        return view.moments.moment(
            view.state, focus, own, held: ownHeld(focus, home), of: ballots,
            readers: view.screens.count,
            in: home.domain)
    }

    func sight(_ moment: ScreenSnapshot, _ home: ContainerScreens) -> Sight {
        Sight(moment: moment, commits: home.commits, generation: ballots?.generation ?? 0)
    }

    /// The way from what the reader has to what there is; nil when that is the same and nobody waits.
    private func revision(
        at moment: ScreenSnapshot, _ shown: [PartSight], since base: Frame?,
        _ home: ContainerScreens
    ) -> ScreenRevision? {
        let isDue = owesFirst || promised > revision || hasNotice
        let changes = PartSight.steps(from: base?.parts ?? [], to: shown)
        if !isDue, changes.isEmpty, let base, base.sight.moment === moment { return nil }
        let step = moment.step(from: base?.sight.moment)
        let isEmpty = step.isEmpty && changes.isEmpty
        guard isDue || !isEmpty else { return nil }
        // What is resumed and did not change meanwhile is still that revision.
        if !isEmpty || base?.revision != revision || promised > revision || hasNotice {
            revision += 1
        }
        let frame = Frame(revision: revision, sight: sight(moment, home), parts: shown)
        keep(frame, home.domain.limits)
        defer {
            owesFirst = false
            resumed = nil
            reset = nil
            if hasNotice { (message, lead) = (nil, nil) }
        }
        return ScreenRevision(
            screen: id, base: base?.revision, revision: revision,
            sequence: home.domain.sequence,
            commits: base.map { frame.commits(since: $0) } ?? 0, reset: reset,
            message: holds > 0 ? nil : message, lead: holds > 0 ? nil : lead, step: step,
            parts: changes)
    }

    /// What its reader was sent last, as if from nothing; nil: nothing was.
    func whole() -> ScreenRevision? {
        guard let home, let frame = frames.last, frame.revision == revision else { return nil }
        return ScreenRevision(
            screen: id, base: nil, revision: revision, sequence: home.domain.sequence,
            commits: 0, reset: nil, step: frame.sight.moment.step(from: nil),
            parts: PartSight.steps(from: [], to: frame.parts))
    }

    /// Keeps what its reader is sent, to be resumed from; of earlier ones none where memory is short.
    private func keep(_ frame: Frame, _ limits: HostLimits) {
        if frames.last?.revision == frame.revision { dropLast() }
        let isShort = account.bytes > limits.screenBytesPerUser / 2
        let most = isShort ? 1 : max(limits.screenRevisions, 1)
        while frames.count >= most { dropFirst() }
        append(frame)
    }

    /// How many bytes more it would be charged with for other choices.
    func cost(of choices: Choices) -> Int {
        // Each revision that is kept names its parts.
        choices.weight + (place == nil ? 0 : 2_000) - weight
    }

    // What is said about a subject seldom changes from one frame to the next: then they hold it once.

    private func append(_ frame: Frame) {
        let moment = frame.sight.moment
        account.hold(moment.view)
        if frames.last?.sight.moment.focus !== moment.focus { account.hold(moment.focus) }
        for part in frame.parts { part.hold(in: account) }
        frames.append(frame)
    }

    private func dropFirst() { release(frames.removeFirst(), beside: frames.first) }

    private func dropLast() { release(frames.removeLast(), beside: frames.last) }

    private func release(_ frame: Frame, beside next: Frame?) {
        let moment = frame.sight.moment
        account.release(moment.view)
        if next?.sight.moment.focus !== moment.focus { account.release(moment.focus) }
        for part in frame.parts { part.release(in: account) }
    }

    private func forgetFrames() {
        while !frames.isEmpty { dropFirst() }
    }

    /// Whether what it shows now is another than what its reader was sent last.
    private var differs: Bool {
        guard !hasNotice, let home, let view, let focus,
            let last = owesFirst ? resumed : frames.last
        else { return true }
        let (moment, before) = (moment(view, focus, home), last.sight.moment)
        if moment !== before, !moment.step(from: before).isEmpty { return true }
        return !(parts.isEmpty && last.parts.isEmpty)
            && !PartSight.steps(from: last.parts, to: sights(since: last.parts)).isEmpty
    }
}

// MARK: Choices

extension Screen {
    /// Does what was chosen, one after the other: each on what the one before left.
    func queue(_ task: @escaping (_ finished: @escaping () -> Void) -> Void) {
        if let root = place?.root { return root.queue(task) }
        tasks.append(task)
        nextTask()
    }

    /// Does the next of them: those that end at once are done one after the other, not one within the other.
    private func nextTask() {
        guard !isGoingOn else { return }
        isGoingOn = true
        while !isBusy, let task = tasks.popFirst() {
            isBusy = true
            task { [self] in
                isBusy = false
                nextTask()
            }
        }
        isGoingOn = false
    }

    /// A change of its delegate's waits for its turn; false: too many do.
    func awaitEdit() -> Bool {
        if let root = place?.root { return root.awaitEdit() }
        guard edits < Self.mostEdits else { return false }
        edits += 1
        return true
    }

    /// A change of its delegate's was made, or can't be.
    func endEdit() { root.edits -= 1 }

    /// Shows other choices, all at once, as soon as their view is there.
    func show(_ choices: Choices, _ view: SharedView, _ focus: SharedFocus) {
        // The next revision shows what the delegates were asked about.
        root.holds = 0
        place?.isOpen = true
        place?.followed = place?.following
        place?.problem = nil
        choose(choices)
        self.view = view
        self.focus = focus
    }

    /// Has other choices, whether or not they can be shown.
    func choose(_ choices: Choices) {
        self.choices = choices
        let more = cost(of: choices)
        weight += more
        account.charge(more)
    }
}
