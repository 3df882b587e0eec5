internal import Logging
internal import NIOCore

/// Tells who was closed or refused, and why, so that no peer can fill the log.
///
/// Each user has some lines a minute. What is beyond them is counted, and told in one line when the
/// minute is over.
struct ClosureLog {
    private let lines: Int
    private let logger: Logger
    private var users: [UInt32: Minute] = [:]

    private struct Minute {
        let end: NIODeadline
        var told = 0
        var untold = 0
        var lastReason = ""
    }

    /// - Parameters:
    ///   - lines: Lines a minute for one user.
    ///   - logger: Where to.
    init(lines: Int, logger: Logger) {
        self.lines = lines
        self.logger = logger
    }

    /// Whether a minute is under way, so that ``sweep(now:)`` is to be called.
    var isBusy: Bool { !users.isEmpty }

    /// Tells of one connection, or counts it.
    mutating func tell(_ what: String, _ reason: String, _ peer: Peer, now: NIODeadline) {
        let reason = ClosureLog.printable(reason)
        if let minute = users[peer.uid], minute.end <= now { sumUp(peer.uid, minute) }
        var minute = users[peer.uid] ?? Minute(end: now + .seconds(60))
        defer { users[peer.uid] = minute }
        minute.lastReason = reason
        guard minute.told < lines else {
            minute.untold += 1
            return
        }
        minute.told += 1
        logger.warning(
            "\(what): \(reason)", metadata: ["uid": "\(peer.uid)", "pid": "\(peer.pid)"])
    }

    /// Sums up the minutes that are over.
    mutating func sweep(now: NIODeadline) {
        for (uid, minute) in users where minute.end <= now { sumUp(uid, minute) }
    }

    /// Sums up all that was not told.
    mutating func end() {
        for (uid, minute) in users { sumUp(uid, minute) }
    }

    /// A reason may quote what the peer sent: it stays on one line, and is not long.
    private static func printable(_ text: String) -> String {
        let kept = text.unicodeScalars.prefix(400).map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: Character("?")
            default: Character(scalar)
            }
        }
        return String(kept)
    }

    private mutating func sumUp(_ uid: UInt32, _ minute: Minute) {
        users[uid] = nil
        guard minute.untold > 0 else { return }
        logger.warning(
            """
            \(minute.untold) more connections like these were closed or refused; the last one: \
            \(minute.lastReason)
            """,
            metadata: ["uid": "\(uid)"])
    }
}
