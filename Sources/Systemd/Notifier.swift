import CSystemd

/// Tells the service manager how the daemon is doing.
///
/// Promises: a message is sent before the call returns, and messages arrive in the order of the
/// calls. Without `NOTIFY_SOCKET` in the environment (an ordinary start from a shell) every call
/// does nothing. A message that can't be delivered is dropped: the manager's own start timeout is
/// what notices.
public struct Notifier: Sendable {
    /// Makes a notifier; it holds no resource.
    public init() {}

    /// Says that the socket answers and every container is loaded.
    ///
    /// - Parameter status: One line for `systemctl status`, such as `3 containers, 4 plugins`.
    public func ready(status: String) {
        send(["READY=1", statusLine(status)])
    }

    /// Replaces the line that `systemctl status` shows.
    ///
    /// - Parameter status: One line; line breaks are replaced by spaces.
    public func status(_ status: String) {
        send([statusLine(status)])
    }

    /// Says that an orderly stop has begun.
    ///
    /// - Parameter status: One line that says what is still being finished.
    public func stopping(status: String = "stopping") {
        send(["STOPPING=1", statusLine(status)])
    }

    /// A line break would start another assignment, such as a forged `READY=1`.
    private func statusLine(_ status: String) -> String {
        "STATUS=" + String(status.map { $0.isNewline ? " " : $0 })
    }

    private func send(_ assignments: [String]) {
        _ = sd_notify(0, assignments.joined(separator: "\n"))
    }
}
