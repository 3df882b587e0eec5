internal import AtriumKit
internal import Host
internal import Interfaces
internal import JSONCodec
internal import NIOCore

/// Receives a worker's messages in order; a large one is assembled from pieces, and decoded and checked on a thread.
///
/// While a large message is decoded, reading from the worker is paused. So at most one message of each worker is in
/// memory, and the others wait in the worker.
final class WorkerInbox {
    /// A decoded message, with the result of its check.
    enum Message: Sendable {
        case answer(Int, WorkerAnswer, Judgement)
        case sent(ComponentMessage, Judgement)
    }

    /// The result of checking a message, which is done where the message is decoded.
    struct Judgement: Sendable {
        /// The problem with the message, as the continuation of "answered with"; nil: none.
        var problem: String?
        /// About how many bytes it has, if it is a part of a state.
        var bytes = 0
    }

    /// The most bytes that a message may have.
    static let most = 32 << 20

    private let loop: any EventLoop
    private let check: AnswerCheck
    private let asked: (Int) -> AnswerCheck.Asked?
    private let setPaused: (Bool) -> Void
    private let deliver: (Result<Message, WireError>) -> Void
    /// The pieces of the message that is not complete yet.
    private var pieces: [UInt8] = []

    /// Makes an inbox, which calls `deliver` with each message or with its error.
    ///
    /// - Parameters:
    ///   - loop: the event loop that it is used on.
    ///   - check: checks what the component returns and raises.
    ///   - asked: returns the command or query of a call by its id; nil: it is another call.
    ///   - setPaused: pauses or resumes reading from the worker.
    ///   - deliver: receives a message.
    init(
        on loop: any EventLoop, judging check: AnswerCheck,
        of asked: @escaping (Int) -> AnswerCheck.Asked?, setPaused: @escaping (Bool) -> Void,
        _ deliver: @escaping (Result<Message, WireError>) -> Void
    ) {
        self.loop = loop
        self.check = check
        self.asked = asked
        self.setPaused = setPaused
        self.deliver = deliver
    }

    /// Receives a frame from the worker; a message that is sent whole is delivered during the call.
    func receive(_ said: Worker.Attach.Reply) {
        if let message = said.message, pieces.isEmpty {
            return deliver(Self.read(said.id, message.bytes, check, said.id.flatMap(asked)))
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
        setPaused(true)
        let arrived = NIOLoopBound(
            { [self] (result: Result<Message, WireError>) in
                deliver(result)
                setPaused(false)
            }, eventLoop: loop)
        let (loop, check, asked) = (loop, check, id.flatMap(asked))
        Task(executorPreference: QuietExecutor.shared) {
            let result = WorkerInbox.read(id, bytes, check, asked)
            loop.execute { arrived.value(result) }
        }
    }

    private static func read(
        _ id: Int?, _ message: [UInt8], _ check: AnswerCheck, _ asked: AnswerCheck.Asked?
    ) -> Result<Message, WireError> {
        Result { () throws(WireError) in
            guard let id else {
                let message = try Wire.decode(WorkerMessage.self, from: message).message
                guard case .raised(let events) = message else { return .sent(message, Judgement()) }
                return .sent(message, Judgement(problem: check.problem(in: events)))
            }
            let answer = try Wire.answer(message)
            switch (answer, asked) {
            case (.restored(let events, _), _):
                return .answer(id, answer, judgement(of: events, check))
            case (.decided(let decision), .command(let command, let context)):
                let problem = check.problem(in: decision, on: command, context)
                return .answer(id, answer, Judgement(problem: problem))
            case (.answered(let given), .query(let query)):
                let problem = check.problem(in: given, to: query)
                return .answer(id, answer, Judgement(problem: problem))
            default: return .answer(id, answer, Judgement())
            }
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
