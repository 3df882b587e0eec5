import Glibc

/// A client that says exactly what it is told to, byte by byte.
final class RawClient {
    private(set) var descriptor: Int32
    private var received: [UInt8] = []

    struct Failure: Error { let call: String, code: Int32 }

    init(path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(call: "socket", code: errno) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, size)
            }
        }
        guard result == 0 else {
            let code = errno
            close()
            throw Failure(call: "connect", code: code)
        }
        limit(SO_RCVTIMEO, milliseconds: 20_000)
    }

    init(descriptor: Int32) {
        self.descriptor = descriptor
        limit(SO_RCVTIMEO, milliseconds: 20_000)
    }

    deinit { close() }

    func close() {
        guard descriptor >= 0 else { return }
        Glibc.close(descriptor)
        descriptor = -1
    }

    func limit(_ option: Int32, milliseconds: Int) {
        var time = timeval(tv_sec: milliseconds / 1_000, tv_usec: milliseconds % 1_000 * 1_000)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, option, &time, size)
    }

    /// Sends messages, each with its NUL, in one write.
    func send(_ messages: String...) throws {
        try send(bytes: messages.flatMap { Array($0.utf8) + [0] })
    }

    func send(bytes: [UInt8]) throws {
        guard trySending(bytes) == bytes.count else { throw Failure(call: "send", code: errno) }
    }

    /// Sends as much as the other side takes.
    ///
    /// - Returns: How many bytes it took.
    func trySending(_ bytes: [UInt8]) -> Int {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return sent }
            sent += count
        }
        return sent
    }

    func sendNoMore() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The next message, waited for; nil at the end of the connection.
    func receive() throws -> String? {
        while true {
            if let end = received.firstIndex(of: 0) {
                let message = String(decoding: received[..<end], as: UTF8.self)
                received.removeSubrange(...end)
                return message
            }
            guard try fill(0) else { return nil }
        }
    }

    /// Whether nothing has arrived.
    func hasNothing() throws -> Bool {
        guard received.isEmpty else { return false }
        do {
            return try !fill(Int32(MSG_DONTWAIT))
        } catch let failure as Failure where failure.code == EAGAIN {
            return true
        }
    }

    private func fill(_ flags: Int32) throws -> Bool {
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &chunk, chunk.count, flags)
        if count < 0 {
            // A connection that is closed with something of ours unread ends like this.
            if errno == ECONNRESET { return false }
            throw Failure(call: "recv", code: errno)
        }
        received += chunk[..<count]
        return count > 0
    }
}
