internal import AtriumKit

/// Bounds what a component may log and publish during one call.
///
/// Lines and notifications beyond a bound are dropped and counted, and the count is logged once the call returns. So a
/// component that logs or publishes in an endless loop does not exhaust the memory. Its events about items, votes and
/// comments are never dropped, since the host's view of its state would become wrong.
struct TurnBounds {
    /// The most lines of the log, and the most bytes in them.
    static let lines = 1_000
    static let lineBytes = 4 << 20
    /// The most notifications, and the most bytes in them.
    static let notifications = 2_000
    static let notificationBytes = 16 << 20

    private var logged = (count: 0, bytes: 0, dropped: 0)
    private var published = (count: 0, bytes: 0, dropped: 0)

    /// Counts a line of the log; returns whether there is room for it.
    mutating func admits(logging message: String) -> Bool {
        Self.admits(&logged, message.utf8.count, Self.lines, Self.lineBytes)
    }

    /// Counts a notification; returns whether there is room for it.
    mutating func admits(publishing payload: [String: Value]) -> Bool {
        Self.admits(
            &published, Value.object(payload).roughSize, Self.notifications,
            Self.notificationBytes)
    }

    /// Resets the counts after a call; returns what was dropped, as a sentence, nil if nothing was.
    mutating func end() -> String? {
        guard logged.count > 0 || published.count > 0 else { return nil }
        let dropped = [
            logged.dropped > 0
                ? "\(logged.dropped) lines of the log (at most \(Self.lines) and "
                    + "\(Self.lineBytes >> 20) MiB)" : nil,
            published.dropped > 0
                ? "\(published.dropped) notifications (at most \(Self.notifications) and "
                    + "\(Self.notificationBytes >> 20) MiB)" : nil,
        ].compactMap(\.self)
        logged = (0, 0, 0)
        published = (0, 0, 0)
        guard !dropped.isEmpty else { return nil }
        return "The component exceeded the limits of one call; dropped: "
            + dropped.joined(separator: ", ") + "."
    }

    private static func admits(
        _ said: inout (count: Int, bytes: Int, dropped: Int), _ bytes: Int, _ most: Int,
        _ mostBytes: Int
    ) -> Bool {
        guard said.count < most, said.bytes + bytes <= mostBytes else {
            said.dropped += 1
            // Makes sure that `end()` reports the drop even if nothing was admitted.
            said.count = max(said.count, 1)
            return false
        }
        said.count += 1
        said.bytes += bytes
        return true
    }
}

/// Keeps what a component logs until it is sent to the log; a crash writes what is kept.
public protocol CrashLog: Sendable {
    /// The component logs a line.
    func append(_ message: String)
    /// The lines so far were sent to the log.
    func clear()
}
