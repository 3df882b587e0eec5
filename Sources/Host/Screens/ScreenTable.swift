import AtriumKit

/// All screens, by their ids: those that are read, and those that wait to be resumed.
///
/// Ids begin with the daemon's incarnation, so that it can be told why one is not there.
final class ScreenTable {
    let incarnation: String
    private(set) var screens: [ScreenID: Screen] = [:]
    /// Told what would have to be known to go on with them elsewhere.
    var note: ((ScreenNote) -> Void)?
    /// How many each user has.
    private var owned: [String: Int] = [:]
    /// Whose screens have no reader, the longest first.
    private var lingering: [String: [ScreenID]] = [:]

    init(incarnation: String) {
        self.incarnation = incarnation
    }

    var count: Int { screens.count }

    /// How many screens a user has.
    func count(of owner: String) -> Int { owned[owner] ?? 0 }

    subscript(id: ScreenID) -> Screen? { screens[id] }

    func freshID(_ random: String) -> ScreenID { ScreenID("\(incarnation)-\(random)") }

    func insert(_ screen: Screen) {
        screens[screen.id] = screen
        owned[screen.owner, default: 0] += 1
    }

    /// Forgets a screen.
    func remove(_ id: ScreenID) {
        guard let screen = screens.removeValue(forKey: id) else { return }
        resume(screen)
        let left = count(of: screen.owner) - 1
        owned[screen.owner] = left > 0 ? left : nil
        note?(.gone(id))
    }

    /// Something was chosen on a screen.
    func changed(_ screen: Screen) {
        guard let note, let kept = KeptScreen(screen) else { return }
        note(.chosen(kept))
    }

    func removeAll() {
        screens.removeAll()
        owned.removeAll()
        lingering.removeAll()
    }

    /// A screen has no reader any more.
    ///
    /// - Returns: the one that has been without the longest, where its user has too many.
    func linger(_ screen: Screen, limit: Int) -> Screen? {
        lingering[screen.owner, default: []].append(screen.id)
        guard let ids = lingering[screen.owner], ids.count > limit else { return nil }
        return screens[ids[0]]
    }

    /// A screen has a reader again.
    func resume(_ screen: Screen) {
        lingering[screen.owner]?.removeAll { $0 == screen.id }
        if lingering[screen.owner]?.isEmpty ?? false { lingering[screen.owner] = nil }
    }

    /// Why a screen that is not there is not.
    func absence(of id: ScreenID, linger seconds: Int) -> String {
        guard id.text.hasPrefix(incarnation + "-") else {
            return "The daemon was started anew since, or never had this screen."
        }
        return "The screen is gone: one lingers for \(seconds) s after its connection, and ends "
            + "with its container."
    }
}
