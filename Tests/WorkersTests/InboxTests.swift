import AtriumKit
import Host
import Interfaces
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

@testable import Workers

/// What a worker says, on its way into the daemon.
@Suite(.timeLimit(.minutes(2))) struct `A message of a worker` {
    private let loop = MultiThreadedEventLoopGroup.singleton.next()

    private static func log(_ bytes: Int) -> Worker.Attach.Reply {
        let word = WorkerWord.logs(.info, String(repeating: "x", count: bytes))
        return .init(message: WireText.encode(word.wire))
    }

    @Test func `is told in order, also behind one that is too big to be read at once`() async throws
    {
        let told = Mutex<[Int]>([])
        try await callback { done in
            loop.execute { [loop] in
                let inbox = WorkerInbox(on: loop) { result in
                    guard case .success(.word(.logs(_, let text))) = result else { return }
                    let count = told.withLock { told in
                        told.append(text.count)
                        return told.count
                    }
                    if count == 5 { done() }
                }
                inbox.take(Self.log(1))
                #expect(told.withLock { $0 } == [1], "nothing stands before it")
                for bytes in [WorkerInbox.atOnce, 2, WorkerInbox.atOnce * 2, 3] {
                    inbox.take(Self.log(bytes))
                }
                #expect(told.withLock { $0 } == [1], "a big one is not read on the loop")
            }
        }
        #expect(told.withLock { $0 } == [1, WorkerInbox.atOnce, 2, WorkerInbox.atOnce * 2, 3])
    }

    @Test func `that can't be read is an error in its place`() async throws {
        let told = Mutex<[Bool]>([])
        try await callback { done in
            loop.execute { [loop] in
                let inbox = WorkerInbox(on: loop) { result in
                    told.withLock { $0.append((try? result.get()) != nil) }
                    if told.withLock({ $0.count }) == 3 { done() }
                }
                inbox.take(Self.log(WorkerInbox.atOnce))
                inbox.take(.init(message: WireText.encode(["case": "later"])))
                inbox.take(Self.log(1))
            }
        }
        #expect(told.withLock { $0 } == [true, false, true])
    }
}
