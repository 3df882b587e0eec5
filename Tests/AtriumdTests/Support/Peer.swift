import Glibc
import JSONCodec
import TestSupport

/// Somebody on the control socket who says exactly what they are told to, byte by byte.
final class Peer: Sendable {
    private let descriptor: Int32

    /// Connects as somebody else, as root alone can.
    convenience init(_ path: String, as credentials: Credentials) async throws {
        let descriptor = try await onThread {
            try credentials.whileTaken { try Peer.connected(to: path) }
        }
        try self.init(descriptor)
    }

    convenience init(_ path: String) throws { try self.init(Self.connected(to: path)) }

    private static func connected(to path: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let result = withUnixAddress(path) { connect(descriptor, $0, $1) }
        guard result == 0 else {
            let failure = SystemFailure("connect \(path)")
            close(descriptor)
            throw failure
        }
        return descriptor
    }

    private init(_ descriptor: Int32) throws {
        self.descriptor = descriptor
        var wait = timeval(tv_sec: 50, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// Ends the connection, whatever is still to come on it.
    func hangUp() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Calls a method and gives its reply: `parameters`, and `error` where it failed.
    func call(_ method: String, _ parameters: JSONValue = [:]) async throws -> JSONValue {
        try await send(Self.frame(method, parameters))
        return try await reply(to: method)
    }

    private func reply(to method: String) async throws -> JSONValue {
        guard let reply = try await receive() else {
            throw SystemFailure("\(method): the daemon hung up", 0)
        }
        return reply
    }

    /// A call as it goes over the wire.
    static func frame(
        _ method: String, _ parameters: JSONValue = [:], more: Bool = false
    ) -> [UInt8] {
        var call: JSONValue = ["method": .string(method), "parameters": parameters]
        if more { call["more"] = true }
        return JSON.encode(call) + [0]
    }

    func send(_ text: String) async throws { try await send(Array(text.utf8) + [0]) }

    func send(_ bytes: [UInt8]) async throws {
        let sent = try await onThread { [self] in trySending(bytes) }
        guard sent == bytes.count else { throw SystemFailure("send") }
    }

    /// Sends as much as the daemon takes.
    ///
    /// - Returns: how many bytes it took before it hung up.
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

    /// The next message; nil when the daemon hung up.
    func receive() async throws -> JSONValue? {
        let bytes = try await onThread { [descriptor] in try Self.message(descriptor) }
        return try bytes.map { try JSON.decode(from: $0) }
    }

    /// Reads up to the next NUL, byte by byte in the socket's own buffer.
    private static func message(_ descriptor: Int32) throws -> [UInt8]? {
        var message: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let seen = recv(descriptor, &buffer, buffer.count, Int32(MSG_PEEK))
            if seen == 0 || seen < 0 && errno == ECONNRESET { return nil }
            guard seen > 0 else { throw SystemFailure("no reply") }
            let end = buffer[..<seen].firstIndex(of: 0)
            let taken = recv(descriptor, &buffer, end.map { $0 + 1 } ?? seen, 0)
            guard taken > 0 else { return nil }
            message += buffer[..<(end ?? taken)]
            if end != nil { return message }
        }
    }
}
