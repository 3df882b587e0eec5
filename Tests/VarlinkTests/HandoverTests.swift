import Glibc
import JSONCodec
import Logging
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
