import Glibc
import JSONCodec
import NIOCore
import NIOPosix
import TestSupport
import Testing

@testable import Varlink

@Suite(.timeLimit(.minutes(3))) struct ClientTests {
    @Test func `calls made at once are each given their own reply`() async throws {
        try await withService { service in
            let client = try await service.client()
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        try await client.call(Example.Echo.self, Text("\(number)"))
                            == Text("\(number)")
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
        }
    }

    @Test func `an error of the service is thrown by name, and as its type`() async throws {
        try await withService { service in
            let client = try await service.client()
            let error = await #expect(throws: VarlinkRemoteError.self) {
                try await client.call(Example.Echo.self, Text("refuse"))
            }
            #expect(error?.name == "org.example.test.Refused")
            #expect(error?.as(Example.Refused.self) == Example.Refused(reason: "as asked"))
            #expect(error?.as(VarlinkService.MethodNotFound.self) == nil)
            #expect(error?.description == #"org.example.test.Refused {"reason":"as asked"}"#)
        }
    }

    @Test func `a stream brings all its replies, then ends, and the client goes on`() async throws {
        try await withService { service in
            let client = try await service.client()
            var expected = 1
            for try await reply in client.stream(Example.Count.self, Number(5_000)) {
                #expect(reply.value == expected)
                expected += 1
            }
            #expect(expected == 5_001)
            #expect(try await client.call(Example.Echo.self, Text("a")) == Text("a"))
        }
    }

    @Test func `a stream that fails throws the service's error`() async throws {
        try await withService { service in
            let client = try await service.client()
            await #expect(throws: VarlinkRemoteError.self) {
                for try await _ in client.stream(Example.Echo.self, Text("refuse")) {}
            }
        }
    }

    @Test func `who does not pull a stream slows the service down, and misses nothing`()
        async throws
    {
        var ends: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let service = RawClient(descriptor: ends[0])
        service.limit(SO_SNDTIMEO, milliseconds: 300)
        let client = try await VarlinkClient.connect(descriptor: ends[1])
        var replies = client.stream(Example.Echo.self, Text("")).makeAsyncIterator()
        _ = try await service.receive()
        let text = String(repeating: "x", count: 10_000)
        let reply = Array(#"{"parameters":{"text":"\#(text)"},"continues":true}"#.utf8) + [0]
        var sent = 0
        for _ in 0..<6_400 {
            let count = service.trySending(reply)
            sent += count
            if count < reply.count { break }
        }
        #expect(sent < 8 << 20, "it took \(sent) bytes of replies without one being pulled")
        for _ in 0..<(sent / reply.count) { #expect(try await replies.next() == Text(text)) }
    }

    @Test func `a stream holds its connection while replies wait for their reader`() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let connection = ClientConnection(eventLoop: loop, limits: VarlinkLimits())
        let stream = ReplyStream<Int>(connection)
        let capacity = ReplyStream<Int>.capacity
        let held = try await loop.submit {
            (0..<capacity).map { number in
                stream.receive(.success(number), continues: true)
                return connection.isPaused
            }
        }.get()
        #expect(held.firstIndex(of: true) == capacity - 1)
        for number in 0..<capacity { #expect(try await stream.next() == number) }
        #expect(try await loop.submit { connection.isPaused }.get() == false)
    }

    @Test func `leaving a stream closes its connection`() async throws {
        try await withService { service in
            let client = try await service.client()
            func leave() async throws {
                let stream = client.stream(Example.Follow.self, VarlinkNothing())
                try await service.desk.wait { $0.followers.count == 1 }
                try await service.desk.onLoop { service.desk.push("one") }
                for try await reply in stream {
                    #expect(reply == Text("one"))
                    break
                }
            }
            try await leave()
            try await service.desk.wait { $0.closed == 1 }
        }
    }

    @Test func `a task that is cancelled stops waiting`() async throws {
        try await withService { service in
            let client = try await service.client()
            let waiting = Task { try await client.call(Example.Hold.self, Text("a")) }
            try await service.desk.wait { $0.started == ["a"] }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            // The reply that comes later is not taken for that of the next call.
            try await service.desk.release("a")
            #expect(try await client.call(Example.Echo.self, Text("b")) == Text("b"))
        }
    }

    @Test func `calls without a reply fail when the service goes`() async throws {
        try await withService { service in
            let client = try await service.client()
            let reply = Task { try await client.call(Example.Hold.self, Text("a")) }
            try await service.desk.wait { $0.started == ["a"] }
            await service.server.stop(within: .zero)
            let error = await #expect(throws: VarlinkConnectionError.self) { try await reply.value }
            #expect(error?.kind == .closed)
            await #expect(throws: VarlinkConnectionError.self) {
                try await client.call(Example.Echo.self, Text("late"))
            }
        }
    }

    @Test func `a method known by name is called with any object, and answers verbatim`()
        async throws
    {
        try await withService { service in
            let client = try await service.client()
            let reply = try await client.call(
                raw: "org.example.test.Echo", parameters: JSONObject(#"{"text":"\u00e9 1"}"#))
            #expect(reply.text == #"{"text":"é 1"}"#)
            var values: [String] = []
            let count = try client.stream(
                raw: "org.example.test.Count", parameters: JSONObject(#"{"value":3}"#))
            for try await reply in count { values.append(reply.text) }
            #expect(values == [#"{"value":1}"#, #"{"value":2}"#, #"{"value":3}"#])
        }
    }

    @Test func `a oneway call is carried out, and the next reply is the next call's`() async throws
    {
        try await withService { service in
            let client = try await service.client()
            client.oneway(Example.Hold.self, Text("quiet"))
            #expect(try await client.call(Example.Echo.self, Text("a")) == Text("a"))
            try await service.desk.wait { $0.started == ["quiet"] }
        }
    }

    @Test func `a socket that is not there, and one nobody listens on, give different errors`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/socket"
        let missing = await #expect(throws: VarlinkConnectionError.self) {
            _ = try await VarlinkClient.connect(unixPath: path)
        }
        #expect(missing?.kind == .notFound)
        let listener = try VarlinkListener(path: path, mode: 0o600, group: nil)
        close(listener.descriptor)
        let refused = await #expect(throws: VarlinkConnectionError.self) {
            _ = try await VarlinkClient.connect(unixPath: path)
        }
        #expect(refused?.kind == .refused)
        #expect(VarlinkConnectionError(connectingTo: path, code: EACCES).kind == .accessDenied)
        let file = try directory.write("file", "")
        let other = await #expect(throws: VarlinkConnectionError.self) {
            _ = try await VarlinkClient.connect(unixPath: file)
        }
        #expect(other?.description == "\(file) is no socket")
    }

    @Test(arguments: [
        #"{"parameters":{"text":"a"},"continues":true}"#, #"{"parameters":[]}"#, "hello",
        #"{"parameters":{"text":"a"},"surprise":1}"#, #"{"error":"a.b.C","continues":true}"#,
        #"{"parameters":{"text":7}}"#,
    ])
    func `a reply that is none fails the call`(_ reply: String) async throws {
        var ends: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let service = RawClient(descriptor: ends[0])
        let client = try await VarlinkClient.connect(descriptor: ends[1])
        let answer = Task { try await client.call(Example.Echo.self, Text("a")) }
        #expect(
            try await service.receive()
                == #"{"method":"org.example.test.Echo","parameters":{"text":"a"}}"#)
        try service.send(reply)
        let error = await #expect(throws: VarlinkConnectionError.self) { try await answer.value }
        #expect(error?.kind == .protocolViolation)
    }

    @Test func `a reply of a newer service is understood`() async throws {
        var ends: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let service = RawClient(descriptor: ends[0])
        let client = try await VarlinkClient.connect(descriptor: ends[1])
        let answer = Task { try await client.call(Example.Echo.self, Text("a")) }
        _ = try await service.receive()
        try service.send(#"{"parameters":{"text":"b","new":{"a":1}},"org.example":{}}"#)
        #expect(try await answer.value == Text("b"))
    }
}
