internal import AtriumKit
internal import Glibc
internal import Interfaces
internal import JSONCodec
internal import Logging
internal import NIOCore
internal import Varlink

/// The daemon's ends of the three connections to a worker.
///
/// Calls and the stream of answers have one each, because a connection with a stream carries nothing else. The third is
/// for the worker's questions: ``WorkerQuestions``. All close with the last reference.
struct WorkerLink: Sendable {
    /// The most bytes that a worker may send in a frame.
    static let frameBytes = 1 << 20

    /// The limits of a worker's messages: a frame holds a piece of a message, with each byte escaped (``WorkerInbox``).
    static var limits: VarlinkLimits {
        var limits = workerLimits
        limits.frameBytes = frameBytes
        return limits
    }

    /// The limits of the daemon's messages: a frame holds a call with its items.
    ///
    /// Calls that may be larger are sent in parts (``CallParts``).
    static var workerLimits: VarlinkLimits {
        var limits = VarlinkLimits()
        limits.frameBytes = 64 << 20
        limits.queuedBytes = 1 << 30
        limits.bytesPerUser = 4 << 30
        limits.callBytes = 1 << 30
        // The host times its calls itself.
        limits.handshake = nil
        limits.writableBytes = 64 << 20
        limits.nesting = Wire.nesting
        return limits
    }

    private let calls: VarlinkClient
    private let stream: VarlinkClient
    /// Serves the worker's questions.
    private let questions: VarlinkServer

    /// Takes ownership of connected sockets; closes them if that fails.
    ///
    /// - Parameters:
    ///   - calls: the socket for calls of the component.
    ///   - stream: the socket for the worker's answers and messages.
    ///   - questions: the socket for the worker's questions.
    ///   - item: finds an item by its id.
    ///   - loop: the event loop.
    ///   - logger: logs why the connection for questions is closed.
    /// - Returns: the ends.
    /// - Throws: the system's error if a descriptor is no connected socket.
    static func connect(
        calls: Int32, stream: Int32, questions: Int32,
        _ item: NIOLoopBound<(String) -> AtriumKit.Item?>,
        on loop: any EventLoop, logger: Logger
    ) async throws -> WorkerLink {
        // Each call closes its own socket if it fails.
        var rest = [stream, questions][...]
        do {
            let first = try await VarlinkClient.connect(
                descriptor: calls, on: loop, limits: limits)
            rest.removeFirst()
            let second = try await VarlinkClient.connect(
                descriptor: stream, on: loop, limits: limits)
            rest.removeFirst()
            let third = try await WorkerQuestions.serve(
                questions, from: item, on: loop, logger: logger)
            return WorkerLink(calls: first, stream: second, questions: third)
        } catch {
            for descriptor in rest { close(descriptor) }
            throw error
        }
    }

    /// Sends a call; call this on the loop.
    func send(_ id: Int, _ call: WorkerCall) {
        calls.oneway(
            Worker.Tell.self, .init(id: id, message: Wire.encode(call)))
    }

    /// Pauses or resumes reading from the worker; call this on the loop.
    func setReadingPaused(_ isPaused: Bool) { stream.setReadingPaused(isPaused) }

    /// Calls `done` on the loop with each frame from the worker in order, and once with the end of the stream.
    func open(
        _ done: @escaping @Sendable (Result<Worker.Attach.Reply, any Error>) -> Void
    ) {
        stream.open(Worker.Attach.self, .init()) { reply, continues in
            done(reply)
            if !continues, case .success = reply {
                done(.failure(WireError(expected: "more", found: "the end of the stream")))
            }
        }
    }
}
