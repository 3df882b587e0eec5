import AtriumKit
import DequeModule
import NIOCore

/// All screens, by their ids: those that are read, and those that wait to be resumed.
///
/// Ids begin with the daemon's incarnation, so that it can be told why one is not there.
final class ScreenTable {
    /// A screen since it lost its reader.
    private struct Wait {
        var id: ScreenID
        var turn: Int
        /// When it is closed.
        var end: NIODeadline
    }

    /// Of so many that ended for room it is known why.
    private static let remembered = 10_000

    let domain: Domain
    private let incarnation: String
    private(set) var screens: [ScreenID: Screen] = [:]
    /// The parts of screens, by ids of their own.
    private(set) var parts: [ScreenID: Screen] = [:]
    /// The containers' screens, by the containers' names.
    var homes: () -> [String: ContainerScreens] = { [:] }
    /// Those of containers that have others as parts.
    private(set) var parents: [String: ContainerScreens] = [:]
    /// By the name of each container that is a part of others, those; nil: to be found anew.
    var surroundings: [String: [Surrounding]]?
    /// Those that are being brought back from another process.
    var restorations: [ScreenID: ScreenRestoration] = [:]
    /// Told what would have to be known to go on with them elsewhere.
    var note: ((ScreenNote) -> Void)?
    private var accounts: [String: ScreenAccount] = [:]
    /// Whose screens have no reader, the longest first; what has one again stays until it is first.
    private var lingering: [String: Deque<Wait>] = [:]
    /// Users who have a timer for their lingering screens.
    private var timed: Set<String> = []
    /// Why screens ended before their time, the latest last.
    private var dropped: (reasons: [ScreenID: Drop], order: Deque<ScreenID>) = ([:], [])

    private struct Drop {
        var reason: String
        /// What its reader is told; nil: that it is gone.
        var error: HostError?
    }

    init(in domain: Domain) {
        self.domain = domain
        incarnation = String(domain.freshID().prefix(8))
    }

    var count: Int { screens.count }

    /// How many screens a user has.
    func count(of owner: String) -> Int { accounts[owner]?.screens.count ?? 0 }

    /// What a user's screens keep in memory.
    func account(of owner: String) -> ScreenAccount {
        accounts[owner] ?? ScreenAccount(owner) { [weak self] in self?.relieveLater($0) }
    }

    subscript(id: ScreenID) -> Screen? { screens[id] }

    func freshID() -> ScreenID { ScreenID("\(incarnation)-\(domain.freshID())") }

    func insert(_ screen: Screen) {
        screens[screen.id] = screen
        accounts[screen.owner] = screen.account
        screen.account.screens[screen.id] = screen
    }

    /// Takes a part in: no screen of its own, and none that its user would be counted.
    func insert(part: Screen) { parts[part.id] = part }

    /// Forgets a screen, or a part of one.
    func remove(_ id: ScreenID) {
        guard parts.removeValue(forKey: id) == nil else { return }
        guard let screen = screens.removeValue(forKey: id) else { return }
        screen.account.screens[id] = nil
        if screen.account.screens.isEmpty { accounts[screen.owner] = nil }
        note?(.gone(id))
    }

    /// A container has others as parts now, or not any more.
    func note(_ home: ContainerScreens) {
        surroundings = nil
        let name = home.container.name
        let isThere = homes()[name] === home
        if isThere, !home.container.parts.isEmpty {
            parents[name] = home
        } else if parents[name] === home {
            parents[name] = nil
        }
    }

    /// Something was chosen on a screen.
    func changed(_ screen: Screen) {
        guard let note, let kept = KeptScreen(screen) else { return }
        note(.chosen(kept))
    }

    func removeAll() {
        screens.removeAll()
        parts.removeAll()
        restorations.removeAll()
        for account in accounts.values { account.screens.removeAll() }
        accounts.removeAll()
        lingering.removeAll()
        timed.removeAll()
        dropped = ([:], [])
    }

    /// A screen has no reader any more.
    ///
    /// - Returns: whether its user has no timer yet, which ``nextEnd(of:)`` asks for.
    func linger(_ screen: Screen, until end: NIODeadline) -> Bool {
        let owner = screen.owner
        lingering[owner, default: []].append(Wait(id: screen.id, turn: screen.turn, end: end))
        // However often a screen is resumed and left, its user has about two entries for each.
        if waits(of: owner) > 2 * count(of: owner) + 16 {
            lingering[owner]?.removeAll { lingeringScreen($0) == nil }
        }
        return timed.insert(owner).inserted
    }

    /// How many entries there are for a user's lingering screens, outdated ones included.
    func waits(of owner: String) -> Int { lingering[owner]?.count ?? 0 }

    /// A user's screen that has been without a reader the longest; nil: each has one.
    func longestLingering(of owner: String) -> Screen? {
        firstWait(of: owner).flatMap { lingeringScreen($0) }
    }

    /// Takes out a user's screen that was without a reader for as long as it may be; nil: there is none.
    func takeOverdue(of owner: String, at now: NIODeadline) -> Screen? {
        guard let wait = firstWait(of: owner), wait.end <= now else { return nil }
        lingering[owner]?.removeFirst()
        return lingeringScreen(wait)
    }

    /// When a user's next lingering screen is to be closed; nil: none lingers, and its timer ends.
    func nextEnd(of owner: String) -> NIODeadline? {
        if let wait = firstWait(of: owner) { return wait.end }
        timed.remove(owner)
        return nil
    }

    /// The first of a user's entries that is not outdated.
    private func firstWait(of owner: String) -> Wait? {
        while let wait = lingering[owner]?.first {
            if lingeringScreen(wait) != nil { return wait }
            lingering[owner]?.removeFirst()
        }
        lingering[owner] = nil
        return nil
    }

    /// The screen of an entry; nil: it is gone, or was resumed since.
    private func lingeringScreen(_ wait: Wait) -> Screen? {
        guard let screen = screens[wait.id], screen.turn == wait.turn, screen.reader == .gone else {
            return nil
        }
        return screen
    }

    /// Notes why a screen ends though it might still be resumed.
    func noteDropped(_ id: ScreenID, _ reason: String, _ error: HostError? = nil) {
        dropped.reasons[id] = Drop(reason: reason, error: error)
        dropped.order.append(id)
        while dropped.order.count > Self.remembered {
            dropped.reasons[dropped.order.removeFirst()] = nil
        }
    }

    /// What the reader of a screen is told that is not there.
    func failure(of id: ScreenID) -> HostError {
        dropped.reasons[id]?.error ?? .screenNotFound(id.text)
    }

    /// Bytes that what all screens show has, roughly.
    var bytes: Int { accounts.values.reduce(0) { $0 + $1.bytes } }

    /// Why a screen that is not there is not.
    func absence(of id: ScreenID, linger seconds: Int) -> String {
        guard id.text.hasPrefix(incarnation + "-") else {
            return "The daemon was started anew since, or never had this screen."
        }
        return dropped.reasons[id]?.reason
            ?? "The screen is gone: one lingers for \(seconds) s after its connection, and ends "
            + "with its container."
    }
}
