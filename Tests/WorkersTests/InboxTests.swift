import AtriumKit
import Host
import Interfaces
import JSONCodec
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import Workers

/// What a worker says, on its way into the daemon.
@Suite(.timeLimit(.minutes(2))) struct `A message of a worker` {
    private let loop = MultiThreadedEventLoopGroup.singleton.next()

    /// A stream that is held while a message is read, as a worker's is; on the loop.
    private final class Stream {
        private var waiting: [Worker.Attach.Reply]
        private(set) var isPaused = false
        var inbox: WorkerInbox?

        init(_ replies: [Worker.Attach.Reply]) { waiting = replies }

        func setPaused(_ isPaused: Bool) {
            self.isPaused = isPaused
            while !self.isPaused, !waiting.isEmpty { inbox?.receive(waiting.removeFirst()) }
        }
    }

    private static func log(_ bytes: Int) -> [Worker.Attach.Reply] {
        let word = ComponentMessage.logs(.info, String(repeating: "é", count: bytes / 2))
        return Worker.Attach.Reply.carrying(Wire.encode(WorkerMessage(word)), id: nil)
    }

    /// What is told of replies: the length of each text, and whether the stream was held meanwhile; of a
    /// failure nil.
    private func told(_ replies: [Worker.Attach.Reply], count: Int) async throws -> [Told] {
        let told = Mutex<[Told]>([])
        try await callback { done in
            loop.execute { [loop] in
                let stream = Stream(replies)
                stream.inbox = WorkerInbox(
                    on: loop, judging: AnswerCheck(Self.request), of: { Self.asked[$0] }
                ) {
                    stream.setPaused($0)
                } _: { result in
                    var entry = Told(bytes: nil, isApart: stream.isPaused)
                    switch result {
                    case .success(.sent(.logs(_, let text), _)): entry.bytes = text.utf8.count
                    case .success(.answer(_, _, let judgement)): entry.problem = judgement.problem
                    default: break
                    }
                    let number = told.withLock { told in
                        told.append(entry)
                        return told.count
                    }
                    if number == count { done() }
                }
                stream.setPaused(false)
            }
        }
        return told.withLock { $0 }
    }

    private static let request = LaunchRequest(
        plugin: Installed.stars, container: "films", component: "stars", settings: [:], fields: [])

    private struct Told: Equatable {
        var bytes: Int?
        var problem: String?
        var isApart: Bool
    }

    @Test func `is delivered in order, and a big one is read apart while the stream is held`()
        async throws
    {
        let big = Worker.Attach.Reply.pieceBytes
        let replies = [2, big, 4, 3 * big, 6].flatMap(Self.log)
        #expect(replies.count > 7, "in pieces")
        #expect(
            try await told(replies, count: 5) == [
                Told(bytes: 2, isApart: false), Told(bytes: big, isApart: true),
                Told(bytes: 4, isApart: false), Told(bytes: 3 * big, isApart: true),
                Told(bytes: 6, isApart: false),
            ])
    }

    @Test func `is judged where it is read, and a part of a state is bounded`() async throws {
        let many = (0...StateBudget.items).map {
            ComponentEvent.tally(.item("\($0)"), Tally(count: 0))
        }
        for (events, problem) in [
            (many, "32769 items or subjects in a part of its state, where 32768 are allowed"),
            (
                Array(many.dropLast(2)) + [.tally(.container, Tally(count: -1))],
                "a tally of -1 ballots with the score 0.0"
            ),
            (Array(many.dropLast()), nil),
        ] {
            let answer = WorkerAnswer.restored(events, isLast: true)
            let replies = Worker.Attach.Reply.carrying(Wire.encode(answer), id: 1)
            #expect(
                try await told(replies, count: 1)
                    == [Told(bytes: nil, problem: problem, isApart: true)])
        }
    }

    /// The calls that decisions and answers belong to.
    private static let asked: [Int: AnswerCheck.Asked] = [
        2: .command(
            .castBallot(subject: .container, value: 3),
            CommandContext(actor: ActorID(1), time: Timestamp(milliseconds: 1), freshID: "a")),
        3: .query(.sections),
    ]

    @Test func `a decision and an answer are judged where they are read, and bounded`() async throws
    {
        let tally = Tally(count: 1, score: 3, histogram: ["3": 1])
        func decision(_ count: Int) -> WorkerAnswer {
            .decided(
                Decision(
                    changes: [], answer: .ballot(tally: tally, previous: nil, current: 3),
                    events: (0..<count).map { .tally(.item("\($0)"), tally) }))
        }
        for (id, answer, problem) in [
            (2, decision(4_000), nil),
            (2, decision(4_001), "changes of 4001 items or subjects, where 4000 are allowed"),
            (3, .answered(.ballots([])), "something else than was asked"),
        ] as [(Int, WorkerAnswer, String?)] {
            let replies = Worker.Attach.Reply.carrying(Wire.encode(answer), id: id)
            let isApart = replies.count > 1
            #expect(isApart == (id == 2))
            #expect(
                try await told(replies, count: 1)
                    == [Told(bytes: nil, problem: problem, isApart: isApart)])
        }
    }

    @Test func `takes no frame that is much longer than a piece`() {
        let word = ComponentMessage.logs(.info, String(repeating: "\"", count: 1 << 20))
        for reply in Worker.Attach.Reply.carrying(Wire.encode(WorkerMessage(word)), id: 1) {
            #expect(JSON.encode(reply).count < WorkerLink.frameBytes)
        }
    }

    @Test func `that can't be read is an error in its place`() async throws {
        let replies =
            Self.log(Worker.Attach.Reply.pieceBytes)
            + [.init(message: Wire.encode(["later": Value.null])), .init(id: 7)] + Self.log(2)
        #expect(
            try await told(replies, count: 4).map { $0.bytes != nil } == [true, false, false, true])
    }

    @Test func `that has more bytes than one may have is an error before it is read`() async throws
    {
        let piece = Worker.Attach.Reply(piece: String(repeating: "a", count: 1 << 20))
        let replies = Array(repeating: piece, count: (WorkerInbox.most >> 20) + 1)
        #expect(try await told(replies, count: 1) == [Told(bytes: nil, isApart: false)])
    }
}
