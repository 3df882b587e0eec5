import TestSupport
import Testing
import Varlink

@Suite(.timeLimit(.minutes(3))) struct DeadPeerTests {
    /// Tells all followers something, and answers.
    private enum Push: VarlinkMethod {
        typealias Parameters = Text
        typealias Reply = Text
        static let name = "org.example.test.Push"
    }

    @Test func `a peer that dies while it is written to does not enter the domain again`()
        async throws
    {
        try await withService { service in
            let living = try service.raw()
            let dying = try service.raw()
            for client in [dying, living] {
                try client.send(#"{"method":"org.example.test.Follow","more":true}"#)
            }
            try await service.desk.wait { $0.followers.count == 2 }
            let descriptor = Death(dying)
            // In one turn, so that the server only learns of it by writing.
            try await service.desk.onLoop {
                descriptor.come()
                service.desk.push("one")
                service.desk.push("two")
            }
            #expect(
                try await living.receive() == #"{"parameters":{"text":"one"},"continues":true}"#)
            #expect(
                try await living.receive() == #"{"parameters":{"text":"two"},"continues":true}"#)
            try await service.desk.wait { $0.closed == 1 }
            try await service.desk.onLoop { service.desk.push("three") }
            #expect(
                try await living.receive() == #"{"parameters":{"text":"three"},"continues":true}"#)
        }
    }

    @Test func `a peer may die in the turn in which it is answered, before that is sent`()
        async throws
    {
        try await withService { router, desk in
            router.handle(Push.self) { parameters, call in
                desk.push(parameters.text)
                call.reply(parameters)
            }
        } _: { service in
            let living = Death(try service.raw())
            let dying = Death(try service.raw())
            try dying.client.send(#"{"method":"org.example.test.Follow","more":true}"#)
            try await service.desk.wait { $0.followers.count == 1 }
            // The loop finds both when it looks at its sockets next, in this order.
            try await service.desk.onLoop {
                try living.client.send(
                    #"{"method":"org.example.test.Push","parameters":{"text":"one"}}"#)
                dying.come()
            }
            #expect(try await living.client.receive() == #"{"parameters":{"text":"one"}}"#)
            try await service.desk.wait { $0.closed == 1 }
        }
    }

    @Test func `who goes before its answer is reported to whoever works on it`() async throws {
        try await withService { service in
            let client = try service.raw()
            try client.send(#"{"method":"org.example.test.Hold","parameters":{"text":"a"}}"#)
            try await service.desk.wait { $0.started == ["a"] }
            #expect(try await service.desk.onLoop { service.desk.isAwaited("a") } == true)
            client.close()
            try await service.desk.wait { $0.closed == 1 }
            #expect(try await service.desk.onLoop { service.desk.isAwaited("a") } == false)
            // An answer after that goes nowhere.
            try await service.desk.release("a")
            #expect(try await service.isAlive())
        }
    }

    @Test func `who goes after its answer is not reported`() async throws {
        try await withService { service in
            let client = try service.raw()
            try client.send(#"{"method":"org.example.test.Hold","parameters":{"text":"a"}}"#)
            try await service.desk.wait { $0.started == ["a"] }
            try await service.desk.release("a")
            #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
            client.close()
            try await until { await service.server.currentStatistics().connections == 0 }
            #expect(try await service.desk.onLoop { service.desk.closed } == 0)
        }
    }

    @Test func `who dies in the middle of a message is forgotten`() async throws {
        try await withService { service in
            let client = try service.raw()
            try client.send(bytes: Array(#"{"method":"org.exam"#.utf8))
            client.close()
            try await until { await service.server.currentStatistics().connections == 0 }
            #expect(await service.server.currentStatistics().protocolViolations == 0)
            #expect(try await service.isAlive())
        }
    }

    /// Unchecked: the client is handed over to the loop, and touched there alone from then on.
    private struct Death: @unchecked Sendable {
        let client: RawClient

        init(_ client: RawClient) { self.client = client }

        func come() { client.close() }
    }
}
