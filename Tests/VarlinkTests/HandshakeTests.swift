import Glibc
import NIOCore
import TestSupport
import Testing

@testable import Varlink

@Suite(.timeLimit(.minutes(3))) struct HandshakeTests {
    private static var limits: VarlinkLimits {
        var limits = VarlinkLimits()
        limits.handshake = .milliseconds(40)
        return limits
    }

    @Test func `who connects and says nothing is closed`() async throws {
        try await withService(limits: Self.limits) { service in
            let client = try service.raw()
            #expect(try await client.receive() == nil)
            #expect(await service.server.currentStatistics().timeouts == 1)
            #expect(
                service.log.lines == [
                    "a connection was closed peer-pid=\(getpid()) peer-uid=\(getuid()) "
                        + "reason=no call was made within 0.04 seconds (limits.handshake)"
                ])
        }
    }

    @Test func `who begins a call and never ends it receives an error, however busy it looks`()
        async throws
    {
        try await withService(limits: Self.limits) { service in
            let client = try service.raw()
            try client.send(#"{"method":"org.example.test.Echo","parameters":{"text":"a"}}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
            // Byte by byte, for as long as it is let.
            var sent = client.trySending(Array(#"{"method":""#.utf8))
            try await until {
                sent += 1
                return client.trySending([0x61]) == 0
            }
            let told = try await client.receive()
            #expect(told?.contains(#""limit":"handshake","value":0"#) == true)
            #expect(try await client.receive() == nil)
            #expect(await service.server.currentStatistics().timeouts == 1)
        }
    }

    @Test func `who has made a call may be silent, or wait for its answer, or follow`() async throws
    {
        try await withService(limits: Self.limits) { service in
            let idle = try service.raw()
            let waiting = try service.raw()
            let following = try service.raw()
            try idle.send(#"{"method":"org.example.test.Echo","parameters":{"text":"a"}}"#)
            try waiting.send(#"{"method":"org.example.test.Hold","parameters":{"text":"b"}}"#)
            // With the beginning of a call that the server does not read while the stream runs.
            try following.send(
                bytes: Array(#"{"method":"org.example.test.Follow","more":true}"#.utf8) + [0]
                    + Array(#"{"method":"#.utf8))
            #expect(try await idle.receive() == #"{"parameters":{"text":"a"}}"#)
            try await service.desk.wait { $0.followers.count == 1 && $0.started == ["b"] }
            // Others come and are closed meanwhile: the clock does run.
            for _ in 0..<3 { #expect(try await service.raw().receive() == nil) }
            try idle.send(#"{"method":"org.example.test.Echo","parameters":{"text":"c"}}"#)
            #expect(try await idle.receive() == #"{"parameters":{"text":"c"}}"#)
            try await service.desk.release("b")
            #expect(try await waiting.receive() == #"{"parameters":{"text":"b"}}"#)
            try await service.desk.onLoop { service.desk.push("d") }
            #expect(
                try await following.receive() == #"{"parameters":{"text":"d"},"continues":true}"#)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `no timer runs while peers wait in silence, and one does for a call that was begun`()
        async throws
    {
        try await withService(limits: Self.limits) { service in
            let server = service.server.state
            let client = try service.raw()
            try client.send(#"{"method":"org.example.test.Echo","parameters":{"text":"a"}}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
            while try await service.desk.onLoop({ server.isSweepScheduled }) { await Task.yield() }
            #expect(client.trySending(Array(#"{"method":""#.utf8)) > 0)
            let told = try await client.receive()
            #expect(told?.contains(#""limit":"handshake","value":0"#) == true)
        }
    }
}
