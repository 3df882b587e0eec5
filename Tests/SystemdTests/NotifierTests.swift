import Glibc
import Systemd
import Testing

/// Each test runs in a process of its own, since the protocol lives in the environment.
@Suite(.timeLimit(.minutes(3)))
struct NotifierTests {
    @Test func `readiness and its status arrive in one message`() async {
        await #expect(processExitsWith: .success) {
            let manager = try ServiceManager()
            Notifier().ready(status: "3 containers, 4 plugins")
            try manager.expect(
                "READY=1\nMAINPID=\(getpid())\nSTATUS=3 containers, 4 plugins")
        }
    }

    @Test func `messages arrive in the order of the calls`() async {
        await #expect(processExitsWith: .success) {
            let manager = try ServiceManager()
            let notifier = Notifier()
            notifier.status("loading films")
            notifier.stopping()
            try manager.expect("STATUS=loading films")
            try manager.expect("STOPPING=1\nSTATUS=stopping")
        }
    }

    @Test func `a status with a line break can't forge another assignment`() async {
        await #expect(processExitsWith: .success) {
            let manager = try ServiceManager()
            Notifier().status("films\nREADY=1")
            try manager.expect("STATUS=films READY=1")
        }
    }

    @Test func `a reload is notified with the time of the monotonic clock`() async {
        await #expect(processExitsWith: .success) {
            let manager = try ServiceManager()
            var before = timespec()
            clock_gettime(CLOCK_MONOTONIC, &before)
            Notifier().reloading()
            let message = try manager.next()
            var after = timespec()
            clock_gettime(CLOCK_MONOTONIC, &after)
            let lines = message.split(separator: "\n")
            guard lines.first == "RELOADING=1", lines.last == "STATUS=reloading",
                let time = Int(lines[1].trimmingPrefix("MONOTONIC_USEC="))
            else { exit(1) }
            let known = before.tv_sec * 1_000_000 + before.tv_nsec / 1_000
            guard (known...after.tv_sec * 1_000_000 + after.tv_nsec / 1_000).contains(time) else {
                exit(2)
            }
        }
    }

    @Test func `more time, a failure and a sign of life have the form that systemd reads`() async {
        await #expect(processExitsWith: .success) {
            let manager = try ServiceManager()
            let notifier = Notifier()
            notifier.extendTimeout(by: .seconds(60), status: "loading")
            notifier.failed(errno: ENOSPC, status: "no space")
            notifier.isAlive()
            try manager.expect("EXTEND_TIMEOUT_USEC=60000000\nSTATUS=loading")
            try manager.expect("ERRNO=\(ENOSPC)\nSTATUS=no space")
            try manager.expect("WATCHDOG=1")
        }
    }

    @Test func `a long status is cut, not dropped`() async {
        await #expect(processExitsWith: .success) {
            let manager = try ServiceManager()
            Notifier().status(String(repeating: "ä", count: 9_000))
            let message = try manager.next()
            guard message.hasPrefix("STATUS=ää"), message.hasSuffix("ä…"), message.count < 600
            else { exit(1) }
        }
    }

    @Test func `a barrier gives up on a manager that does not read`() async {
        await #expect(processExitsWith: .success) {
            let manager = try ServiceManager()
            guard !Notifier().barrier(within: .milliseconds(20)) else { exit(1) }
            try manager.expect("BARRIER=1")
            unsetenv("NOTIFY_SOCKET")
            guard Notifier().barrier() else { exit(2) }
        }
    }

    @Test func `the watchdog is this process's alone, and its variables are not inherited`() async {
        await #expect(processExitsWith: .success) {
            guard Watchdog.take() == nil else { exit(1) }
            setenv("WATCHDOG_USEC", "3000000", 1)
            setenv("WATCHDOG_PID", "\(getppid())", 1)
            guard Watchdog.take() == nil else { exit(2) }
            setenv("WATCHDOG_USEC", "3000000", 1)
            setenv("WATCHDOG_PID", "\(getpid())", 1)
            guard let watchdog = Watchdog.take(), watchdog.limit == .seconds(3),
                watchdog.interval == .milliseconds(1_500)
            else { exit(3) }
            guard getenv("WATCHDOG_USEC") == nil, Watchdog.take() == nil else { exit(4) }
        }
    }

    @Test func `without a service manager nothing happens`() async {
        await #expect(processExitsWith: .success) {
            unsetenv("NOTIFY_SOCKET")
            Notifier().ready(status: "alone")
        }
    }
}

/// The service manager's end of the protocol: a datagram socket named in `NOTIFY_SOCKET`.
private struct ServiceManager {
    struct Failure: Error {
        let what: String
    }

    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        // A name of the abstract namespace: no file is left behind.
        let name = "atrium-notify-\(getpid())"
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0[1...].copyBytes(from: name.utf8) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard descriptor >= 0, bound == 0 else { throw Failure(what: "bind: errno \(errno)") }
        setenv("NOTIFY_SOCKET", "@" + name, 1)
    }

    /// What was sent is already in the socket's queue, so that a missing message fails at once.
    func next() throws -> String {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        guard count >= 0 else { throw Failure(what: "no message") }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    func expect(_ message: String) throws {
        let received = try next()
        guard received == message else { throw Failure(what: "received \(received)") }
    }
}
