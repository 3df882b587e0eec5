import Glibc
import NIOCore
import TestSupport
import Testing

@testable import Varlink

@Suite(.timeLimit(.minutes(3))) struct LimitTests {
    @Test func `calls beyond those that may be under way wait, and are started later`()
        async throws
    {
        var limits = VarlinkLimits()
        limits.callsInFlight = 4
        try await withService(limits: limits) { service in
            let client = try service.raw()
            let calls = (0..<10).map {
                #"{"method":"org.example.test.Hold","parameters":{"text":"\#($0)"}}"#
            }
            try client.send(bytes: calls.flatMap { Array($0.utf8) + [0] })
            try await service.desk.wait { $0.started.count == 4 }
            #expect(try await service.isAlive())
            #expect(try await service.desk.onLoop { service.desk.started.count } == 4)
            for number in 0..<10 {
                try await service.desk.wait { $0.started.count > number }
                try await service.desk.release("\(number)")
                #expect(try await client.receive() == #"{"parameters":{"text":"\#(number)"}}"#)
            }
        }
    }

    @Test func `once more than half of many connections have closed, an action runs once`()
        async throws
    {
        let (crowds, left) = AsyncStream.makeStream(of: Void.self)
        try await withService(
            change: { router, _ in
                router.whenCrowdLeft = (.milliseconds(1), { left.yield() })
            },
            { service in
                let clients = try (0..<70).map { _ in try service.raw() }
                for client in clients {
                    try client.send(
                        #"{"method":"org.example.test.Echo","parameters":{"text":"a"}}"#)
                    #expect(try await client.receive() != nil)
                }
                for client in clients.prefix(30) { client.close() }
                try await until { await service.server.currentStatistics().connections == 40 }
                #expect(try await service.isAlive())
                for client in clients.dropFirst(30) { client.close() }
                var runs = crowds.makeAsyncIterator()
                #expect(await runs.next() != nil)
                #expect(await service.server.currentStatistics().connections < 35)
                try await until { await service.server.currentStatistics().connections == 0 }
                left.finish()
                #expect(await runs.next() == nil)
            })
    }

    @Test func `connections beyond the limit receive an error, are closed and counted`()
        async throws
    {
        var limits = VarlinkLimits()
        limits.connections = 2
        try await withService(limits: limits) { service in
            let first = try service.raw()
            let second = try service.raw()
            for client in [first, second] {
                try client.send(#"{"method":"org.example.test.Echo","parameters":{"text":"a"}}"#)
                #expect(try await client.receive() != nil)
            }
            let third = try service.raw()
            #expect(
                try await third.receive()
                    == #"{"error":"org.atrium.Varlink.LimitExceeded","parameters":{"#
                    + #""limit":"connections","value":2,"#
                    + #""message":"all 2 connections are taken (limits.connections)"}}"#)
            #expect(try await third.receive() == nil)
            #expect(await service.server.currentStatistics().refusedConnections == 1)
            try first.send(#"{"method":"org.example.test.Echo","parameters":{"text":"b"}}"#)
            #expect(try await first.receive() == #"{"parameters":{"text":"b"}}"#)
        }
    }

    @Test func `where descriptors are few, connections are refused before there are none`()
        async throws
    {
        var limits = VarlinkLimits()
        limits.assumedDescriptors = 67
        try await withService(limits: limits) { service in
            let clients = try (0..<3).map { _ in try service.raw() }
            for client in clients {
                try client.send(#"{"method":"org.example.test.Echo","parameters":{"text":"a"}}"#)
                #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
            }
            let late = try service.raw()
            let told = try #require(try await late.receive())
            #expect(told.contains("all 3 connections are taken (RLIMIT_NOFILE is 67)"))
        }
    }

    @Test(arguments: [(67, 3, 1), (1_024, 896, 448), (20_000, 10_000, 5_000), (1, 1, 1)])
    func `an eighth of the descriptors is left to the rest of the process`(
        descriptors: Int, connections: Int, perUser: Int
    ) {
        let room = ConnectionRoom(VarlinkLimits(), descriptors: descriptors)
        #expect(room.connections == connections)
        #expect(room.connectionsPerUser == perUser)
    }

    @Test func `a subscriber that does not keep up receives an error, and misses nothing`()
        async throws
    {
        var limits = VarlinkLimits()
        limits.writableBytes = 64 << 10
        let total = 100_000
        try await withService(limits: limits) { service in
            let client = try service.raw()
            try client.send(#"{"method":"org.example.test.Follow","more":true}"#)
            try await service.desk.wait { $0.followers.count == 1 }
            let cursor = try await service.desk.onLoop {
                let cursor = Cursor(service.desk.followers[0], until: total)
                cursor.push()
                return cursor
            }
            let first = try await service.desk.onLoop { cursor.next }
            #expect(first > 0 && first < total)
            for number in 0..<total {
                let reply = try await client.receive()
                guard reply == #"{"parameters":{"text":"\#(number)"},"continues":true}"# else {
                    Issue.record("\(number): \(reply ?? "closed")")
                    return
                }
            }
            let most = try await service.desk.onLoop { cursor.mostQueued }
            // What waits for the socket, and what waits to be handed to it.
            #expect(most < 2 * (64 << 10) + 100)
        }
    }

    @Test func `who is sent to without regard and does not read is closed`() async throws {
        var limits = VarlinkLimits()
        limits.queuedBytes = 1 << 20
        try await withService(limits: limits) { service in
            let client = try service.raw()
            try client.send(#"{"method":"org.example.test.Follow","more":true}"#)
            try await service.desk.wait { $0.followers.count == 1 }
            let text = String(repeating: "x", count: 64 << 10)
            for _ in 0..<100 { try await service.desk.onLoop { service.desk.push(text) } }
            try await service.desk.wait { $0.closed == 1 }
            #expect(await service.server.currentStatistics().overflows == 1)
            #expect(try await service.isAlive())
        }
    }

    @Test func `who does not read its answers is no longer read from`() async throws {
        try await withService { service in
            let client = try service.raw()
            client.limit(SO_SNDTIMEO, milliseconds: 300)
            let text = String(repeating: "x", count: 1_000)
            let call =
                Array(
                    #"{"method":"org.example.test.Echo","parameters":{"text":"\#(text)"}}"#.utf8)
                + [0]
            let block = [[UInt8]](repeating: call, count: 1_000).flatMap { $0 }
            var sent = 0
            for _ in 0..<64 {
                let count = client.trySending(block)
                sent += count
                if count < block.count { break }
            }
            #expect(sent < 16 << 20, "it took \(sent) bytes of calls without an answer being read")
            #expect(try await service.isAlive())
            for _ in 0..<(sent / call.count) {
                #expect(try await client.receive() == #"{"parameters":{"text":"\#(text)"}}"#)
            }
        }
    }
}

/// A subscription as a cursor: it is sent to while it keeps up, and goes on when told that it does.
///
/// Unchecked: guarded by the loop, on which alone it is touched.
private final class Cursor: @unchecked Sendable {
    private let call: VarlinkCall<Text>
    private let end: Int
    private(set) var next = 0
    private(set) var mostQueued = 0

    init(_ call: VarlinkCall<Text>, until end: Int) {
        self.call = call
        self.end = end
    }

    func push() {
        while next < end {
            guard call.isWritable else { return call.onWritable { [self] in push() } }
            call.replyRaw(VarlinkCall<Text>.frame(Text("\(next)")))
            next += 1
            mostQueued = max(mostQueued, call.bytesQueued)
        }
    }
}
