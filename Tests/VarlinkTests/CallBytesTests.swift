import Glibc
import TestSupport
import Testing

@testable import Varlink

/// A call keeps its memory from the moment it is read until it has ended: that stands in an account.
@Suite(.timeLimit(.minutes(3))) struct CallBytesTests {
    private static func hold(_ name: String, bytes: Int, oneway: Bool = false) -> String {
        let text = name + String(repeating: "x", count: bytes - name.utf8.count)
        return #"{"method":"org.example.test.Hold","parameters":{"text":"\#(text)"}"#
            + (oneway ? #","oneway":true}"# : "}")
    }

    private static func text(_ name: String, bytes: Int) -> String {
        name + String(repeating: "x", count: bytes - name.utf8.count)
    }

    private static func charged(_ service: Service) async -> Int {
        await service.server.currentStatistics().bytesCharged
    }

    @Test(arguments: [false, true])
    func `a call is charged to its user until it has ended`(oneway: Bool) async throws {
        try await withService { service in
            let client = try service.raw()
            try client.send(
                Self.hold("a", bytes: 30_000, oneway: oneway),
                Self.hold("b", bytes: 30_000, oneway: oneway))
            try await service.desk.wait { $0.started.count == 2 }
            #expect(try await service.isAlive())
            #expect(await Self.charged(service) >= 2 * 30_000 * CallsUnderWay.copies)
            try await service.desk.release(Self.text("b", bytes: 30_000), saying: "b")
            #expect(try await service.isAlive())
            #expect(await Self.charged(service) < 2 * 30_000 * CallsUnderWay.copies)
            try await service.desk.release(Self.text("a", bytes: 30_000), saying: "a")
            #expect(try await service.isAlive())
            #expect(await Self.charged(service) == 0)
        }
    }

    @Test func `calls beyond the bytes that may be under way on a connection wait at the socket`()
        async throws
    {
        var limits = VarlinkLimits()
        limits.callBytes = 40_000
        try await withService(limits: limits) { service in
            let client = try service.raw()
            let names = ["a", "b", "c", "d", "e", "f"]
            try client.send(
                bytes: names.flatMap { Array(Self.hold($0, bytes: 20_000).utf8) + [0] })
            try await service.desk.wait { $0.started.count == 2 }
            #expect(try await service.isAlive())
            #expect(try await service.desk.onLoop { service.desk.started.count } == 2)
            for (place, name) in names.enumerated() {
                try await service.desk.wait { $0.started.count > place }
                try await service.desk.release(Self.text(name, bytes: 20_000), saying: name)
                #expect(try await client.receive() == #"{"parameters":{"text":"\#(name)"}}"#)
            }
        }
    }

    @Test func `from half of a user's bytes on, a connection starts one big call at a time`()
        async throws
    {
        var limits = VarlinkLimits()
        limits.bytesPerUser = 2 << 20
        try await withService(limits: limits) { service in
            let first = try service.raw()
            try first.send(Self.hold("a", bytes: 300_000))
            try await service.desk.wait { $0.started.count == 1 }
            let second = try service.raw()
            try second.send(Self.hold("b", bytes: 20_000), Self.hold("c", bytes: 20_000))
            try await service.desk.wait { $0.started.count == 2 }
            #expect(try await service.isAlive())
            #expect(try await service.desk.onLoop { service.desk.started.count } == 2)
            try await service.desk.release(Self.text("b", bytes: 20_000), saying: "b")
            try await service.desk.wait { $0.started.count == 3 }
            try await service.desk.release(Self.text("c", bytes: 20_000), saying: "c")
            for name in ["b", "c"] {
                #expect(try await second.receive() == #"{"parameters":{"text":"\#(name)"}}"#)
            }
            #expect(await service.server.currentStatistics().overflows == 0)
        }
    }

    @Test func `a call that a user's bytes have no room for is refused before it is started`()
        async throws
    {
        var limits = VarlinkLimits()
        limits.bytesPerUser = 1 << 20
        try await withService(limits: limits) { service in
            let first = try service.raw()
            try first.send(Self.hold("a", bytes: 200_000))
            try await service.desk.wait { $0.started.count == 1 }
            let second = try service.raw()
            try second.send(
                Self.hold("b", bytes: 100_000),
                #"{"method":"org.example.test.Echo","parameters":{"text":"c"}}"#)
            let refused = try await second.receive()
            #expect(refused?.contains(VarlinkLimitExceeded.name) == true)
            #expect(refused?.contains(#""limit":"bytesPerUser","value":1048576"#) == true)
            #expect(refused?.contains("(limits.bytesPerUser): try again when") == true)
            // Both go on.
            #expect(try await second.receive() == #"{"parameters":{"text":"c"}}"#)
            try await service.desk.release(Self.text("a", bytes: 200_000), saying: "a")
            #expect(try await first.receive() == #"{"parameters":{"text":"a"}}"#)
            #expect(try await service.desk.onLoop { service.desk.started.count } == 1)
            try second.send(Self.hold("b", bytes: 100_000))
            try await service.desk.wait { $0.started.count == 2 }
            try await service.desk.release(Self.text("b", bytes: 100_000), saying: "b")
            #expect(try await second.receive() == #"{"parameters":{"text":"b"}}"#)
            // No time would make room for this one.
            try second.send(Self.hold("d", bytes: 300_000))
            #expect(try await second.receive()?.contains(": send less at once") == true)
            #expect(await service.server.currentStatistics().overflows == 0)
        }
    }

    @Test func `a oneway call that there is no room for is not started, and ends its connection`()
        async throws
    {
        var limits = VarlinkLimits()
        limits.bytesPerUser = 1 << 20
        try await withService(limits: limits) { service in
            let client = try service.raw()
            try client.send(Self.hold("a", bytes: 1_000))
            try await service.desk.wait { $0.started.count == 1 }
            try client.send(Self.hold("b", bytes: 300_000, oneway: true))
            // What was started before is answered.
            try await until { await service.server.currentStatistics().overflows == 1 }
            try await service.desk.release(Self.text("a", bytes: 1_000), saying: "a")
            #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
            #expect(try await client.receive()?.contains("(limits.bytesPerUser)") == true)
            #expect(try await client.receive() == nil)
            #expect(try await service.desk.onLoop { service.desk.started.count } == 1)
        }
    }

    @Test func `a message beyond a user's bytes ends its connection once calls are answered`()
        async throws
    {
        var limits = VarlinkLimits()
        limits.bytesPerUser = 1 << 20
        try await withService(limits: limits) { service in
            let client = try service.raw()
            try client.send(Self.hold("a", bytes: 1_000))
            try await service.desk.wait { $0.started.count == 1 }
            // No more than is read, or has room in the socket.
            try client.send(bytes: [UInt8](repeating: 0x20, count: 1 << 20 + 64 << 10))
            try await until { await service.server.currentStatistics().overflows == 1 }
            // The message itself is forgotten by then.
            #expect(await Self.charged(service) < 100_000)
            try await service.desk.release(Self.text("a", bytes: 1_000), saying: "a")
            #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
            #expect(try await client.receive()?.contains("(limits.bytesPerUser)") == true)
            #expect(try await client.receive() == nil)
        }
    }

    @Test func `calls that outlive their connection stay charged`() async throws {
        var limits = VarlinkLimits()
        limits.bytesPerUser = 1 << 20
        try await withService(limits: limits) { service in
            let client = try service.raw()
            try client.send(Self.hold("a", bytes: 200_000))
            try await service.desk.wait { $0.started.count == 1 }
            client.close()
            try await service.desk.wait { $0.closed == 1 }
            #expect(await Self.charged(service) >= 200_000 * CallsUnderWay.copies)
            let second = try service.raw()
            try second.send(Self.hold("b", bytes: 100_000))
            #expect(try await second.receive()?.contains("(limits.bytesPerUser)") == true)
            try await service.desk.release(Self.text("a", bytes: 200_000))
            try await until { await Self.charged(service) == 0 }
        }
    }

    @Test func `what a stream pushes to who does not read is charged until it has gone`()
        async throws
    {
        try await withService { service in
            let client = try service.raw()
            try client.send(#"{"method":"org.example.test.Follow","more":true}"#)
            try await service.desk.wait { $0.followers.count == 1 }
            let text = String(repeating: "x", count: 100_000)
            for _ in 0..<10 { try await service.desk.onLoop { service.desk.push(text) } }
            #expect(try await service.isAlive())
            let queued = await service.server.currentStatistics().bytesQueued
            let charged = await Self.charged(service)
            // The rest is with the kernel.
            #expect(charged > 200_000)
            #expect(charged >= queued && charged < 10 * 101_000)
            client.close()
            // The call itself is still held.
            try await until { await Self.charged(service) < 1_000 }
        }
    }

    @Test func `a queue knows the bytes of the calls that have not ended`() {
        var queue = ReplyQueue()
        let (first, second) = (queue.open(bytes: 10), queue.open(bytes: 20))
        #expect(queue.callBytes == 30)
        queue.end(second)
        queue.end(second)
        #expect(queue.callBytes == 10 && queue.count == 2)
        queue.end(first)
        #expect(queue.callBytes == 0 && queue.count == 0)
    }
}
