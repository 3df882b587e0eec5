import DequeModule

/// All screens by id: those with a reader, and those that wait to be resumed.
///
/// Ids begin with the daemon's incarnation, so that a screen from before a restart can be recognised.
public final class ScreenTable {
    /// For how many evicted screens the reason is kept.
    private static let remembered = 10_000

    let domain: Domain
    private let incarnation: String
    private(set) var screens: [ScreenID: Screen] = [:]
    /// The parts of screens, by ids of their own.
    private(set) var parts: [ScreenID: Screen] = [:]
    /// Returns the screens of all containers, by the containers' names.
    var homes: () -> [String: ContainerScreens] = { [:] }
    /// Which containers have which as parts.
    private(set) lazy var surroundings = Surroundings(of: self)
    /// The screens that have no reader.
    private(set) lazy var detached = DetachedScreens(of: self)
    /// Receives the notes that another process needs to continue the screens.
    private var receiver: ((ScreenNote) -> Void)?
    private var accounts: [String: ScreenAccount] = [:]
    /// Why screens were ended early, the latest last.
    private var dropped: (reasons: [ScreenID: Drop], order: Deque<ScreenID>) = ([:], [])

    private struct Drop {
        var reason: String
        /// The error for its reader; nil: ``HostError/screenNotFound(_:)``.
        var error: HostError?
    }

    init(in domain: Domain) {
        self.domain = domain
        incarnation = String(domain.randomID().prefix(8))
    }

    var count: Int { screens.count }

    /// The number of a user's screens.
    func count(of owner: String) -> Int { accounts[owner]?.screens.count ?? 0 }

    /// The account of the memory that a user's screens use.
    ///
    /// It refers to the table, which keeps it until the user's last screen is removed.
    func account(of owner: String) -> ScreenAccount {
        accounts[owner] ?? ScreenAccount(owner) { [self] in endExcessLater($0) }
    }

    subscript(id: ScreenID) -> Screen? { screens[id] }

    /// The screen with an id that shows a container, or the part of one; nil: there is none.
    func find(_ id: String, on home: ContainerScreens) -> Screen? {
        let screen = screens[ScreenID(id)] ?? parts[ScreenID(id)]
        return screen?.home === home ? screen : nil
    }

    /// Whether a screen, and the one that it is a part of, have not ended.
    func isOpen(_ screen: Screen) -> Bool {
        let root = screen.root
        return screens[root.id] === root && !root.isEnded && !screen.isEnded
    }

    func freshID() -> ScreenID { ScreenID("\(incarnation)-\(domain.randomID())") }

    func insert(_ screen: Screen) {
        screens[screen.id] = screen
        accounts[screen.owner] = screen.account
        screen.account.screens[screen.id] = screen
    }

    /// Adds a part; it does not count as a screen of its user.
    func insert(part: Screen) { parts[part.id] = part }

    /// Removes a screen, or a part of one.
    func remove(_ id: ScreenID) {
        guard parts.removeValue(forKey: id) == nil else { return }
        guard let screen = screens.removeValue(forKey: id) else { return }
        screen.account.screens[id] = nil
        if screen.account.screens.isEmpty { accounts[screen.owner] = nil }
        receiver?(.gone(id))
    }

    /// Sets the receiver of what another process needs to know of screens.
    ///
    /// It is called on the loop at each change, from within the call that causes it.
    public func setReceiver(_ receiver: ((ScreenNote) -> Void)?) { self.receiver = receiver }

    /// Records a screen's choices for a handover.
    func changed(_ screen: Screen) {
        guard let receiver, let kept = KeptScreen(screen) else { return }
        receiver(.chosen(kept))
    }

    func removeAll() {
        screens.removeAll()
        parts.removeAll()
        for account in accounts.values { account.screens.removeAll() }
        accounts.removeAll()
        detached.removeAll()
        dropped = ([:], [])
    }

    /// Keeps the reason why a screen was ended although it might still be resumed.
    func recordDrop(_ id: ScreenID, _ reason: String, _ error: HostError? = nil) {
        dropped.reasons[id] = Drop(reason: reason, error: error)
        dropped.order.append(id)
        while dropped.order.count > Self.remembered {
            dropped.reasons[dropped.order.removeFirst()] = nil
        }
    }

    /// The error for the reader of a screen that does not exist.
    func failure(of id: ScreenID) -> HostError {
        dropped.reasons[id]?.error ?? .screenNotFound(id.text)
    }

    /// The approximate memory of all screens in bytes.
    var bytes: Int { accounts.values.reduce(0) { $0 + $1.bytes } }

    /// Why a screen does not exist, as a sentence.
    func absence(of id: ScreenID, gracePeriod seconds: Int) -> String {
        guard id.text.hasPrefix(incarnation + "-") else {
            return "The daemon was started anew since, or never had this screen."
        }
        return dropped.reasons[id]?.reason
            ?? "The screen is gone: one lingers for \(seconds) s after its connection, and ends "
            + "with its container."
    }
}

// MARK: - Readers of screens, and the calls of users on them

extension ScreenTable {
    /// Why a screen can't be resumed; nil if it can.
    func obstacle(
        to resume: ScreenRequest.Resume, _ request: ScreenRequest, _ caller: Caller
    ) -> String? {
        guard let screen = self[resume.screen], !screen.isEnded,
            let home = screen.home
        else {
            return absence(of: resume.screen, gracePeriod: domain.limits.screenLinger)
        }
        if screen.owner != caller.actor { return "The screen is another user's." }
        if screen.actor != request.actor { return "The screen is another actor's." }
        // A user may be allowed to see an actor's ballots without being allowed to choose in the actor's name.
        if screen.agent != request.agent ?? caller.actor {
            return "On the screen items are chosen in the name of \(screen.agent)."
        }
        if home.container.name != request.container {
            return "The screen shows the container \(home.container.name)."
        }
        return nil
    }

    /// A screen's next revision, which contains all changes since the last one; nil when nothing has changed.
    ///
    /// In both cases the reader is woken once there is another revision. Fails with `screenNotFound` when the screen
    /// has ended or has another reader, and with `limitExceeded` when it was ended because its user's screens were
    /// too large.
    public func pull(_ reader: ScreenReader) -> Result<ScreenRevision?, HostError> {
        guard let screen = self[reader.screen] else {
            return .failure(failure(of: reader.screen))
        }
        guard screen.turn == reader.turn else {
            return .failure(.screenNotFound(reader.screen.text))
        }
        return screen.pull()
    }

    /// Detaches a screen from its reader; it can be resumed during a grace period.
    ///
    /// Does nothing if the screen does not exist or has another reader.
    public func leave(_ reader: ScreenReader) {
        guard let screen = self[reader.screen], screen.detach(reader.turn) else {
            return
        }
        detached.startGracePeriod(of: screen)
    }

    /// Ends a screen whose reader lost its permission: the screen can't be resumed.
    ///
    /// Does nothing if the screen does not exist or has another reader.
    public func end(_ reader: ScreenReader) {
        guard let screen = self[reader.screen], screen.turn == reader.turn else { return }
        screen.home?.close(screen)
    }

    /// Finds a caller's screen, and the screens of its container.
    ///
    /// To be called within ``KeptScreens/whenRestored(_:_:)``.
    public func find(
        _ screen: ScreenID, of caller: Caller
    ) -> (screens: ContainerScreens, screen: Screen)? {
        guard let screen = self[screen], screen.owner == caller.actor,
            !screen.isEnded, let home = screen.home
        else { return nil }
        return (home, screen)
    }

    /// The screen that a reader has, with the revision that it was sent last; nil when it was sent none yet.
    public func keptScreen(of reader: ScreenReader) -> KeptScreen? {
        guard let screen = self[reader.screen], screen.turn == reader.turn, !screen.sent.owesFirst
        else {
            return nil
        }
        return KeptScreen(screen)
    }
}

extension ContainerScreens {
    /// Finds a part of a screen, and the screens of its container, by its path: component names separated by `/`,
    /// from the outermost part inwards; nil: the screen itself.
    ///
    /// Fails with `componentNotFound`.
    public func find(
        _ part: String?, of screen: Screen
    ) -> Result<(screens: ContainerScreens, screen: Screen), HostError> {
        guard let part else { return .success((self, screen)) }
        guard let found = screen.part(part), let home = found.home else {
            return .failure(.componentNotFound(container: container.name, component: part))
        }
        return .success((home, found))
    }
}

// MARK: - Memory of what screens show, after it has grown

extension ScreenTable {
    /// Schedules the end of screens of a user who exceeds the limit by far.
    func endExcessLater(_ account: ScreenAccount) {
        guard account.isOverdrawn(domain.limits), !account.isRelieved else { return }
        account.isRelieved = true
        domain.timers.later { [self] in
            account.isRelieved = false
            endExcess(account)
        }
    }

    /// Ends screens of a user who exceeds the limit by far; detached ones go first.
    private func endExcess(_ account: ScreenAccount) {
        let limits = domain.limits
        while account.isOverdrawn(limits),
            let screen = detached.longest(of: account.owner) ?? account.screens.values.first
        {
            recordDrop(
                screen.id,
                "What the screens of its user show has grown beyond twice the "
                    + "\(limits.screenBytesPerUser) bytes that they may have (screenBytesPerUser).",
                account.excess(limits))
            if let home = screen.home { home.close(screen) } else { remove(screen.id) }
            // Its next pull returns the error.
            screen.touched()
        }
    }
}
