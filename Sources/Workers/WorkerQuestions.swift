internal import AtriumKit
internal import Host
internal import Interfaces
internal import JSONCodec
internal import Logging
internal import NIOCore
internal import Varlink

/// The daemon's side of the questions that a component in a worker asks in the middle of a call.
///
/// Each worker has a connection for them: on the other two, the answer would come behind calls that wait for the
/// component.
struct WorkerQuestions: WorkerHostService {
    /// The rate of the worker's questions.
    private struct Turns: Sendable {
        var pace: WorkerPace
        /// The time at which the next question is answered.
        var next = NIODeadline.uptimeNanoseconds(0)
    }

    /// Finds an item; used on the loop alone.
    private let find: NIOLoopBound<(String) -> AtriumKit.Item?>
    private let turns: NIOLoopBoundBox<Turns>
    private let loop: any EventLoop
    private let logger: Logger

    /// The most bytes of an item's id; a longer one is no item's.
    static let idBytes = 200
    /// The most bytes of an answer: those of an item, each escaped.
    static let answerBytes = 8 << 20

    private init(
        _ find: NIOLoopBound<(String) -> AtriumKit.Item?>, at pace: WorkerPace,
        on loop: any EventLoop, logger: Logger
    ) {
        self.find = find
        self.loop = loop
        self.logger = logger
        turns = .makeBoxSendingValue(Turns(pace: pace), eventLoop: loop)
    }

    /// The limits of a worker's questions: one question at a time, none while answers wait to be read.
    static var limits: VarlinkLimits {
        var limits = VarlinkLimits()
        limits.frameBytes = 8 << 10
        limits.callsInFlight = 1
        limits.writableBytes = 64 << 10
        limits.queuedBytes = 2 * answerBytes
        // A component may ask late, or never.
        limits.handshake = nil
        limits.nesting = Wire.nesting
        return limits
    }

    /// Serves one end of a pair of sockets, and closes it.
    ///
    /// - Parameters:
    ///   - descriptor: the daemon's end.
    ///   - item: finds an item by its id; called on the loop.
    ///   - pace: the rate at which the worker may ask.
    ///   - loop: the event loop.
    ///   - logger: logs why a connection is closed, and that a worker asks too fast.
    /// - Returns: the server of the connection; keep it as long as the connection lasts.
    /// - Throws: the system's error if the descriptor is no connected socket.
    static func serve(
        _ descriptor: Int32, from item: NIOLoopBound<(String) -> AtriumKit.Item?>,
        at pace: WorkerPace = WorkerPace(WorkerPace.items), on loop: any EventLoop, logger: Logger
    ) async throws -> VarlinkServer {
        var router = VarlinkRouter(
            vendor: "Atrium", product: "atriumd", version: AtriumVersion.current, url: "")
        WorkerQuestions(item, at: pace, on: loop, logger: logger).register(in: &router)
        let server = VarlinkServer(on: loop, router: router, limits: limits, logger: logger)
        try await server.serve(descriptor)
        return server
    }

    func item(
        _ parameters: WorkerHost.Item.Parameters, call: VarlinkCall<WorkerHost.Item.Reply>
    ) {
        let next = turns.value.next
        guard next > .now() else { return answer(parameters.id, call) }
        loop.scheduleTask(deadline: next) { answer(parameters.id, call) }
    }

    private func answer(_ id: String, _ call: VarlinkCall<WorkerHost.Item.Reply>) {
        let item = find.value(id).map { Wire.encode($0) }
        call.reply(.init(item: item))
        let now = NIODeadline.now()
        let pause = turns.value.pace.count(bytes: item?.bytes.count ?? 0, at: now)
        guard let pause else { return }
        turns.value.next = now + pause.time
        if pause.isFirst { logger.warning("\(WorkerPace.askingWarning)") }
    }
}

/// The worker's side: waits for each answer.
final class WorkerHostClient {
    private let client: VarlinkBlockingClient
    /// The time that an answer may take: the daemon answers between two of its turns.
    private static let patience = Duration.seconds(30)

    init(_ descriptor: Int32) {
        client = VarlinkBlockingClient(
            descriptor: descriptor, frameBytes: WorkerQuestions.answerBytes,
            nesting: Wire.nesting)
    }

    /// Returns the item with this id; nil: there is none.
    ///
    /// A worker that gets no answer ends, because its component must not decide by wrong data.
    func item(_ id: String) -> AtriumKit.Item? {
        guard id.utf8.count <= WorkerQuestions.idBytes else { return nil }
        do {
            let reply = try client.call(WorkerHost.Item.self, .init(id: id), within: Self.patience)
            return try reply.item.map { try Wire.decode(AtriumKit.Item.self, from: $0.bytes) }
        } catch {
            fatalError("the daemon was asked for the item '\(id)', and did not answer: \(error)")
        }
    }
}
