import Glibc
import TestSupport
import Testing
import Varlink

@Suite(.timeLimit(.minutes(3))) struct ViolationTests {
    static let messages = [
        #"{"method":"org.example.test.Echo","more":true,"oneway":true}"#,
        #"{"method":"org.example.test.Echo","more":true,"upgrade":true}"#,
        #"{"method":"org.example.test.Echo","oneway":1}"#,
        #"{"method":"org.example.test.Echo","more":"true"}"#,
        #"{"method":"org.example.test.Echo","priority":{}}"#,
        #"{"method":"org.example.test.Echo","X-priority":{}}"#,
        #"{"method":"org.example.test.Echo","method":"org.example.test.Echo"}"#,
        #"{"method":"org.example.test.Echo","parameters":[]}"#,
        #"{"method":"org.example.test.Echo","parameters":{"text":1E400]}}"#,
        #"{"method":"org.example.test.Echo","parameters":{"text":"\ud80"}}"#,
        #"{"method":"org.example.test.Echo","org.example":1,"org.example":1}"#,
        #"{"method":7}"#,
        #"{"parameters":{}}"#,
        #"{"method":"org.example.test.Echo"}}"#,
        #"{"method":"org.example.test.Echo""#,
        #"["org.example.test.Echo"]"#,
        "hello",
        "",
        #"{"method":"org.example.test.Echo","parameters":{"a":\#(nested(1_100))}}"#,
        #"{"method":"org.example.test.Echo",\#(extensions(65))}"#,
        #"{"method":"org.example.test.Echo","a.\#(escapes(50))":1}"#,
    ]

    /// Members that belong to vendors.
    static func extensions(_ count: Int) -> String {
        (1...count).map { #""a.b\#($0)":1"# }.joined(separator: ",")
    }

    static func escapes(_ count: Int) -> String { String(repeating: #"\u0061"#, count: count) }

    @Test func `members of vendors and escapes in names are taken up to their limits`() async throws
    {
        try await withService { service in
            let client = try service.raw()
            try client.send(
                #"{"method":"org.example.test.Echo","parameters":{"text":"a"},\#(Self.extensions(64))}"#,
                #"{"method":"org.example.test.Echo","parameters":{"text":"b"},"a.\#(Self.escapes(42))":1}"#
            )
            #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"b"}}"#)
        }
    }

    /// A megabyte that is no JSON, whose log line has the place of the error.
    @Test(arguments: [
        #"{"a":"# + String(repeating: "[", count: 1 << 20),
        #"{"method":"org.example.test.Echo","parameters":"#
            + String(repeating: #"{"":"#, count: 1 << 18),
        #"{""# + String(repeating: "é", count: 1 << 19) + #"":x}"#,
        #"{""# + String(repeating: "a", count: 1 << 20) + #"":x}"#,
    ])
    func `the place of an error in a long message is cut`(_ message: String) async throws {
        try await withService { service in
            let client = try service.raw()
            try client.send(message)
            #expect(try await client.receive() == nil)
            let line = try #require(service.log.lines.first)
            #expect(line.utf8.count < 800, "\(line.prefix(1_000))")
        }
    }

    static func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }

    @Test(arguments: messages)
    func `a malformed message closes its connection, is logged and counted`(
        _ message: String
    ) async throws {
        try await withService { service in
            let client = try service.raw()
            try client.send(
                #"{"method":"org.example.test.Echo","parameters":{"text":"before"}}"#, message,
                #"{"method":"org.example.test.Echo","parameters":{"text":"after"}}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"before"}}"#)
            #expect(try await client.receive() == nil)
            #expect(try await service.isAlive())
            #expect(await service.server.currentStatistics().protocolViolations == 1)
            let line = try #require(service.log.lines.first)
            #expect(
                line.hasPrefix(
                    "a connection was closed peer-pid=\(getpid()) peer-uid=\(getuid()) reason="))
        }
    }

    @Test func `bytes that are no UTF-8 close their connection`() async throws {
        try await withService { service in
            let client = try service.raw()
            var call =
                Array(
                    #"{"method":"org.example.test.Echo","parameters":{"text":"?"}}"#.utf8) + [0]
            let position = try #require(call.firstIndex(of: UInt8(ascii: "?")))
            call[position] = 0xFF
            try client.send(bytes: call)
            #expect(try await client.receive() == nil)
            #expect(await service.server.currentStatistics().protocolViolations == 1)
        }
    }

    @Test func `a message of 100 MB is refused once it is over the limit`() async throws {
        try await withService { service in
            let client = try service.raw()
            let chunk = [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 20)
            var sent = client.trySending(Array(#"{"method":""#.utf8))
            for _ in 0..<100 {
                let count = client.trySending(chunk)
                sent += count
                if count < chunk.count { break }
            }
            #expect(sent < 20 << 20)
            #expect(
                try await client.receive()
                    == #"{"error":"org.atrium.Varlink.LimitExceeded","parameters":{"#
                    + #""limit":"frameBytes","value":16777216,"message":"a message of more than "#
                    + #"16777216 bytes, the most that one may have (limits.frameBytes)"}}"#)
            #expect(try await client.receive() == nil)
            // What was taken in bounds what was kept: not more than the limit and one read.
            let taken = await service.server.currentStatistics().bytesIn
            #expect(taken <= (16 << 20) + (256 << 10))
            #expect(try await service.isAlive())
            #expect(service.log.lines.first?.contains("16777216 bytes") == true)
        }
    }

    @Test func `a message of just the limit is taken, one byte more is not`() async throws {
        var limits = VarlinkLimits()
        limits.frameBytes = 100
        try await withService(limits: limits) { service in
            let client = try service.raw()
            let head = #"{"method":"org.example.test.Echo","parameters":{"text":""#
            let fill = String(repeating: "x", count: 100 - head.utf8.count - 3)
            try client.send(head + fill + #""}}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"\#(fill)"}}"#)
            try client.send(head + fill + #"x"}}"#)
            #expect(try await client.receive()?.contains("frameBytes") == true)
            #expect(try await client.receive() == nil)
        }
    }

    @Test func `a flood of NULs is closed at the first`() async throws {
        try await withService { service in
            let client = try service.raw()
            _ = client.trySending([UInt8](repeating: 0, count: 4 << 20))
            #expect(try await client.receive() == nil)
            #expect(await service.server.currentStatistics().protocolViolations == 1)
        }
    }
}
