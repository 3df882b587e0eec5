import Instruments
import Testing
import Varlink

/// What a server records of its calls.
@Suite(.timeLimit(.minutes(3))) struct MetricsTests {
    private let panel = InstrumentPanel()

    /// How many calls of a method had an outcome.
    private func calls(_ method: String, _ outcome: String) -> Double? {
        for sample in panel.read() where sample.name == "varlink_calls_total" {
            guard sample.labels == ["method": method, "outcome": outcome] else { continue }
            if case .number(let number) = sample.value { return number }
        }
        return nil
    }

    private func timed(_ method: String) -> Int {
        for sample in panel.read() where sample.name == "varlink_call_seconds" {
            guard sample.labels == ["method": method] else { continue }
            if case .histogram(let reading) = sample.value { return reading.count }
        }
        return 0
    }

    private func withMeasured(_ body: (Service) async throws -> Void) async throws {
        try await withService { router, _ in
            router.metrics = VarlinkMetrics(factory: panel)
        } _: { service in
            try await body(service)
        }
    }

    @Test func `an answer, an error, and a call without a reply each count once`() async throws {
        try await withMeasured { service in
            let client = try service.raw()
            let echo = #"{"method":"org.example.test.Echo","parameters":{"text":"#
            try client.send(
                echo + #""a"}}"#, echo + #""refuse"}}"#, echo + #""a"},"oneway":true}"#,
                echo + #"7}}"#, #"{"method":"org.example.test.Nothing"}"#)
            for _ in 0..<4 { _ = try await client.receive() }
            let method = "org.example.test.Echo"
            #expect(calls(method, "ok") == 2)
            #expect(calls(method, "org.example.test.Refused") == 1)
            #expect(calls(method, "org.varlink.service.InvalidParameter") == 1)
            #expect(calls("unknown", "org.varlink.service.MethodNotFound") == 1)
            #expect(timed(method) == 4)
        }
    }

    @Test func `a stream counts when it begins, and not again`() async throws {
        try await withMeasured { service in
            let client = try service.raw()
            let method = "org.example.test.Count"
            try client.send(#"{"method":"\#(method)","parameters":{"value":5},"more":true}"#)
            for _ in 0..<5 { _ = try await client.receive() }
            #expect(calls(method, "ok") == 1)
            #expect(timed(method) == 1)
            // The next one on the same connection is another.
            try client.send(#"{"method":"\#(method)","parameters":{"value":2},"more":true}"#)
            for _ in 0..<2 { _ = try await client.receive() }
            #expect(calls(method, "ok") == 2)
        }
    }

    @Test func `calls whose connection ends before their replies are dropped`() async throws {
        try await withMeasured { service in
            let client = try service.raw()
            let method = "org.example.test.Hold"
            try client.send(
                #"{"method":"\#(method)","parameters":{"text":"a"}}"#,
                #"{"method":"\#(method)","parameters":{"text":"b"}}"#)
            try await service.desk.wait { $0.started == ["a", "b"] }
            #expect(await service.server.currentStatistics().callsInFlight == 2)
            #expect(calls(method, "dropped") == nil)
            client.close()
            while await service.server.currentStatistics().connections > 0 {
                _ = try await service.isAlive()
            }
            #expect(calls(method, "dropped") == 2)
            try await service.desk.release("a")
            #expect(calls(method, "ok") == 0)
            #expect(timed(method) == 0)
        }
    }

    @Test func `errors passed on under ever new names do not grow the set`() async throws {
        try await withService { router, _ in
            router.metrics = VarlinkMetrics(factory: panel)
            router.handle(Failing.self) { parameters, call in
                call.fail(VarlinkRemoteError(name: "org.example.\(parameters.text)"))
            }
        } _: { service in
            let client = try service.raw()
            for number in 0..<100 {
                try client.send(
                    #"{"method":"org.example.test.Failing","parameters":{"text":"E\#(number)"}}"#)
                #expect(try await client.receive()?.contains("org.example.E\(number)") == true)
            }
            let outcomes = panel.read().filter { $0.labels["method"] == "org.example.test.Failing" }
            #expect(outcomes.count <= 34, "\(outcomes)")
            #expect(calls("org.example.test.Failing", "other") == 69)
        }
    }

    @Test func `who asks for no metrics has none`() async throws {
        try await withService { service in
            _ = try await service.isAlive()
            #expect(panel.read().isEmpty)
        }
    }

    private enum Failing: VarlinkMethod {
        static let name = "org.example.test.Failing"
        typealias Parameters = Text
        typealias Reply = Text
    }
}
