internal import AtriumKit
internal import Host
internal import Interfaces
internal import JSONCodec
internal import NIOCore

/// What a worker said, on its way to whoever takes it: in order, and a big message put together from its
/// pieces, and read and judged on a thread, so that this does not hold the loop.
///
/// While one is read the worker's stream is held, so that nothing comes behind it: of each worker one
/// message is in memory and read at a time, the rest stays with the worker.
final class WorkerInbox {
    /// A message.
    enum Message: Sendable {
        case answer(Int, WorkerAnswer, Judgement)
        case sent(ComponentMessage, Judgement)
    }

    /// What is found of a message that may tell of much, where it is read.
    struct Judgement: Sendable {
        /// What is wrong with it, as it follows on "answered with"; nil: nothing.
        var problem: String?
        /// Roughly its bytes, where it is a part of a state.
        var bytes = 0
    }

    /// How many bytes a message may have.
    static let most = 32 << 20

    private let loop: any EventLoop
    private let check: AnswerCheck
    private let hold: (Bool) -> Void
    private let deliver: (Result<Message, WireError>) -> Void
    /// Of the message that has not come whole yet.
    private var pieces: [UInt8] = []

    /// An inbox that gives messages, or what is wrong with one, to `deliver`.
    ///
    /// - Parameters:
    ///   - loop: where all of it happens.
    ///   - check: judges what the component tells.
    ///   - hold: has the worker's stream wait, or go on.
    ///   - deliver: takes a message.
    init(
        on loop: any EventLoop, judging check: AnswerCheck, hold: @escaping (Bool) -> Void,
        _ deliver: @escaping (Result<Message, WireError>) -> Void
    ) {
        self.loop = loop
        self.check = check
        self.hold = hold
        self.deliver = deliver
    }

    /// Takes what the worker said; a message that is whole is delivered during the call.
    func take(_ said: Worker.Attach.Reply) {
        if let message = said.message, pieces.isEmpty {
            return deliver(Self.read(said.id, message.bytes, check))
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
        let (loop, check) = (loop, check)
        Task(executorPreference: QuietExecutor.shared) {
            let result = WorkerInbox.read(id, bytes, check)
            loop.execute { arrived.value(result) }
        }
    }

    private static func read(
        _ id: Int?, _ message: [UInt8], _ check: AnswerCheck
    ) -> Result<Message, WireError> {
        Result { () throws(WireError) in
            let wire = try WireText.decode(message)
            guard let id else {
                let message = try ComponentMessage(wire: wire)
                guard case .raised(let events) = message else { return .sent(message, Judgement()) }
                return .sent(message, Judgement(problem: check.problem(in: events)))
            }
            let answer = try WorkerAnswer(wire: wire)
            guard case .restored(let events, _) = answer else {
                return .answer(id, answer, Judgement())
            }
            return .answer(id, answer, judgement(of: events, check))
        }
    }

    private static func judgement(of part: [ComponentEvent], _ check: AnswerCheck) -> Judgement {
        let count = part.reduce(0) { $0 + $1.count }
        let problem =
            count > StateBudget.items
            ? "\(count) items or subjects in a part of its state, where \(StateBudget.items) are allowed"
            : check.problem(in: part)
        return Judgement(problem: problem, bytes: part.reduce(0) { $0 + $1.roughSize })
    }
}
