internal import AtriumKit
internal import Host
internal import Interfaces
internal import JSONCodec
internal import NIOCore

/// What a worker said, on its way to whoever takes it: in order, and a big message put together from its
/// pieces and read on a thread, so that reading it does not hold the loop.
///
/// While one is read the worker's stream is held, so that nothing comes behind it: of each worker one
/// message is in memory and read at a time, the rest stays with the worker.
final class WorkerInbox {
    /// A message.
    enum Message: Sendable {
        case answer(Int, WorkerAnswer)
        case sent(ComponentMessage)
    }

    /// How many bytes a message may have.
    static let most = 32 << 20

    private let loop: any EventLoop
    private let hold: (Bool) -> Void
    private let deliver: (Result<Message, WireError>) -> Void
    /// Of the message that has not come whole yet.
    private var pieces: [UInt8] = []

    /// An inbox that gives messages, or what is wrong with one, to `deliver`.
    ///
    /// - Parameters:
    ///   - loop: where all of it happens.
    ///   - hold: has the worker's stream wait, or go on.
    ///   - deliver: takes a message.
    init(
        on loop: any EventLoop, hold: @escaping (Bool) -> Void,
        _ deliver: @escaping (Result<Message, WireError>) -> Void
    ) {
        self.loop = loop
        self.hold = hold
        self.deliver = deliver
    }

    /// Takes what the worker said; a message that is whole is delivered during the call.
    func take(_ said: Worker.Attach.Reply) {
        if let message = said.message, pieces.isEmpty {
            return deliver(Self.read(said.id, message.bytes))
        }
        guard let piece = said.piece else {
            let error = WireError(expected: "a message or a piece of one", found: "neither")
            return deliver(.failure(error))
        }
        let size = pieces.count + piece.utf8.count
        guard size <= Self.most else {
            let error = WireError(
                expected: "a message of at most \(Self.most) bytes", found: "\(size) of one")
            return deliver(.failure(error))
        }
        pieces.append(contentsOf: piece.utf8)
        if said.isLast == true { readApart(said.id) }
    }

    private func readApart(_ id: Int?) {
        let bytes = pieces
        pieces = []
        hold(true)
        let arrived = NIOLoopBound(
            { [self] (result: Result<Message, WireError>) in
                deliver(result)
                hold(false)
            }, eventLoop: loop)
        let loop = loop
        Task(executorPreference: QuietExecutor.shared) {
            let result = WorkerInbox.read(id, bytes)
            loop.execute { arrived.value(result) }
        }
    }

    private static func read(_ id: Int?, _ message: [UInt8]) -> Result<Message, WireError> {
        Result { () throws(WireError) in
            let wire = try WireText.decode(message)
            guard let id else { return .sent(try ComponentMessage(wire: wire)) }
            return .answer(id, try WorkerAnswer(wire: wire))
        }
    }
}
