import Glibc
import NIOCore
import TestSupport
import Testing

@testable import Varlink

@Suite(.timeLimit(.minutes(3))) struct ClientQueueTests {
    /// A service that reads only when told to, and a client of it that keeps little waiting.
    private func makePair(
        _ change: (inout VarlinkLimits) -> Void
    ) async throws -> (service: RawClient, client: VarlinkClient) {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        var limits = VarlinkLimits()
        change(&limits)
        return (
            RawClient(descriptor: ends[0]),
            try await VarlinkClient.connect(descriptor: ends[1], limits: limits)
        )
    }

    @Test func `calls wait for a service that does not read, and all arrive when it does`()
        async throws
    {
        let (service, client) = try await makePair {
            $0.writableBytes = 64 << 10
            $0.queuedBytes = 256 << 10
        }
        let text = Text(String(repeating: "x", count: 10_000))
        // 2 MB: without waiting these would be more than may be queued.
        try await withThrowingTaskGroup(of: Text.self) { group in
            for _ in 0..<200 { group.addTask { try await client.call(Example.Echo.self, text) } }
            for _ in 0..<200 {
                #expect(try await service.receive()?.utf8.count ?? 0 > 10_000)
                try service.send(#"{"parameters":{"text":"a"}}"#)
            }
            for try await reply in group { #expect(reply == Text("a")) }
        }
    }

    @Test func `calls that do not wait end the connection when too many are queued`() async throws {
        let (service, client) = try await makePair { $0.queuedBytes = 1 << 20 }
        let text = Text(String(repeating: "x", count: 10_000))
        let answer = Task { try await client.call(Example.Echo.self, text) }
        #expect(try await service.receive() != nil)
        for _ in 0..<400 { client.oneway(Example.Echo.self, text) }
        let error = await #expect(throws: VarlinkConnectionError.self) { try await answer.value }
        #expect(error?.kind == .overflow)
        await #expect(throws: VarlinkConnectionError.self) { try await client.whenWritable() }
    }

    @Test func `who asks whether the service keeps up can send without end`() async throws {
        let (service, client) = try await makePair {
            $0.writableBytes = 64 << 10
            $0.queuedBytes = 256 << 10
        }
        let text = Text(String(repeating: "x", count: 10_000))
        let sending = Task {
            for _ in 0..<400 {
                try await client.whenWritable()
                client.oneway(Example.Echo.self, text)
            }
        }
        for _ in 0..<400 { #expect(try await service.receive()?.utf8.count ?? 0 > 10_000) }
        try await sending.value
    }

    @Test func `what a service says of the connection is the reason why calls fail`() async throws {
        let (service, client) = try await makePair { _ in }
        try service.send(#"{"error":"org.example.Full","parameters":{"limit":3}}"#)
        try await callback { client.onClose($0) }
        for text in ["a", "b"] {
            let error = await #expect(throws: VarlinkRemoteError.self) {
                try await client.call(Example.Echo.self, Text(text))
            }
            #expect(error?.description == #"org.example.Full {"limit":3}"#)
        }
    }

    @Test(arguments: [
        ("unix:/run/a", VarlinkAddress.path("/run/a")), ("/run/a", .path("/run/a")),
        ("unix:/run/a;mode=0666", .path("/run/a")), ("unix:@a.b", .abstract("a.b")),
        ("unix:@a.b;x", .abstract("a.b")), ("./a:b", .path("./a:b")), ("a", .path("a")),
    ])
    func `an address is read as people write it`(_ text: String, _ address: VarlinkAddress) throws {
        #expect(try VarlinkAddress(text) == address)
    }

    @Test(arguments: ["tcp:localhost:1", "unix:", "unix:@", "unix:;mode=1", "exec:/bin/x"])
    func `another kind of address is refused by name`(_ text: String) {
        let error = #expect(throws: VarlinkConnectionError.self) { try VarlinkAddress(text) }
        #expect(error?.description.contains("'\(text)'") == true)
    }

    @Test func `a service in the abstract namespace is found by its name`() async throws {
        let name = "varlink-test-\(getpid())"
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let bound = UnixAddress.with(.abstract(name)) { bind(listener, $0, $1) }
        try #require(bound == 0 && listen(listener, 8) == 0)
        let client = try await VarlinkClient.connect(to: .abstract(name))
        let service = RawClient(descriptor: accept(listener, nil, nil))
        let answer = Task { try await client.call(Example.Echo.self, Text("a")) }
        #expect(try await service.receive() != nil)
        try service.send(#"{"parameters":{"text":"b"}}"#)
        #expect(try await answer.value == Text("b"))
        close(listener)
        let error = await #expect(throws: VarlinkConnectionError.self) {
            try await VarlinkClient.connect(to: .abstract(name))
        }
        #expect(error?.kind == .refused)
    }
}
