import Glibc
import JSONCodec
import Logging
import Synchronization
import TestSupport
import Testing
import Varlink

@Suite(.timeLimit(.minutes(3))) struct HandoverTests {
    @Test func `a connection between two calls goes on in another server`() async throws {
        try await withTwo { first, second in
            let client = try first.raw()
            try client.send(#"{"method":"org.example.test.Echo","parameters":{"text":"a"}}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
            #expect(await handOver(first, to: second) == 1)
            try client.send(#"{"method":"org.example.test.Echo","parameters":{"text":"b"}}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"b"}}"#)
        }
    }

    @Test func `a call under way is answered first, and half a call goes along`() async throws {
        try await withTwo { first, second in
            let client = try first.raw()
            try client.send(#"{"method":"org.example.test.Hold","parameters":{"text":"a"}}"#)
            let half = #"{"method":"org.example.test.Echo","#
            try client.send(bytes: Array(half.utf8))
            try await first.desk.wait { $0.started == ["a"] }
            async let adopted = handOver(first, to: second)
            try await first.desk.release("a")
            #expect(await adopted == 1)
            #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
            try client.send(#""parameters":{"text":"b"}}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"b"}}"#)
        }
    }

    @Test func `a stream goes on as it said, and what waits behind it waits on`() async throws {
        try await withTwo { first, second in
            let client = try first.raw()
            try client.send(
                #"{"method":"org.example.test.Follow","more":true}"#,
                #"{"method":"org.example.test.Echo","parameters":{"text":"behind"}}"#)
            try await first.desk.wait { $0.followers.count == 1 }
            try await first.desk.onLoop {
                first.desk.followers[0].onHandOver { ["from": "here"] }
                first.desk.push("before")
            }
            #expect(await handOver(first, to: second) == 1)
            try await second.desk.wait { $0.followers.count == 1 && $0.started == ["here"] }
            try await second.desk.onLoop { second.desk.push("after") }
            try await second.desk.onLoop { second.desk.followers[0].reply(Text("last")) }
            for text in ["before", "after"] {
                #expect(
                    try await client.receive()
                        == #"{"parameters":{"text":"\#(text)"},"continues":true}"#)
            }
            #expect(try await client.receive() == #"{"parameters":{"text":"last"}}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"behind"}}"#)
        }
    }

    @Test func `a stream that can't be resumed is closed, and so is what was never answered`()
        async throws
    {
        try await withTwo { first, second in
            let stream = try first.raw()
            let waiting = try first.raw()
            try stream.send(#"{"method":"org.example.test.Follow","more":true}"#)
            try waiting.send(#"{"method":"org.example.test.Hold","parameters":{"text":"a"}}"#)
            try await first.desk.wait { $0.followers.count == 1 && $0.started == ["a"] }
            #expect(await handOver(first, to: second, within: .milliseconds(20)) == 0)
            #expect(try await stream.receive() == nil)
            #expect(try await waiting.receive() == nil)
        }
    }

    @Test func `who says that it sends no more is answered all the same`() async throws {
        try await withTwo { first, second in
            let client = try first.raw()
            try #require(try await first.isAlive())
            await first.server.pause(within: .seconds(20))
            let before = await first.server.currentStatistics().bytesIn
            let calls = ["a", "b"].map {
                #"{"method":"org.example.test.Echo","parameters":{"text":"\#($0)"}}"#
            }
            try client.send(calls[0], calls[1])
            client.sendNoMore()
            // The end of what is sent has it read, whatever was paused.
            let sent = calls.reduce(0) { $0 + $1.utf8.count + 1 }
            while await first.server.currentStatistics().bytesIn < before + sent {
                await Task.yield()
            }
            await second.server.adopt(await first.server.release(within: .seconds(20)))
            #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"b"}}"#)
            #expect(try await client.receive() == nil)
        }
    }

    @Test func `a stream goes on whose client sends no more`() async throws {
        try await withTwo { first, second in
            let client = try first.raw()
            try client.send(#"{"method":"org.example.test.Follow","more":true}"#)
            client.sendNoMore()
            try await first.desk.wait { $0.followers.count == 1 }
            try await first.desk.onLoop { first.desk.followers[0].onHandOver { ["from": "a"] } }
            #expect(await handOver(first, to: second) == 1)
            try await second.desk.wait { $0.followers.count == 1 }
            try await second.desk.onLoop { second.desk.followers[0].reply(Text("last")) }
            #expect(try await client.receive() == #"{"parameters":{"text":"last"}}"#)
            #expect(try await client.receive() == nil)
        }
    }

    @Test func `a stream that nobody goes on with comes to its end first`() async throws {
        try await withTwo { first, second in
            let client = try first.raw()
            try client.send(#"{"method":"org.example.test.Follow","more":true}"#)
            try await first.desk.wait { $0.followers.count == 1 }
            async let adopted = handOver(first, to: second)
            // It is over once the server is paused: nobody can connect any more.
            while (try? first.raw()) != nil { await Task.yield() }
            try await first.desk.onLoop {
                first.desk.push("first")
                first.desk.followers[0].reply(Text("last"))
            }
            #expect(await adopted == 1)
            let replies = [try await client.receive(), try await client.receive()]
            #expect(
                replies == [
                    #"{"parameters":{"text":"first"},"continues":true}"#,
                    #"{"parameters":{"text":"last"}}"#,
                ])
        }
    }

    @Test func `a stream is handed over once it has begun`() async throws {
        try await withTwo { first, second in
            let client = try first.raw()
            try client.send(#"{"method":"org.example.test.Follow","more":true}"#)
            try await first.desk.wait { $0.followers.count == 1 }
            let hasBegun = Mutex(false)
            try await first.desk.onLoop {
                first.desk.followers[0].onHandOver {
                    hasBegun.withLock { $0 } ? ["from": "begun"] : nil
                }
            }
            async let adopted = handOver(first, to: second)
            while (try? first.raw()) != nil { await Task.yield() }
            try await first.desk.onLoop {
                first.desk.push("first")
                hasBegun.withLock { $0 = true }
            }
            #expect(await adopted == 1)
            #expect(
                try await client.receive() == #"{"parameters":{"text":"first"},"continues":true}"#)
            try await second.desk.wait { $0.started == ["begun"] }
        }
    }

    @Test func `a long call goes along as far as it was sent, and one that is too long is logged`()
        async throws
    {
        try await withTwo { first, second in
            let (client, other) = (try first.raw(), try first.raw())
            let begin = Array(#"{"method":"org.example.test.Echo","parameters":{"text":""#.utf8)
            let text = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
            try client.send(bytes: begin + text)
            try other.send(bytes: begin + text + text)
            let sent = 2 * begin.count + 3 * text.count
            while await first.server.currentStatistics().bytesIn < sent { await Task.yield() }
            #expect(await handOver(first, to: second) == 1)
            try client.send(bytes: Array(#""}}"#.utf8) + [0])
            #expect(try await client.receive()?.utf8.count == text.count + 26)
            #expect(try await other.receive() == nil)
            let told = first.log.lines.filter {
                $0.hasPrefix("some connections or screens can't be handed over")
            }
            #expect(told.count == 1)
            #expect(
                told.first?.hasSuffix(
                    "can be kept: 1 in the midst of sending more than 2097152 bytes") == true)
        }
    }

    @Test func `what was written down about another peer is not believed`() async throws {
        try await withTwo { first, second in
            let client = try first.raw()
            try client.send(#"{"method":"org.example.test.Echo","parameters":{"text":"a"}}"#)
            _ = try await client.receive()
            await first.server.pause(within: .seconds(20))
            let kept = await first.server.release(within: .seconds(20))
            let forged = kept.compactMap {
                VarlinkKeptConnection(
                    descriptor: $0.descriptor,
                    state: ["uid": 12_345, "gid": 0, "calls": 1, "bytes": ""])
            }
            #expect(forged.count == 1)
            #expect(await second.server.adopt(forged) == 0)
            #expect(try await client.receive() == nil)
            let reason = "and uid 12345 gid 0 was written down"
            #expect(second.log.lines.contains { $0.contains(reason) })
        }
    }
}

/// Hands all connections over, and says how many the other server serves.
private func handOver(
    _ first: Service, to second: Service, within deadline: Duration = .seconds(20)
) async -> Int {
    await first.server.pause(within: deadline)
    return await second.server.adopt(await first.server.release(within: deadline))
}

private func withTwo(_ body: (_ first: Service, _ second: Service) async throws -> Void)
    async throws
{
    let change = { (router: inout VarlinkRouter, desk: Desk) in
        router.resume(Example.Follow.self) { state, call in
            desk.resume(state.value["from"]?.string ?? "", call)
        }
    }
    try await withService(change: change) { first in
        try await withService(change: change) { second in try await body(first, second) }
    }
}

extension Desk {
    fileprivate func resume(_ from: String, _ call: VarlinkCall<Text>) {
        note(started: from)
        follow(call)
    }
}
