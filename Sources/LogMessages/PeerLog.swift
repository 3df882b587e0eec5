public import Logging

/// Logs whose connections were closed or refused and whose calls were denied, so that no peer can
/// fill the log.
///
/// Each user has some lines a minute for each kind of event. What is beyond them is counted, and
/// logged in one line when the minute is over. Beyond a number of users the others count as one.
public struct PeerLog: Sendable {
    /// Users and kinds of events with lines of their own.
    private static let most = 1_000

    private let lines: Int
    private let logger: Logger
    private var minutes: [Subject: Minute] = [:]

    private struct Subject: Hashable {
        let message: LogMessage
        /// Nil: all users beyond that number.
        var uid: UInt32?
    }

    private struct Minute {
        let end: ContinuousClock.Instant
        var logged = 0
        var unlogged = 0
        var last: Logger.Metadata = [:]
    }

    /// A log of which nobody has used a line yet, of so many a minute for one kind of event and one user.
    public init(lines: Int, logger: Logger) {
        self.lines = lines
        self.logger = logger
    }

    /// Whether a minute is under way, so that ``sweep(now:)`` is to be called.
    public var isBusy: Bool { !minutes.isEmpty }

    /// Logs one event of a peer, or counts it; the details may quote what the peer sent.
    public mutating func log(
        _ message: LogMessage, _ details: [String: String], uid: UInt32, pid: Int32,
        now: ContinuousClock.Instant
    ) {
        var subject = Subject(message: message, uid: uid)
        if minutes.count >= Self.most, minutes[subject] == nil { subject.uid = nil }
        if let minute = minutes[subject], minute.end <= now { sumUp(subject, minute) }
        var minute = minutes[subject] ?? Minute(end: now + .seconds(60))
        defer { minutes[subject] = minute }
        minute.last = details.mapValues { "\(Self.printable($0))" }
        minute.last["peer-uid"] = "\(uid)"
        guard minute.logged < lines else {
            minute.unlogged += 1
            return
        }
        minute.logged += 1
        logger.log(message, minute.last.merging(["peer-pid": "\(pid)"]) { $1 })
    }

    /// Sums up the minutes that are over.
    public mutating func sweep(now: ContinuousClock.Instant) {
        for (subject, minute) in minutes where minute.end <= now { sumUp(subject, minute) }
    }

    /// Logs a sum of all that was not logged one by one.
    public mutating func end() {
        for (subject, minute) in minutes { sumUp(subject, minute) }
    }

    /// Whatever quotes a peer stays on one line, and is not long.
    private static func printable(_ text: String) -> String {
        let kept = text.unicodeScalars.prefix(400).map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: Character("?")
            default: Character(scalar)
            }
        }
        return String(kept)
    }

    private mutating func sumUp(_ subject: Subject, _ minute: Minute) {
        minutes[subject] = nil
        guard minute.unlogged > 0 else { return }
        logger.log(
            .repeated, level: subject.message.level,
            minute.last.merging([
                "count": "\(minute.unlogged)", "what": "\(subject.message.text)",
            ]) { $1 })
    }
}
