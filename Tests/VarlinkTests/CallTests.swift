import Glibc
import JSONCodec
import Testing
import Varlink

@Suite(.timeLimit(.minutes(3))) struct CallTests {
    @Test func `a call split into single bytes is answered`() async throws {
        try await withService { service in
            let client = try service.raw()
            let call = #"{"method":"org.example.test.Echo","parameters":{"text":"é"}}"#
            for byte in Array(call.utf8) + [0] { try client.send(bytes: [byte]) }
            #expect(try await client.receive() == #"{"parameters":{"text":"é"}}"#)
        }
    }

    @Test func `calls that arrive joined are answered in order`() async throws {
        try await withService { service in
            let client = try service.raw()
            let calls = (0..<500).map {
                #"{"method":"org.example.test.Echo","parameters":{"text":"\#($0)"}}"#
            }
            try client.send(bytes: calls.flatMap { Array($0.utf8) + [0] })
            for number in 0..<500 {
                #expect(try await client.receive() == #"{"parameters":{"text":"\#(number)"}}"#)
            }
        }
    }

    @Test func `replies leave in the order of the calls, whoever is answered first`()
        async throws
    {
        try await withService { service in
            let client = try service.raw()
            try client.send(
                #"{"method":"org.example.test.Hold","parameters":{"text":"a"}}"#,
                #"{"method":"org.example.test.Hold","parameters":{"text":"b"}}"#,
                #"{"method":"org.example.test.Echo","parameters":{"text":"c"}}"#)
            try await service.desk.wait { $0.started == ["a", "b"] }
            try await service.desk.release("b")
            #expect(try await service.isAlive())
            #expect(try client.hasNothing())
            try await service.desk.release("a")
            #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"b"}}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"c"}}"#)
        }
    }

    @Test func `a reply given on another thread arrives`() async throws {
        try await withService { router, _ in
            router.handle(Slow.self) { parameters, call in
                Task.detached { call.reply(parameters) }
            }
        } _: { service in
            let client = try service.raw()
            try client.send(#"{"method":"org.example.test.Slow","parameters":{"text":"a"}}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
        }
    }

    @Test func `no call is started while one with more runs`() async throws {
        try await withService { service in
            let client = try service.raw()
            try client.send(
                #"{"method":"org.example.test.Follow","more":true}"#,
                #"{"method":"org.example.test.Hold","parameters":{"text":"later"}}"#)
            try await service.desk.wait { $0.followers.count == 1 }
            try await service.desk.onLoop { service.desk.push("one") }
            #expect(
                try await client.receive() == #"{"parameters":{"text":"one"},"continues":true}"#)
            #expect(try await service.desk.onLoop { service.desk.started }.isEmpty)
            try await service.desk.onLoop {
                service.desk.enter { service.desk.followers[0].reply(Text("end")) }
            }
            #expect(try await client.receive() == #"{"parameters":{"text":"end"}}"#)
            try await service.desk.wait { $0.started == ["later"] }
        }
    }

    @Test func `the replies of a stream continue, the last one does not`() async throws {
        try await withService { service in
            let client = try service.raw()
            try client.send(
                #"{"method":"org.example.test.Count","parameters":{"value":3},"more":true}"#)
            #expect(try await client.receive() == #"{"parameters":{"value":1},"continues":true}"#)
            #expect(try await client.receive() == #"{"parameters":{"value":2},"continues":true}"#)
            #expect(try await client.receive() == #"{"parameters":{"value":3}}"#)
        }
    }

    @Test(arguments: [1, 10_000])
    func `replies may share how they end`(size: Int) async throws {
        let text = String(repeating: "x", count: size)
        let shared = Array(#""\#(text)"},"continues":true}"#.utf8) + [0]
        try await withService { service in
            let clients = [try service.raw(), try service.raw()]
            for client in clients {
                try client.send(#"{"method":"org.example.test.Follow","more":true}"#)
            }
            try await service.desk.wait { $0.followers.count == 2 }
            try await service.desk.onLoop {
                for call in service.desk.followers {
                    for _ in 0..<2 {
                        call.replyRaw(endingWith: shared) { json in
                            json.beginObject()
                            json.key("parameters")
                            json.beginObject()
                            json.key("text")
                        }
                    }
                }
            }
            let whole = #"{"parameters":{"text":"\#(text)"},"continues":true}"#
            for client in clients {
                #expect(try await client.receive() == whole)
                #expect(try await client.receive() == whole)
                #expect(try client.hasNothing())
            }
        }
    }

    @Test func `without more a stream is its first reply`() async throws {
        try await withService { service in
            let client = try service.raw()
            try client.send(
                #"{"method":"org.example.test.Count","parameters":{"value":3}}"#,
                #"{"method":"org.example.test.Echo","parameters":{"text":"next"},"more":true}"#)
            #expect(try await client.receive() == #"{"parameters":{"value":1}}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"next"}}"#)
            #expect(try client.hasNothing())
        }
    }

    @Test func `a oneway call is never answered, not even by an error`() async throws {
        try await withService { service in
            let client = try service.raw()
            try client.send(
                #"{"method":"org.example.test.Echo","parameters":{"text":"a"},"oneway":true}"#,
                #"{"method":"org.example.test.Nothing","oneway":true}"#,
                #"{"method":"org.example.test.Echo","parameters":{"text":1},"oneway":true}"#,
                #"{"method":"org.example.test.Count","parameters":{"value":9},"oneway":true}"#,
                #"{"method":"org.example.test.Echo","parameters":{"text":"b"}}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"b"}}"#)
            #expect(try client.hasNothing())
            #expect(await service.server.currentStatistics().calls == 5)
        }
    }

    @Test func `a oneway call under way holds no reply back`() async throws {
        try await withService { service in
            let client = try service.raw()
            try client.send(
                #"{"method":"org.example.test.Hold","parameters":{"text":"a"},"oneway":true}"#,
                #"{"method":"org.example.test.Echo","parameters":{"text":"b"}}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"b"}}"#)
            try await service.desk.release("a")
            #expect(try await service.isAlive())
            #expect(try client.hasNothing())
        }
    }

    @Test func `who has sent all it will is still answered, then closed`() async throws {
        try await withService { service in
            let client = try service.raw()
            try client.send(#"{"method":"org.example.test.Hold","parameters":{"text":"a"}}"#)
            client.sendNoMore()
            try await service.desk.wait { $0.started == ["a"] }
            #expect(try await service.isAlive())
            try await service.desk.release("a")
            #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
            #expect(try await client.receive() == nil)
        }
    }

    @Test func `a handler knows who calls`() async throws {
        try await withService { router, _ in
            router.handle(Slow.self) { _, call in call.reply(Text(call.peer.description)) }
        } _: { service in
            let client = try await service.client()
            let reply = try await client.call(Slow.self, Text(""))
            #expect(reply.text == "uid=\(getuid()) gid=\(getgid()) pid=\(getpid())")
        }
    }

    private enum Slow: VarlinkMethod {
        typealias Parameters = Text
        typealias Reply = Text
        static let name = "org.example.test.Slow"
    }
}
