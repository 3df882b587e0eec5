import Foundation
import JSONCodec
import TestSupport

/// A run over one connection: its calls, and all that came back.
struct Conversation: Sendable {
    /// The calls, `Start` the first.
    let calls: [Call]

    /// The replies to each call.
    let replies: [[JSONValue]]

    /// What came after the last call's replies.
    let rest: [JSONValue]

    struct Failure: Error { let reason: String }

    /// Holds it with the service at a path.
    ///
    /// All calls but the first are sent at once, and then nothing: whatever a broken service leaves out
    /// or adds, the connection ends, and nothing is waited for in vain.
    init(_ calls: [Call], with path: String) async throws {
        let frames = try await onThread { try Self.hold(calls, path) }
        self.calls = [Call("Start")] + calls
        var waiting = frames[...]
        replies = self.calls.map { call in
            var replies: [JSONValue] = []
            guard call.flag != "oneway" else { return replies }
            while let reply = waiting.popFirst() {
                replies.append(reply)
                guard reply["continues"] == true else { break }
            }
            return replies
        }
        rest = Array(waiting)
    }

    /// The frames of a conversation; the run's name is replaced in all of them.
    private static func hold(_ calls: [Call], _ path: String) throws -> [JSONValue] {
        let socket = try Connection(path)
        try socket.send(Call("Start").message(run: ""))
        guard let first = try socket.next(),
            let run = first["parameters"]?["client_id"]?.string
        else { throw Failure(reason: "Start was not answered with a client_id") }
        try socket.send(calls.flatMap { $0.message(run: run) })
        socket.endSending()
        var frames = [first]
        while let frame = try socket.next() { frames.append(frame) }
        return try frames.map { frame in
            let text = String(decoding: JSON.encode(frame), as: UTF8.self)
            return try JSON.decode(from: text.replacing(run, with: "RUN"))
        }
    }
}

/// A blocking connection to a socket.
private final class Connection {
    private let descriptor: Int32
    private var received: [UInt8] = []

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, size)
            }
        }
        // Only for a service that hangs: a test should fail, not wait for ever.
        var time = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &time,
            socklen_t(MemoryLayout<timeval>.size))
        guard result == 0 else { throw Conversation.Failure(reason: "can't connect to \(path)") }
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) throws {
        let count = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        guard count == bytes.count else {
            throw Conversation.Failure(reason: "\(count) of \(bytes.count) bytes were taken")
        }
    }

    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The next message; nil at the end.
    func next() throws -> JSONValue? {
        while true {
            if let end = received.firstIndex(of: 0) {
                defer { received.removeSubrange(...end) }
                return try JSON.decode(from: Array(received[..<end]))
            }
            var chunk = [UInt8](repeating: 0, count: 64 << 10)
            let count = recv(descriptor, &chunk, chunk.count, 0)
            guard count > 0 else {
                guard received.isEmpty, count == 0 else {
                    throw Conversation.Failure(reason: "the connection ended within a message")
                }
                return nil
            }
            received += chunk[..<count]
        }
    }
}
