internal import AtriumKit

/// How much a component may say while it is called once: what is beyond that is counted and dropped, and
/// the number is logged once the call returns.
///
/// So one that logs or publishes without end, and never returns, takes no memory without end. What
/// it tells of its items, votes and comments is not dropped: nobody would know the truth.
struct TurnBounds {
    /// Lines of the log, and their bytes.
    static let lines = 1_000
    static let lineBytes = 4 << 20
    /// Notifications, and their bytes.
    static let notifications = 2_000
    static let notificationBytes = 16 << 20

    private var logged = (count: 0, bytes: 0, dropped: 0)
    private var published = (count: 0, bytes: 0, dropped: 0)

    /// Takes a line of the log in.
    ///
    /// - Returns: whether there is room for it.
    mutating func admits(logging message: String) -> Bool {
        Self.admits(&logged, message.utf8.count, Self.lines, Self.lineBytes)
    }

    /// Takes a notification in.
    ///
    /// - Returns: whether there is room for it.
    mutating func admits(publishing payload: [String: Value]) -> Bool {
        Self.admits(
            &published, Value.object(payload).roughSize, Self.notifications,
            Self.notificationBytes)
    }

    /// The call returned.
    ///
    /// - Returns: what was dropped, as a sentence; nil: nothing.
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
        return "During one call the component said more than it may, and this was dropped: "
            + dropped.joined(separator: ", ") + "."
    }

    private static func admits(
        _ said: inout (count: Int, bytes: Int, dropped: Int), _ bytes: Int, _ most: Int,
        _ mostBytes: Int
    ) -> Bool {
        guard said.count < most, said.bytes + bytes <= mostBytes else {
            said.dropped += 1
            // Something was said, so that it is told.
            said.count = max(said.count, 1)
            return false
        }
        said.count += 1
        said.bytes += bytes
        return true
    }
}

/// Keeps what a component logs until it is on its way: a crash writes what is kept.
public protocol LastWords: Sendable {
    /// The component logs.
    func note(_ message: String)
    /// What it logged is on its way.
    func forget()
}
