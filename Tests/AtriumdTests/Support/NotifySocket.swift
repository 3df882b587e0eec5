import Glibc
import TestSupport

/// What a service manager listens on: `READY=1` and the like arrive here.
final class NotifySocket: Sendable {
    let path: String
    private let descriptor: Int32

    init(path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var wait = timeval(tv_sec: 50, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        let result = withUnixAddress(path) { bind(descriptor, $0, $1) }
        guard result == 0 else { throw SystemFailure("bind \(path)") }
        chmod(path, 0o777)
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    /// Waits for a message that has this line.
    ///
    /// - Returns: the whole message.
    func wait(for line: String) async throws -> String {
        while true {
            let message = try await onThread { [descriptor] in try Self.receive(descriptor) }
            let lines = message.split(separator: "\n")
            if lines.contains(where: { $0 == line }) { return message }
            if lines.contains("ENDED=1") { throw SystemFailure("\(line): the daemon ended") }
        }
    }

    /// Says that nothing more will come: for whoever waits.
    func end() {
        let text = Array("ENDED=1".utf8)
        _ = withUnixAddress(path) { address, size in
            sendto(descriptor, text, text.count, Int32(MSG_DONTWAIT), address, size)
        }
    }

    /// Forgets what an earlier run said.
    func drain() {
        var buffer: UInt8 = 0
        while recv(descriptor, &buffer, 1, Int32(MSG_DONTWAIT)) >= 0 {}
    }

    private static func receive(_ descriptor: Int32) throws -> String {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { throw SystemFailure("no word from the daemon") }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }
}

/// A call to the system that went wrong.
struct SystemFailure: Error, CustomStringConvertible {
    let description: String

    init(_ what: String, _ code: Int32 = errno) {
        description = "\(what): \(String(cString: strerror(code)))"
    }
}

/// Calls a function with a Unix socket's address.
func withUnixAddress<Value>(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value
) -> Value {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { room in
        room.copyBytes(from: Array(path.utf8).prefix(room.count - 1))
    }
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
}
