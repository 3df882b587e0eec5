import AtriumKit
import Glibc
import Logging
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing
import Varlink

@testable import Workers

/// What a worker asks the daemon.
@Suite(.timeLimit(.minutes(3))) struct QuestionTests {
    private let loop = MultiThreadedEventLoopGroup.singleton.next()

    /// Serves one end of a pair of sockets; gives what keeps it, and the worker's end.
    private func serve(
        at pace: WorkerPace = WorkerPace(WorkerPace.items), logger: Logger = Installed.quiet,
        _ find: @escaping @Sendable (String) -> Item?
    ) async throws -> (server: VarlinkServer, worker: Int32) {
        let pair = try SocketPair()
        let loop = loop
        let bound = try await loop.submit {
            NIOLoopBound(find as (String) -> Item?, eventLoop: loop)
        }
        .get()
        let server = try await WorkerQuestions.serve(
            pair.ours, from: bound, at: pace, on: loop, logger: logger)
        return (server, pair.theirs)
    }

    @Test func `an item comes as it is, and none as none`() async throws {
        let item = Item(
            id: "a", fields: ["title": "A", "mean": 4.0, "genres": ["x"], "count": 3], parent: "b")
        let (server, worker) = try await serve { $0 == "a" ? item : nil }
        let client = WorkerHostClient(worker)
        #expect(client.item("a") == item)
        guard case .number = client.item("a")?.fields["mean"] else {
            Issue.record("a fraction that is whole is none any more")
            return
        }
        #expect(client.item("b") == nil)
        #expect(client.item(String(repeating: "a", count: 201)) == nil)
        withExtendedLifetime(server) {}
    }

    @Test func `a worker that asks much is answered as fast as it reads, and no faster`()
        async throws
    {
        let asked = Atomic(0)
        let item = Item(id: "a", fields: ["title": .text(String(repeating: "x", count: 100_000))])
        let (server, worker) = try await serve { _ in
            asked.add(1, ordering: .relaxed)
            return item
        }
        let call =
            Array(
                #"{"method":"org.atrium.WorkerHost.Item","parameters":{"id":"a"}}"#.utf8) + [0]
        let count = 500
        let most = await Task.detached {
            // All of it fits into the socket.
            for _ in 0..<count { _ = send(worker, call, call.count, 0) }
            var (read, most) = (0, 0)
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while read < count {
                let length = recv(worker, &buffer, buffer.count, 0)
                guard length > 0 else { break }
                read += buffer.prefix(length).count { $0 == 0 }
                most = max(most, asked.load(ordering: .relaxed) - read)
            }
            return read == count ? most : -1
        }.value
        // 100 KB each: what the socket and the daemon hold.
        #expect((0..<20).contains(most), "\(most) were answered and not read")
        close(worker)
        withExtendedLifetime(server) {}
    }

    @Test func `a worker that asks too fast waits for its answers`() async throws {
        let log = CapturedLog()
        let item = Item(id: "a", fields: ["title": .text(String(repeating: "x", count: 40_000))])
        let (server, worker) = try await serve(at: WorkerPace(200), logger: log.logger) { id in
            id == "a" ? item : nil
        }
        let client = WorkerHostClient(worker)
        // One with 40 KB counts eleven times. Of the 340, 200 are a burst, and the others come 200 a second: also on a
        // slow machine, where a call takes some milliseconds, the worker is faster than that.
        let begin = ContinuousClock.now
        for _ in 0..<30 { #expect(client.item("a") == item) }
        for _ in 0..<10 { #expect(client.item("b") == nil) }
        #expect(begin.duration(to: .now) > .milliseconds(650))
        #expect(
            log.messages == [
                "It reads items faster than 10000 items, or 40 MB, a second: answers "
                    + "and its calls are delayed."
            ])
        withExtendedLifetime(server) {}
    }

    @Test(arguments: [
        "no JSON", #"{"method":"org.atrium.WorkerHost.Item","parameters":{"id":5}}"#,
        #"{"method":"org.atrium.Daemon.Stop","parameters":{}}"#,
    ])
    func `other calls are refused or end the connection, and nothing is found`(
        text: String
    ) async throws {
        let (server, worker) = try await serve { _ in
            Issue.record("an item was looked for")
            return nil
        }
        let call = Array(text.utf8) + [0]
        #expect(send(worker, call, call.count, 0) == call.count)
        let reply = await Task.detached {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = recv(worker, &buffer, buffer.count, 0)
            return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        }.value
        #expect(reply.isEmpty || reply.contains("\"error\""), "\(reply)")
        close(worker)
        withExtendedLifetime(server) {}
    }
}
