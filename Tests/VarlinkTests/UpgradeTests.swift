import Glibc
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import Varlink

@Suite(.timeLimit(.minutes(3))) struct UpgradeTests {
    /// Asks for a protocol in which each byte comes back, the letters as capitals.
    enum Shout: VarlinkMethod {
        typealias Parameters = Text
        typealias Reply = Text
        static let name = "org.example.test.Shout"
    }

    /// Offers `Shout`; "no" is refused, "mute" is answered and nobody takes the connection.
    static func offer(_ router: inout VarlinkRouter, _ upgrade: VarlinkRouter.Upgrade = .required) {
        router.allow(upgrade, of: Shout.self)
        router.handle(Shout.self) { parameters, call in
            if parameters.text == "no" { return call.fail(Example.Refused(reason: "no")) }
            guard call.wantsUpgrade, parameters.text != "mute" else {
                return call.reply(parameters)
            }
            call.upgrade(parameters) { connection in Task { try await shout(over: connection) } }
        }
    }

    private static func shout(over connection: VarlinkRawConnection) async throws {
        while let bytes = try await connection.read() {
            try await connection.write(capitals(bytes))
        }
        await connection.finish()
    }

    static func capitals(_ bytes: [UInt8]) -> [UInt8] {
        bytes.map { (0x61...0x7A).contains($0) ? $0 - 32 : $0 }
    }

    static let call =
        Array(#"{"method":"org.example.test.Shout","parameters":{"text":"a"},"upgrade":true}"#.utf8)
        + [0]

    /// What would be calls, and no message at all, in the protocol before.
    static let foreign =
        Array("\0\0{]".utf8) + [0xFF, 0]
        + Array(#"{"method":"org.example.test.Echo","parameters":{"text":"a"}}"#.utf8) + [0]

    @Test func `what comes after the call's NUL belongs to the other protocol, to the byte`()
        async throws
    {
        try await withService { router, _ in
            Self.offer(&router)
        } _: { service in
            let client = try service.raw()
            let before = #"{"method":"org.example.test.Echo","parameters":{"text":"before"}}"#
            // All in one write, so that one read brings it.
            try client.send(bytes: Array(before.utf8) + [0] + Self.call + Self.foreign)
            #expect(try await client.receive() == #"{"parameters":{"text":"before"}}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
            let expected = Self.capitals(Self.foreign)
            #expect(try await client.receive(count: expected.count) == expected)
            #expect(service.log.lines.isEmpty)
            let statistics = await service.server.currentStatistics()
            #expect(statistics.upgrades == 1 && statistics.calls == 2)
        }
    }

    @Test func `an upgrade that arrives byte by byte loses none`() async throws {
        try await withService { router, _ in
            Self.offer(&router)
        } _: { service in
            let client = try service.raw()
            for byte in Self.call + Self.foreign { try client.send(bytes: [byte]) }
            #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
            let expected = Self.capitals(Self.foreign)
            #expect(try await client.receive(count: expected.count) == expected)
        }
    }

    @Test func `an upgrade waits until all earlier calls are answered`() async throws {
        try await withService { router, _ in
            Self.offer(&router)
        } _: { service in
            let client = try service.raw()
            let held = #"{"method":"org.example.test.Hold","parameters":{"text":"b"}}"#
            try client.send(bytes: Array(held.utf8) + [0] + Self.call + Array("x".utf8))
            try await service.desk.wait { $0.started == ["b"] }
            #expect(try await service.isAlive())
            #expect(try client.hasNothing())
            try await service.desk.release("b")
            #expect(try await client.receive() == #"{"parameters":{"text":"b"}}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
            #expect(try await client.receive(count: 1) == Array("X".utf8))
        }
    }

    @Test func `a refused upgrade leaves the connection as it is`() async throws {
        try await withService { router, _ in
            Self.offer(&router)
        } _: { service in
            let client = try service.raw()
            try client.send(
                #"{"method":"org.example.test.Shout","parameters":{"text":"no"},"upgrade":true}"#,
                #"{"method":"org.example.test.Echo","parameters":{"text":"a"},"upgrade":true}"#,
                #"{"method":"org.example.test.Echo","parameters":{"text":"next"}}"#)
            #expect(try await client.receive()?.contains("org.example.test.Refused") == true)
            #expect(try await client.receive()?.contains("MethodNotImplemented") == true)
            #expect(try await client.receive() == #"{"parameters":{"text":"next"}}"#)
        }
    }

    @Test(arguments: ["", #","more":true"#, #","upgrade":false"#])
    func `a method that needs an upgrade says so`(_ flag: String) async throws {
        try await withService { router, _ in
            Self.offer(&router)
        } _: { service in
            let client = try service.raw()
            // Before the parameters are looked at: they are not even there.
            try client.send(
                #"{"method":"org.example.test.Shout"\#(flag)}"#,
                #"{"method":"org.example.test.Shout","oneway":true}"#,
                #"{"method":"org.example.test.Echo","parameters":{"text":"next"}}"#)
            #expect(
                try await client.receive() == #"{"error":"org.varlink.service.ExpectedUpgrade"}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"next"}}"#)
        }
    }

    @Test func `a method may do without, and a plain reply then ends what was asked for`()
        async throws
    {
        try await withService { router, _ in
            Self.offer(&router, .possible)
        } _: { service in
            let client = try service.raw()
            try client.send(
                #"{"method":"org.example.test.Shout","parameters":{"text":"plain"}}"#,
                #"{"method":"org.example.test.Shout","parameters":{"text":"mute"},"upgrade":true}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"plain"}}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"mute"}}"#)
            #expect(try await client.receive() == nil)
        }
    }

    @Test func `who ends its part of an upgraded connection is still written to`() async throws {
        try await withService { router, _ in
            Self.offer(&router)
        } _: { service in
            let client = try service.raw()
            try client.send(bytes: Self.call + Array("last".utf8))
            client.sendNoMore()
            #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
            #expect(try await client.receive(count: 5) == Array("LAST".utf8))
        }
    }

    @Test func `who ends its part while an earlier call waits is upgraded and ends`() async throws {
        try await withService { router, _ in
            Self.offer(&router)
        } _: { service in
            let client = try service.raw()
            let held = #"{"method":"org.example.test.Hold","parameters":{"text":"b"}}"#
            try client.send(bytes: Array(held.utf8) + [0] + Self.call + Array("last".utf8))
            try await service.desk.wait { $0.started == ["b"] }
            client.sendNoMore()
            #expect(try await service.isAlive())
            try await service.desk.release("b")
            #expect(try await client.receive() == #"{"parameters":{"text":"b"}}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
            #expect(try await client.receive(count: 5) == Array("LAST".utf8))
        }
    }

    @Test func `who ends its part before the upgrade is granted is upgraded and ends`() async throws
    {
        let asked = Mutex<VarlinkCall<Text>?>(nil)
        try await withService { router, _ in
            router.allow(.required, of: Shout.self)
            router.handle(Shout.self) { _, call in asked.withLock { $0 = call } }
        } _: { service in
            let client = try service.raw()
            try client.send(bytes: Self.call + Array("last".utf8))
            client.sendNoMore()
            while asked.withLock({ $0 == nil }) { #expect(try await service.isAlive()) }
            #expect(try await service.isAlive())
            let call = asked.withLock { $0.take() }
            call?.upgrade(Text("a")) { connection in
                Task { try await Self.shout(over: connection) }
            }
            #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
            #expect(try await client.receive(count: 5) == Array("LAST".utf8))
        }
    }

    @Test func `what nobody reads of an upgraded connection stays with its sender`() async throws {
        let kept = Kept()
        try await withService { router, _ in
            router.allow(.required, of: Shout.self)
            router.handle(Shout.self) { parameters, call in
                call.upgrade(parameters) { connection in kept.keep(connection) }
            }
        } _: { service in
            let client = try service.raw()
            client.limit(SO_SNDTIMEO, milliseconds: 300)
            try client.send(bytes: Self.call)
            #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
            let sent = client.trySending([UInt8](repeating: 0x61, count: 16 << 20))
            #expect(sent < 4 << 20, "it took \(sent) bytes that nobody read")
            #expect(try await service.isAlive())
            let connection = try #require(kept.connection)
            var count = 0
            while count < sent, let bytes = try await connection.read() { count += bytes.count }
            #expect(count == sent)
            kept.keep(nil)
        }
    }

    @Test func `stopping closes upgraded connections`() async throws {
        try await withService { router, _ in
            Self.offer(&router)
        } _: { service in
            let client = try service.raw()
            try client.send(bytes: Self.call)
            #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
            await service.server.stop(within: .seconds(20))
            #expect(try await client.receive(count: 1) == [])
        }
    }

    @Test func `our client speaks the other protocol from the reply's NUL on`() async throws {
        var ends: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let service = RawClient(descriptor: ends[0])
        let client = try await VarlinkClient.connect(descriptor: ends[1])
        let upgrade = Task { try await client.upgrade(Shout.self, Text("a")) }
        #expect(
            try await service.receive()
                == #"{"method":"org.example.test.Shout","upgrade":true,"parameters":{"text":"a"}}"#)
        try service.send(bytes: Array(#"{"parameters":{"text":"b"}}"#.utf8) + [0] + Self.foreign)
        let (reply, connection) = try await upgrade.value
        #expect(reply == Text("b"))
        var received: [UInt8] = []
        while received.count < Self.foreign.count, let bytes = try await connection.read() {
            received += bytes
        }
        #expect(received == Self.foreign)
        try await connection.write(Self.foreign)
        #expect(try await service.receive(count: Self.foreign.count) == Self.foreign)
        let error = await #expect(throws: VarlinkConnectionError.self) {
            try await client.call(Example.Echo.self, Text("late"))
        }
        #expect(error?.kind == .upgraded)
        service.close()
        #expect(try await connection.read() == nil)
    }

    @Test func `our client goes on after a refused upgrade, and shouts after a granted one`()
        async throws
    {
        try await withService { router, _ in
            Self.offer(&router)
        } _: { service in
            let client = try await service.client()
            await #expect(throws: VarlinkRemoteError.self) {
                try await client.upgrade(Shout.self, Text("no"))
            }
            #expect(try await client.call(Example.Echo.self, Text("a")) == Text("a"))
            let (_, connection) = try await client.upgrade(Shout.self, Text("yes"))
            try await connection.write(Array("hello".utf8))
            await connection.finish()
            var heard: [UInt8] = []
            while let bytes = try await connection.read() { heard += bytes }
            #expect(heard == Array("HELLO".utf8))
        }
    }

    private final class Kept: Sendable {
        private let held = Mutex<VarlinkRawConnection?>(nil)

        var connection: VarlinkRawConnection? { held.withLock { $0 } }

        func keep(_ connection: VarlinkRawConnection?) { held.withLock { $0 = connection } }
    }
}
