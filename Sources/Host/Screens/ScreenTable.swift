import AtriumKit
import DequeModule

/// All screens, by their ids: those that are read, and those that wait to be resumed.
///
/// Ids begin with the daemon's incarnation, so that it can be told why one is not there.
final class ScreenTable {
    /// A screen since it lost its reader.
    private struct Wait {
        var id: ScreenID
        var turn: Int
    }

    /// Of so many that ended for room it is known why.
    private static let remembered = 10_000

    let incarnation: String
    private(set) var screens: [ScreenID: Screen] = [:]
    /// Those that are being brought back from another process.
    var restorations: [ScreenID: ScreenRestoration] = [:]
    /// Told what would have to be known to go on with them elsewhere.
    var note: ((ScreenNote) -> Void)?
    /// Told of users whose screens may keep more in memory than before.
    var grew: (ScreenAccount) -> Void = { _ in }
    private var accounts: [String: ScreenAccount] = [:]
    /// Whose screens have no reader, the longest first; what has one again stays until it is first.
    private var lingering: [String: Deque<Wait>] = [:]
    /// Why screens ended before their time, the latest last.
    private var dropped: (reasons: [ScreenID: Drop], order: Deque<ScreenID>) = ([:], [])

    private struct Drop {
        var reason: String
        /// What its reader is told; nil: that it is gone.
        var error: HostError?
    }

    init(incarnation: String) {
        self.incarnation = incarnation
    }

    var count: Int { screens.count }

    /// How many screens a user has.
    func count(of owner: String) -> Int { accounts[owner]?.screens.count ?? 0 }

    /// What a user's screens keep in memory.
    func account(of owner: String) -> ScreenAccount {
        accounts[owner] ?? ScreenAccount(owner) { [weak self] in self?.grew($0) }
    }

    subscript(id: ScreenID) -> Screen? { screens[id] }

    func freshID(_ random: String) -> ScreenID { ScreenID("\(incarnation)-\(random)") }

    func insert(_ screen: Screen) {
        screens[screen.id] = screen
        accounts[screen.owner] = screen.account
        screen.account.screens[screen.id] = screen
    }

    /// Forgets a screen.
    func remove(_ id: ScreenID) {
        guard let screen = screens.removeValue(forKey: id) else { return }
        screen.account.screens[id] = nil
        if screen.account.screens.isEmpty { accounts[screen.owner] = nil }
        note?(.gone(id))
    }

    /// Something was chosen on a screen.
    func changed(_ screen: Screen) {
        guard let note, let kept = KeptScreen(screen) else { return }
        note(.chosen(kept))
    }

    func removeAll() {
        screens.removeAll()
        restorations.removeAll()
        for account in accounts.values { account.screens.removeAll() }
        accounts.removeAll()
        lingering.removeAll()
        dropped = ([:], [])
    }

    /// A screen has no reader any more.
    func linger(_ screen: Screen) {
        lingering[screen.owner, default: []].append(Wait(id: screen.id, turn: screen.turn))
    }

    /// A user's screen that has been without a reader the longest; nil: each has one.
    func longestLingering(of owner: String) -> Screen? {
        while let wait = lingering[owner]?.first {
            if let screen = screens[wait.id], screen.turn == wait.turn, screen.reader == .gone {
                return screen
            }
            lingering[owner]?.removeFirst()
        }
        lingering[owner] = nil
        return nil
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
