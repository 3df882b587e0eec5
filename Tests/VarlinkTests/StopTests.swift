import Glibc
import Testing
import Varlink

@Suite(.timeLimit(.minutes(3))) struct StopTests {
    @Test func `stopping answers the calls under way, then closes`() async throws {
        try await withService { service in
            let client = try service.raw()
            let idle = try service.raw()
            try client.send(
                #"{"method":"org.example.test.Hold","parameters":{"text":"a"}}"#,
                #"{"method":"org.example.test.Hold","parameters":{"text":"b"}}"#)
            try await service.desk.wait { $0.started == ["a", "b"] }
            async let stopped: Void = service.server.stop(within: .seconds(20))
            #expect(try await idle.receive() == nil)
            #expect(throws: RawClient.Failure.self) { try service.raw() }
            try client.send(#"{"method":"org.example.test.Echo","parameters":{"text":"late"}}"#)
            try await service.desk.release("b")
            try await service.desk.release("a")
            #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"b"}}"#)
            #expect(try await client.receive() == nil)
            await stopped
            #expect(await service.server.currentStatistics().connections == 0)
        }
    }

    @Test func `stopping cuts streams, after what they were sent`() async throws {
        try await withService { service in
            let client = try service.raw()
            try client.send(#"{"method":"org.example.test.Follow","more":true}"#)
            try await service.desk.wait { $0.followers.count == 1 }
            try await service.desk.onLoop { service.desk.push("last") }
            await service.server.stop(within: .seconds(20))
            #expect(
                try await client.receive() == #"{"parameters":{"text":"last"},"continues":true}"#)
            #expect(try await client.receive() == nil)
            #expect(try await service.desk.onLoop { service.desk.closed } == 1)
        }
    }

    @Test func `stopping writes what a slow reader has not read yet`() async throws {
        try await withService { service in
            let client = try service.raw()
            let text = String(repeating: "x", count: 4 << 20)
            try client.send(#"{"method":"org.example.test.Follow","more":true}"#)
            try await service.desk.wait { $0.followers.count == 1 }
            try await service.desk.onLoop { service.desk.push(text) }
            async let stopped: Void = service.server.stop(within: .seconds(20))
            let reply = try await client.receive()
            #expect(reply == #"{"parameters":{"text":"\#(text)"},"continues":true}"#)
            #expect(try await client.receive() == nil)
            await stopped
        }
    }

    @Test func `stopping does not wait longer than it may`() async throws {
        try await withService { service in
            let client = try service.raw()
            try client.send(#"{"method":"org.example.test.Hold","parameters":{"text":"a"}}"#)
            try await service.desk.wait { $0.started == ["a"] }
            await service.server.stop(within: .milliseconds(20))
            #expect(try await client.receive() == nil)
            #expect(try await service.desk.onLoop { service.desk.closed } == 1)
            // A second time finds nothing to do.
            await service.server.stop(within: .seconds(20))
        }
    }
}
