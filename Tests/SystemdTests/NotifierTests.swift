import Glibc
import Systemd
import Testing

/// Each test runs in a process of its own, since the protocol lives in the environment.
struct NotifierTests {
    @Test func `readiness and its status arrive in one message`() async {
        await #expect(processExitsWith: .success) {
            let manager = try ServiceManager()
            Notifier().ready(status: "3 containers, 4 plugins")
            try manager.expect("READY=1\nSTATUS=3 containers, 4 plugins")
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
    func expect(_ message: String) throws {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        guard count >= 0 else { throw Failure(what: "no message, expected \(message)") }
        let received = String(decoding: buffer[..<count], as: UTF8.self)
        guard received == message else { throw Failure(what: "received \(received)") }
    }
}
