internal import Foundation
internal import JSONCodec

/// Stands between a peer and the honest service and makes it a mutant: the server can't be made to
/// break the protocol.
///
/// One call after the other: it waits for all replies of a call before it reads the next one.
struct Relay {
    let mutant: Mutant
    let peer: FrameSocket
    let service: FrameSocket

    /// Passes messages on until the peer has said all.
    func run() {
        var held: [JSONValue] = []
        while let call = peer.next() {
            service.send(call)
            let replies = answers(to: call)
            let method = call["method"]?.string?.split(separator: ".").last ?? ""
            let altered = mutant.alter(replies, to: method)
            if mutant == .callsOutOfOrder, method == "Test01" {
                held = altered
                continue
            }
            for reply in altered + held { peer.send(reply) }
            held = []
        }
    }

    private func answers(to call: JSONValue) -> [JSONValue] {
        guard call["oneway"] != true else { return [] }
        var replies: [JSONValue] = []
        while let reply = service.next() {
            replies.append(reply)
            guard reply["continues"] == true else { break }
        }
        return replies
    }
}

/// A socket that is read and written message by message; closed with the last reference to it.
///
/// Unchecked: it belongs to one thread, the one that relays.
final class FrameSocket: @unchecked Sendable {
    private let descriptor: Int32
    private var received: [UInt8] = []

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// The next message; nil at the end, and where it is no JSON.
    func next() -> JSONValue? {
        while true {
            if let end = received.firstIndex(of: 0) {
                defer { received.removeSubrange(...end) }
                return try? JSON.decode(JSONValue.self, from: Array(received[..<end]))
            }
            var chunk = [UInt8](repeating: 0, count: 64 << 10)
            let count = read(descriptor, &chunk, chunk.count)
            guard count > 0 else { return nil }
            received += chunk[..<count]
        }
    }

    /// Sends a message, if the other side still listens.
    func send(_ message: JSONValue) {
        let bytes = JSON.encode(message) + [0]
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }
}
