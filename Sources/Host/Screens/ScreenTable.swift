import AtriumKit
import DequeModule
import NIOCore

/// All screens by id: those with a reader, and those that wait to be resumed.
///
/// Ids begin with the daemon's incarnation, so that a screen from before a restart can be recognised.
public final class ScreenTable {
    /// A screen that has lost its reader.
    private struct Wait {
        var id: ScreenID
        var turn: Int
        /// When it will be closed.
        var end: NIODeadline
    }

    /// For how many evicted screens the reason is kept.
    private static let remembered = 10_000

    let domain: Domain
    private let incarnation: String
    private(set) var screens: [ScreenID: Screen] = [:]
    /// The parts of screens, by ids of their own.
    private(set) var parts: [ScreenID: Screen] = [:]
    /// Returns the screens of all containers, by the containers' names.
    var homes: () -> [String: ContainerScreens] = { [:] }
    /// The screens of containers that have parts, by the containers' names.
    private(set) var parents: [String: ContainerScreens] = [:]
    /// The surrounding containers of each part, by the part's container; nil: to be computed again.
    var surroundings: [String: [Surrounding]]?
    /// Receives the notes that another process needs to continue the screens.
    private var receiver: ((ScreenNote) -> Void)?
    private var accounts: [String: ScreenAccount] = [:]
    /// Each user's detached screens, which have no reader, the longest waiting first; a resumed screen stays listed
    /// until it is first.
    private var detached: [String: Deque<Wait>] = [:]
    /// Users who have a timer for their detached screens.
    private var timed: Set<String> = []
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

    /// Updates the table after a container got its first part or lost its last one.
    func updateParents(_ home: ContainerScreens) {
        surroundings = nil
        let name = home.container.name
        let isThere = homes()[name] === home
        if isThere, !home.container.parts.isEmpty {
            parents[name] = home
        } else if parents[name] === home {
            parents[name] = nil
        }
    }

    /// Sets the receiver of what another process needs to know of screens.
    ///
    /// - Parameter receiver: called on the loop at each change, from within the call that causes it; nil: no receiver.
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
        timed.removeAll()
        dropped = ([:], [])
    }

    /// Lists a screen that has lost its reader.
    ///
    /// - Returns: whether the user has no timer yet; the caller then starts one with ``nextEnd(of:)``.
    func insertDetached(_ screen: Screen, until end: NIODeadline) -> Bool {
        let owner = screen.owner
        detached[owner, default: []].append(Wait(id: screen.id, turn: screen.turn, end: end))
        // Keeps the list short: at most about two entries for each of the user's screens, however often they are
        // resumed.
        if waits(of: owner) > 2 * count(of: owner) + 16 {
            detached[owner]?.removeAll { detachedScreen(of: $0) == nil }
        }
        return timed.insert(owner).inserted
    }

    /// The number of a user's entries, including outdated ones.
    func waits(of owner: String) -> Int { detached[owner]?.count ?? 0 }

    /// The user's screen that has been detached the longest; nil: there is none.
    func longestDetached(of owner: String) -> Screen? {
        firstWait(of: owner).flatMap { detachedScreen(of: $0) }
    }

    /// Removes an entry whose screen has waited long enough, and returns the screen; nil: there is none.
    func takeOverdue(of owner: String, at now: NIODeadline) -> Screen? {
        guard let wait = firstWait(of: owner), wait.end <= now else { return nil }
        detached[owner]?.removeFirst()
        return detachedScreen(of: wait)
    }

    /// When the user's next detached screen has to be closed; nil: there is none, and the timer ends.
    func nextEnd(of owner: String) -> NIODeadline? {
        if let wait = firstWait(of: owner) { return wait.end }
        timed.remove(owner)
        return nil
    }

    /// The first of a user's entries that is not outdated.
    private func firstWait(of owner: String) -> Wait? {
        while let wait = detached[owner]?.first {
            if detachedScreen(of: wait) != nil { return wait }
            detached[owner]?.removeFirst()
        }
        detached[owner] = nil
        return nil
    }

    /// The screen of an entry; nil: it was closed or resumed since.
    private func detachedScreen(of wait: Wait) -> Screen? {
        guard let screen = screens[wait.id], screen.turn == wait.turn, screen.reader == .gone else {
            return nil
        }
        return screen
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
