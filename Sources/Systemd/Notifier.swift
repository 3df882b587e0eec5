import CSystemd
import Glibc

/// Notifies the service manager of the daemon's state.
///
/// Promises: a message is sent before the call returns, and messages arrive in the order of the calls. Without
/// `NOTIFY_SOCKET` in the environment (an ordinary start from a shell) every call does nothing. A message that can't be
/// delivered is dropped; the manager notices that by its own start timeout.
public struct Notifier: Sendable {
    /// The maximum number of characters of a status that is sent: `systemctl status` shows it on one line.
    static let statusLimit = 500

    /// Makes a notifier; it holds no resource.
    public init() {}

    /// Notifies the manager that the socket answers and every container is loaded, or that a reload has ended, with a
    /// line for `systemctl status`.
    ///
    /// The message also names this process as the service's main one, because a wrapper that started it may still
    /// run.
    public func ready(status: String) {
        send(["READY=1", "MAINPID=\(getpid())", statusLine(status)])
    }

    /// Notifies the manager that the configuration is being read again; ``ready(status:)`` follows when that is done.
    public func reloading(status: String = "reloading") {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let microseconds = Int(now.tv_sec) * 1_000_000 + Int(now.tv_nsec) / 1_000
        send(["RELOADING=1", "MONOTONIC_USEC=\(microseconds)", statusLine(status)])
    }

    /// Replaces the line that `systemctl status` shows; line breaks are replaced by spaces.
    public func status(_ status: String) {
        send([statusLine(status)])
    }

    /// Requests more time for the start, while it makes progress: the next message will be sent within that time from
    /// now.
    public func extendTimeout(by time: Duration, status: String) {
        send(["EXTEND_TIMEOUT_USEC=\(Int64(time / .microseconds(1)))", statusLine(status)])
    }

    /// Notifies the manager that an orderly stop has begun, with a line about what is still being finished.
    public func stopping(status: String = "stopping") {
        send(["STOPPING=1", statusLine(status)])
    }

    /// Notifies the manager why the daemon can't start, or can't continue, with the system's error number that fits
    /// best.
    public func failed(errno code: Int32, status: String) {
        send(["ERRNO=\(code)", statusLine(status)])
    }

    /// Notifies the manager that calls are being served; the watchdog expects this, see ``Watchdog``.
    public func isAlive() {
        send(["WATCHDOG=1"])
    }

    /// Waits until the manager has read all messages, so that none is lost when the process ends; returns whether it
    /// has, also true without a manager.
    ///
    /// The manager can't find out to which service a process belonged that has ended.
    @discardableResult
    public func barrier(within limit: Duration = .seconds(2)) -> Bool {
        sd_notify_barrier(0, UInt64(limit / .microseconds(1))) >= 0
    }

    /// A line break would start another assignment, such as a forged `READY=1`.
    private func statusLine(_ status: String) -> String {
        let line = String(status.map { $0.isNewline ? " " : $0 })
        guard line.count > Self.statusLimit else { return "STATUS=" + line }
        return "STATUS=" + line.prefix(Self.statusLimit - 1) + "…"
    }

    private func send(_ assignments: [String]) {
        _ = sd_notify(0, assignments.joined(separator: "\n"))
    }
}
