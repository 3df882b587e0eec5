internal import AtriumKit
internal import Interfaces
internal import JSONCodec
internal import NIOCore
internal import Varlink

/// The daemon's ends of the two connections to a worker.
///
/// Two, because a connection with a stream does nothing else. Letting go of it closes them.
struct WorkerLink: Sendable {
    /// Bytes that a worker may send at once.
    static let frameBytes = 1 << 20

    /// What a worker may send at once: a piece of a message, each byte of it escaped
    /// (``WorkerInbox``).
    static var limits: VarlinkLimits {
        var limits = workerLimits
        limits.frameBytes = frameBytes
        return limits
    }

    /// What the daemon may send a worker at once: the items of a call.
    ///
    /// What may be more comes in parts (``CallParts``).
    static var workerLimits: VarlinkLimits {
        var limits = VarlinkLimits()
        limits.frameBytes = 64 << 20
        limits.queuedBytes = 1 << 30
        limits.bytesPerUser = 4 << 30
        limits.callBytes = 1 << 30
        // The host has its own clock for workers.
        limits.handshake = nil
        limits.writableBytes = 64 << 20
        limits.nesting = WireText.nesting
        return limits
    }

    private let tells: VarlinkClient
    private let stream: VarlinkClient

    /// Takes two connected sockets over; closes both if that fails.
    static func connect(
        tells: Int32, stream: Int32, on loop: any EventLoop
    ) async throws -> WorkerLink {
        let first = try await VarlinkClient.connect(
            descriptor: tells, on: loop, limits: limits)
        let second = try await VarlinkClient.connect(
            descriptor: stream, on: loop, limits: limits)
        return WorkerLink(tells: first, stream: second)
    }

    /// Sends a call; on the loop.
    func tell(_ id: Int, _ call: WorkerCall) {
        tells.oneway(
            Worker.Tell.self, .init(id: id, message: WireText.encode(call.wire)))
    }

    /// Has what the worker says wait with it, or come again; on the loop.
    func hold(_ isHeld: Bool) { stream.hold(isHeld) }

    /// Has everything that the worker says told, in order, on the loop; and its end, once.
    func open(
        _ told: @escaping @Sendable (Result<Worker.Attach.Reply, any Error>) -> Void
    ) {
        stream.open(Worker.Attach.self, .init()) { reply, continues in
            told(reply)
            if !continues, case .success = reply {
                told(.failure(WireError(expected: "more", found: "the end of the stream")))
            }
        }
    }
}
