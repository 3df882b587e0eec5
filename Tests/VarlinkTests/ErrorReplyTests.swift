import Testing
import Varlink

@Suite(.timeLimit(.minutes(3))) struct ErrorReplyTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let call: String
        let reply: String
        var testDescription: String { call }

        init(_ call: String, _ error: String, _ parameters: String? = nil) {
            self.call = call
            let member = parameters.map { #","parameters":\#($0)"# } ?? ""
            reply = #"{"error":"org.varlink.service.\#(error)"\#(member)}"#
        }
    }

    static let cases = [
        Case(
            #"{"method":"org.example.none.Echo"}"#, "InterfaceNotFound",
            #"{"interface":"org.example.none"}"#),
        Case(
            #"{"method":"org.example.test.Nothing"}"#, "MethodNotFound",
            #"{"method":"org.example.test.Nothing"}"#),
        Case(#"{"method":"Nothing"}"#, "MethodNotFound", #"{"method":"Nothing"}"#),
        Case(#"{"method":""}"#, "MethodNotFound", #"{"method":""}"#),
        Case(
            #"{"method":"org.example.test.Planned"}"#, "MethodNotImplemented",
            #"{"method":"org.example.test.Planned"}"#),
        Case(
            #"{"method":"org.example.test.Echo","parameters":{"text":"a"},"upgrade":true}"#,
            "MethodNotImplemented", #"{"method":"org.example.test.Echo"}"#),
        Case(
            #"{"method":"org.example.test.Echo","parameters":{"text":1}}"#, "InvalidParameter",
            #"{"parameter":"text"}"#),
        Case(
            #"{"method":"org.example.test.Echo","parameters":{"text":"a","txt":1}}"#,
            "InvalidParameter", #"{"parameter":"txt"}"#),
        Case(
            #"{"method":"org.example.test.Echo"}"#, "InvalidParameter", #"{"parameter":"text"}"#),
        Case(#"{"method":"org.example.test.Follow"}"#, "ExpectedMore"),
        Case(
            #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"x.y"}}"#,
            "InterfaceNotFound", #"{"interface":"x.y"}"#),
    ]

    @Test(arguments: cases)
    func `a call that can't be carried out receives the reason, and the next one is carried out`(
        _ example: Case
    ) async throws {
        try await withService { service in
            let client = try service.raw()
            try client.send(
                example.call, #"{"method":"org.example.test.Echo","parameters":{"text":"next"}}"#)
            #expect(try await client.receive() == example.reply)
            #expect(try await client.receive() == #"{"parameters":{"text":"next"}}"#)
        }
    }

    static let marks = "e" + String(repeating: "\u{301}", count: 129)

    /// Parameters that are JSON and can't be read, and the place in them.
    static let beyond = [
        (#"{"text":1E400}"#, "text"), (#"{"text":"\#(marks)"}"#, "text"),
        (#"{"\#(marks)":1}"#, ""), (#"{"text":"\ud800"}"#, "text"),
        (#"{"text":"\udc00\ud800"}"#, "text"), (#"{"text":"a","te\u0078t":"b"}"#, "text"),
        (#"{"txt":{"a":1,"a":2}}"#, "txt.a"),
        (
            #"{"text":\#(ViolationTests.nested(64))}"#,
            "text" + String(repeating: "[0]", count: 63)
        ),
        (
            #"{"txt":\#(ViolationTests.nested(1_000))}"#,
            "txt" + String(repeating: "[0]", count: 63)
        ),
        (#"{"text":"\#(String(repeating: "x", count: 100_000))\udead"}"#, "text"),
    ]

    @Test(arguments: beyond)
    func `JSON beyond a limit of the reader fails its own call alone`(
        _ parameters: String, _ place: String
    ) async throws {
        try await withService { service in
            let client = try service.raw()
            func echo(_ parameters: String) -> String {
                #"{"method":"org.example.test.Echo","parameters":\#(parameters)}"#
            }
            try client.send(
                echo(#"{"text":"before"}"#), echo(parameters),
                #"{"method":"org.example.test.Nothing","parameters":\#(parameters)}"#,
                #"{"org.example.trace":\#(parameters),"# + echo(#"{"text":"after"}"#).dropFirst())
            #expect(try await client.receive() == #"{"parameters":{"text":"before"}}"#)
            #expect(
                try await client.receive()
                    == #"{"error":"org.varlink.service.InvalidParameter","#
                    + #""parameters":{"parameter":"\#(place)"}}"#)
            #expect(
                try await client.receive()
                    == #"{"error":"org.varlink.service.MethodNotFound","#
                    + #""parameters":{"method":"org.example.test.Nothing"}}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"after"}}"#)
            #expect(await service.server.currentStatistics().protocolViolations == 0)
        }
    }

    @Test func `who may not call is refused before the parameters are read`() async throws {
        try await withService { router, _ in
            router.authorize = { method in
                guard method == Example.Hold.name else { return nil }
                return { peer in
                    guard peer.pid > 0 else { return nil }
                    return VarlinkDenial(VarlinkService.PermissionDenied(), reason: "it may not")
                }
            }
        } _: { service in
            let client = try service.raw()
            try client.send(#"{"method":"org.example.test.Hold","parameters":{"text":1}}"#)
            #expect(
                try await client.receive()
                    == #"{"error":"org.varlink.service.PermissionDenied"}"#)
            #expect(try await service.isAlive())
        }
    }

    @Test(arguments: [#""#, #","parameters":null"#, #","parameters":{}"#])
    func `absent, null and empty parameters are the same`(_ parameters: String) async throws {
        try await withService { service in
            let client = try service.raw()
            try client.send(#"{"method":"org.varlink.service.GetInfo"\#(parameters)}"#)
            #expect(
                try await client.receive()
                    == #"{"parameters":{"vendor":"Example","product":"Test","#
                    + #""version":"1","url":"https://example.org","#
                    + #""interfaces":["org.varlink.service","org.example.test"]}}"#)
        }
    }

    @Test(arguments: [
        #"{"more":false,"oneway":null,"upgrade":false,"#,
        #"{"org.example":{},"org.example.flag":{"a":[1]},"#,
        #" { "parameters" : {"text":"a"}, "#,
    ])
    func `flags that are off, and members of vendors, change nothing`(_ start: String) async throws
    {
        try await withService { service in
            let client = try service.raw()
            let parameters = start.contains("text") ? "" : #","parameters":{"text":"a"}"#
            try client.send(start + #""method":"org.example.test.Ec\u0068o"\#(parameters)}"#)
            #expect(try await client.receive() == #"{"parameters":{"text":"a"}}"#)
        }
    }

    @Test func `interfaces are listed and described as they were added`() async throws {
        try await withService { service in
            let client = try await service.client()
            let info = try await client.call(VarlinkService.GetInfo.self, VarlinkNothing())
            #expect(info.interfaces == ["org.varlink.service", "org.example.test"])
            for interface in [Example.self, VarlinkService.self] as [any VarlinkInterface.Type] {
                let answer = try await client.call(
                    VarlinkService.GetInterfaceDescription.self, .init(interface: interface.name))
                #expect(answer.description == interface.description)
            }
        }
    }
}
