import Glibc
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import Varlink

@Suite(.timeLimit(.minutes(3))) struct UserLimitTests {
    @Test func `a user who has all connections that a user may have is refused with the limit`()
        async throws
    {
        var limits = VarlinkLimits()
        limits.connectionsPerUser = 2
        limits.unlimitedUsers = []
        try await withService(limits: limits) { service in
            var clients = [try service.raw(), try service.raw()]
            for client in clients {
                try client.send(#"{"method":"org.example.test.Echo","parameters":{"text":"a"}}"#)
                #expect(try await client.receive() != nil)
            }
            let third = try await service.client()
            let error = await #expect(throws: VarlinkRemoteError.self) {
                try await third.call(Example.Echo.self, Text("a"))
            }
            let told = try #require(error?.as(VarlinkLimitExceeded.self))
            #expect(told.limit == "connectionsPerUser" && told.value == 2)
            #expect(told.message.hasPrefix("uid \(geteuid()) has all 2 connections"))
            #expect(
                service.log.lines == [
                    "a connection was refused peer-pid=\(getpid()) peer-uid=\(geteuid()) "
                        + "reason=\(told.message)"
                ])
            // Whoever leaves makes room.
            clients.removeFirst().close()
            try await until { await service.server.currentStatistics().connections <= 1 }
            #expect(try await service.isAlive())
        }
    }

    @Test func `root and the server's own user have as many connections as there are`() async throws
    {
        var limits = VarlinkLimits()
        limits.connectionsPerUser = 1
        try await withService(limits: limits) { service in
            let clients = try (0..<10).map { _ in try service.raw() }
            for client in clients {
                try client.send(#"{"method":"org.example.test.Echo","parameters":{"text":"a"}}"#)
                #expect(try await client.receive() != nil)
            }
        }
    }

    @Test func `who belongs to somebody counts as theirs, and is not heard before that is known`()
        async throws
    {
        var limits = VarlinkLimits()
        limits.connectionsPerUser = 1
        let asked = Mutex<(@Sendable () -> Void)?>(nil)
        try await withService(limits: limits) { router, _ in
            router.identify = { peer, done in
                asked.withLock { $0 = { done(peer.belonging(to: 7)) } }
            }
        } _: { service in
            var told: [String?] = []
            var clients: [RawClient] = []
            for _ in 0..<2 {
                clients.append(try service.raw())
                try clients.last?.send(
                    #"{"method":"org.example.test.Echo","parameters":{"text":"a"}}"#)
                try await until { asked.withLock { $0 != nil } }
                #expect(await service.server.currentStatistics().calls == clients.count - 1)
                asked.withLock { $0.take() }?()
                told.append(try await clients.last?.receive())
            }
            #expect(told[0] == #"{"parameters":{"text":"a"}}"#)
            #expect(told[1]?.contains("uid 7 has all 1 connections") == true, "\(told)")
        }
    }

    @Test func `messages that are begun and not ended can't fill the memory`() async throws {
        var limits = VarlinkLimits()
        limits.bytesPerUser = 8 << 20
        try await withService(limits: limits) { service in
            let part = Array(#"{"method":""#.utf8) + [UInt8](repeating: 0x61, count: 3 << 20)
            let clients = try (0..<3).map { _ in try service.raw() }
            for client in clients.prefix(2) { try client.send(bytes: part) }
            try await until {
                await service.server.currentStatistics().bytesIn >= 2 * part.count
            }
            _ = clients[2].trySending(part)
            #expect(try await clients[2].receive()?.contains("bytesPerUser") == true)
            #expect(try await clients[2].receive() == nil)
            #expect(await service.server.currentStatistics().overflows == 1)
            // The others may go on, and what they end is no longer charged.
            for client in clients.prefix(2) {
                try client.send(bytes: Array("\"}".utf8) + [0])
                #expect(try await client.receive()?.contains("MethodNotFound") == true)
            }
            let fourth = try service.raw()
            try fourth.send(bytes: part + part.dropFirst(11) + Array("\"}".utf8) + [0])
            #expect(try await fourth.receive()?.contains("MethodNotFound") == true)
        }
    }

    @Test func `replies that nobody reads can't fill the memory`() async throws {
        var limits = VarlinkLimits()
        limits.bytesPerUser = 3 << 20
        try await withService(limits: limits) { service in
            // Calls that are so short are started at any time.
            let text = String(repeating: "x", count: 1_000)
            let call =
                Array(#"{"method":"org.example.test.Echo","parameters":{"text":"\#(text)"}}"#.utf8)
                + [0]
            let calls = [[UInt8]](repeating: call, count: 3_000).flatMap { $0 }
            var clients: [RawClient] = []
            while await service.server.currentStatistics().overflows == 0 {
                let client = try service.raw()
                client.limit(SO_SNDTIMEO, milliseconds: 200)
                _ = client.trySending(calls)
                clients.append(client)
                try #require(clients.count < 40)
            }
            // It is told of in the turn after the one that counted it.
            #expect(try await service.isAlive())
            #expect(service.log.lines.first?.contains("limits.bytesPerUser") == true)
        }
    }

    @Test func `replies to a peer that has sent all it will are charged until it has read them`()
        async throws
    {
        var limits = VarlinkLimits()
        limits.bytesPerUser = 3 << 20
        try await withService(limits: limits) { service in
            var clients: [RawClient] = []
            while await service.server.currentStatistics().overflows == 0 {
                let name = "\(clients.count)"
                let client = try service.raw()
                try client.send(
                    #"{"method":"org.example.test.Hold","parameters":{"text":"\#(name)"}}"#)
                client.sendNoMore()
                clients.append(client)
                try await service.desk.wait { $0.started.last == name }
                // By then the loop has seen that nothing more will come.
                #expect(try await service.isAlive())
                // Less than 1 MiB, so that its connection is closing already.
                try await service.desk.release(
                    name, saying: String(repeating: "x", count: 900_000))
                try #require(clients.count < 20)
            }
            #expect(try await service.isAlive())
            #expect(service.log.lines.first?.contains("limits.bytesPerUser") == true)
        }
    }

    @Test func `accounts are empty when all connections are closed`() {
        var accounts = UserAccounts()
        accounts.open(7)
        accounts.open(7)
        #expect(accounts.charge(10, to: 7) == 10)
        #expect(accounts.charge(20, to: 7) == 30)
        accounts.close(7)
        #expect(accounts.charge(-10, to: 7) == 20)
        #expect(accounts.connections(of: 7) == 1 && accounts.bytes(of: 7) == 20)
        accounts.close(7)
        // What is still under way stays charged.
        #expect(accounts.connections(of: 7) == 0 && accounts.bytes == 20)
        accounts.charge(-20, to: 7)
        #expect(accounts.isEmpty)
    }
}
