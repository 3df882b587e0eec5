import Glibc
import TestSupport

/// A client that says exactly what it is told to, byte by byte.
final class RawClient {
    private(set) var descriptor: Int32
    private var received: [UInt8] = []
    private var start = 0
    private var searched = 0

    struct Failure: Error { let call: String, code: Int32 }

    init(path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(call: "socket", code: errno) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // A listener without room makes a connect wait: a test should fail, not hang.
        limit(SO_SNDTIMEO, milliseconds: 120_000)
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
        limit(SO_SNDTIMEO, milliseconds: 0)
        limit(SO_RCVTIMEO, milliseconds: 120_000)
    }

    init(descriptor: Int32) {
        self.descriptor = descriptor
        limit(SO_RCVTIMEO, milliseconds: 120_000)
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
    func receive() async throws -> String? {
        while true {
            if let end = nextEnd() {
                defer { (start, searched) = (end + 1, end + 1) }
                return String(decoding: received[start..<end], as: UTF8.self)
            }
            let descriptor = descriptor
            let chunk = try await onThread { try RawClient.read(descriptor, 0) }
            guard !chunk.isEmpty else { return nil }
            take(chunk)
        }
    }

    /// So many bytes, waited for; fewer at the end of the connection.
    func receive(count: Int) async throws -> [UInt8] {
        while received.count - start < count {
            let descriptor = descriptor
            let chunk = try await onThread { try RawClient.read(descriptor, 0) }
            guard !chunk.isEmpty else { break }
            take(chunk)
        }
        let end = min(start + count, received.count)
        defer { (start, searched) = (end, end) }
        return Array(received[start..<end])
    }

    /// Whether nothing has arrived.
    func hasNothing() throws -> Bool {
        guard start == received.count else { return false }
        do {
            let chunk = try RawClient.read(descriptor, Int32(MSG_DONTWAIT))
            take(chunk)
            return chunk.isEmpty
        } catch let failure as Failure where failure.code == EAGAIN {
            return true
        }
    }

    private func nextEnd() -> Int? {
        let searched = searched
        self.searched = received.count
        return received.withUnsafeBytes { bytes in
            guard bytes.count > searched, let base = bytes.baseAddress,
                let end = memchr(base + searched, 0, bytes.count - searched)
            else { return nil }
            return UnsafeRawPointer(end) - base
        }
    }

    private func take(_ chunk: [UInt8]) {
        received.removeFirst(start)
        received += chunk
        searched -= start
        start = 0
    }

    private static func read(_ descriptor: Int32, _ flags: Int32) throws -> [UInt8] {
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &chunk, chunk.count, flags)
        if count < 0 {
            // A connection that is closed with something of ours unread ends like this.
            if errno == ECONNRESET { return [] }
            throw Failure(call: "recv", code: errno)
        }
        return Array(chunk[..<count])
    }
}
