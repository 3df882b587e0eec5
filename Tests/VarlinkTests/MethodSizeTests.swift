import TestSupport
import Testing

@testable import Varlink

/// Calls that are longer than their method takes.
@Suite(.timeLimit(.minutes(3))) struct MethodSizeTests {
    private static let most = 120

    private func withSmallEcho(_ body: (Service) async throws -> Void) async throws {
        var limits = VarlinkLimits()
        limits.methodBytes = ["org.example.test.Echo": Self.most]
        try await withService(limits: limits, body)
    }

    /// A call of a method that has so many bytes.
    private func call(
        _ bytes: Int, text: String = "", then rest: String = "", of method: String = "Echo"
    ) -> String {
        let head = #"{"method":"org.example.test.\#(method)","parameters":{"text":"\#(text)"#
        let tail = #""}\#(rest)}"#
        let fill = String(repeating: "x", count: bytes - head.utf8.count - tail.utf8.count)
        return head + fill + tail
    }

    private static let small = #"{"method":"org.example.test.Echo","parameters":{"text":"a"}}"#

    private func refusal(_ bytes: Int, of method: String) -> String {
        #"{"error":"org.atrium.Varlink.LimitExceeded","parameters":{"limit":"methodBytes","value":\#(Self.most),"#
            + #""message":"a call of \#(bytes) bytes was not carried out: one of "#
            + #"\#(method) has \#(Self.most) bytes at most (methodBytes): send less at once"}}"#
    }

    @Test func `a call that is longer than its method takes is refused, its connection stays open`()
        async throws
    {
        try await withSmallEcho { service in
            let client = try service.raw()
            try client.send(call(Self.most), call(Self.most + 1), Self.small)
            #expect(try await client.receive()?.hasPrefix(#"{"parameters":{"text":"xx"#) == true)
            #expect(
                try await client.receive() == refusal(121, of: "org.example.test.Echo"))
            #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
        }
    }

    /// Parameters that would close the connection if they were read: it is the length alone that counts.
    @Test func `its parameters are not read, wherever they are`() async throws {
        try await withSmallEcho { service in
            let client = try service.raw()
            let wrong = #"","text":"twice","deep":\#(ViolationTests.nested(64)),"#
            for long in [
                call(400, text: wrong + #""x":"\"{"#),
                #"{"parameters":{"text":"\#(wrong)"x":oops},"method":"org.example.test.Echo"}"#,
                #"{"method":"org.example.test.Echo","a.b":{"x":oops,"x":\#(ViolationTests.nested(64))},"a.b":1}"#,
            ] {
                #expect(long.utf8.count > Self.most)
                try client.send(long, Self.small)
                #expect(
                    try await client.receive()
                        == refusal(long.utf8.count, of: "org.example.test.Echo"), "\(long)")
                #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
            }
            #expect(await service.server.currentStatistics().protocolViolations == 0)
        }
    }

    @Test(arguments: [
        #"{"method":"\#(ViolationTests.escapes(50))"}"#,
        #"{"\#(ViolationTests.escapes(50))":1,"method":"org.example.test.Echo"}"#,
        #"{"method":"\#(String(repeating: "é", count: 200))"}"#,
    ])
    func `a long message is not read further than a long name`(_ message: String) async throws {
        try await withSmallEcho { service in
            let client = try service.raw()
            try client.send(message, Self.small)
            #expect(try await client.receive() == nil)
            #expect(service.log.lines.first?.contains("at most 255 bytes") == true)
        }
    }

    @Test func `a oneway call has no reply, so its connection is closed and told the limit`()
        async throws
    {
        try await withSmallEcho { service in
            let client = try service.raw()
            // The flag comes last, after the parameters that are not read.
            try client.send(call(200, then: #","oneway":true"#), Self.small)
            #expect(
                try await client.receive() == refusal(200, of: "org.example.test.Echo"))
            #expect(try await client.receive() == nil)
            #expect(service.log.lines.first?.contains("methodBytes") == true)
        }
    }

    @Test func `a method that there is not takes as little as the one that takes least`()
        async throws
    {
        try await withSmallEcho { service in
            let client = try service.raw()
            try client.send(call(200, of: "Nothing"), call(110, of: "Nothing"))
            #expect(
                try await client.receive() == refusal(200, of: "a method that there is not"))
            #expect(try await client.receive()?.contains("MethodNotFound") == true)
        }
    }

    @Test func `a long call of a method that takes it is checked whole`() async throws {
        try await withSmallEcho { service in
            let client = try service.raw()
            try client.send(call(5_000, of: "Hold"))
            try await service.desk.wait { $0.started.count == 1 }
            try client.send(call(5_000, text: #"a","text":oops,"x":"b"#, of: "Hold"))
            #expect(try await client.receive() == nil)
            #expect(await service.server.currentStatistics().protocolViolations == 1)
        }
    }

    @Test func `new sizes hold from then on`() async throws {
        try await withSmallEcho { service in
            let client = try service.raw()
            await service.server.limit(to: VarlinkLimits())
            try client.send(call(Self.most + 1))
            #expect(try await client.receive()?.hasPrefix(#"{"parameters":{"text":"xx"#) == true)
        }
    }
}
