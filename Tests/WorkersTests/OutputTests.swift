import AtriumKitTesting
import Host
import TestSupport
import Testing

@testable import Workers

@Suite(.timeLimit(.minutes(3))) struct `What a worker prints` {
    private let log = CapturedLog()

    @Test func `when it crashes reaches the log, with where it belongs`() async throws {
        let component = Installed.component(of: Installed.breaker, logger: log.logger)
        try await component.start()
        let process = try #require(await component.processID)
        await #expect(throws: PortFailure.self) { try await component.put("trap") }
        try await eventually("its last words are told") {
            log.events.contains { $0["text"]?.contains("Told to trap.") == true }
        }
        let words = try #require(
            log.events.first { $0["text"]?.contains("Told to trap.") == true })
        #expect(words["message"] == "a worker printed")
        #expect(words["container"] == "test")
        #expect(words["component"] == "component")
        #expect(words["plugin"] == "org.atrium.breaker")
        #expect(words["worker"] == "\(process)")
    }

    @Test func `without end is counted, and its lines are cut`() async throws {
        let component = Installed.component(of: Installed.breaker, logger: log.logger)
        try await component.start()
        try await component.put("chatter")
        await component.stop()
        try await eventually("the rest is counted") {
            log.events.contains { $0["message"] == "a worker printed more than is logged" }
        }
        let lines = log.events.compactMap { $0["text"] }
        #expect(lines.count == 200)
        #expect(lines.allSatisfy { $0.utf8.count == 2_000 })
        #expect(log.events.last?["count"] == "300")
    }

    @Test func `when it crashes is what it logged last, and where it was`() async throws {
        let component = Installed.component(of: Installed.breaker, logger: log.logger)
        try await component.start()
        await #expect(throws: PortFailure.self) { try await component.put("last-words") }
        let lines = log.events.compactMap { $0["text"] }
        let words = try #require(lines.firstIndex { $0 == "about to trap" })
        let signal = try #require(lines.firstIndex { $0.hasPrefix("ended by SIG") })
        #expect(words < signal)
        #expect(lines[signal...].contains { $0.contains("Breaker.put(") }, "\(lines)")
    }

    @Test func `when it crashes is reported however much it printed before`() async throws {
        let component = Installed.component(of: Installed.breaker, logger: log.logger)
        try await component.start()
        await #expect(throws: PortFailure.self) { try await component.put("chatter-and-trap") }
        let lines = log.events.compactMap { $0["text"] }
        #expect(lines.count { $0 == "blah" } < 300, "chatter is bounded")
        #expect(log.events.contains { $0["message"] == "a worker printed more than is logged" })
        #expect(lines.contains { $0.contains("Fatal error: Told to trap.") }, "\(lines)")
        #expect(lines.contains("about to trap"))
        let signal = try #require(lines.firstIndex { $0.hasPrefix("ended by SIG") })
        #expect(lines[signal...].contains { $0.contains("Breaker.put(") }, "\(lines)")
    }

    @Test func `when its stack is used up is where`() async throws {
        let component = Installed.component(of: Installed.breaker, logger: log.logger)
        try await component.start()
        await #expect(throws: PortFailure.self) { try await component.put("recurse") }
        let lines = log.events.compactMap { $0["text"] }
        let signal = try #require(lines.firstIndex { $0 == "ended by SIGSEGV at" }, "\(lines)")
        #expect(lines[signal...].contains { $0.contains("libBreaker.so(") }, "\(lines)")
        let reason = try #require(await component.deaths.first)
        #expect(reason.contains("was ended by SIGSEGV"), "\(reason)")
    }

    @Test func `when it hangs is where`() async throws {
        var limits = WorkerLimits()
        limits.call = .seconds(1)
        let component = Installed.component(
            of: Installed.breaker, limits: limits, logger: log.logger)
        try await component.start()
        await #expect(throws: PortFailure.self) { try await component.put("hang") }
        let lines = log.events.compactMap { $0["text"] }
        let signal = try #require(lines.firstIndex { $0 == "ended by SIGABRT at" })
        #expect(lines[signal...].contains { $0.contains("Breaker.put(") }, "\(lines)")
    }

    @Test func `of a call that takes long is logged, and what waited for it`() async throws {
        var limits = WorkerLimits()
        limits.slow = .milliseconds(100)
        let component = Installed.component(
            of: Installed.breaker, limits: limits, logger: log.logger)
        try await component.start()
        await component.putAtOnce(["burn", "a"]) { _ in }
        try await eventually("the slow call is told") {
            log.events.contains { $0["call"] == "putItems" }
        }
        let told = try #require(log.events.first { $0["call"] == "putItems" })
        let reason = try #require(told["reason"])
        #expect(reason.contains("of 5.0 seconds that one may take (limits.callSeconds); 1 waited"))
        #expect(told["component"] == "component")
        await component.stop()
    }

    @Test func `what it says without end during a call is dropped, and how much is logged`()
        async throws
    {
        let component = Installed.component(of: Installed.breaker)
        try await component.start()
        try await component.put("flood")
        let said = { await component.messages }
        try await eventually("all that was kept is told") {
            await said().count { $0.hasPrefix("publishes counted") } == 2_000
        }
        await component.stop()
        let lines = await said().filter { $0.hasPrefix("info: line") }
        #expect(lines.count == 200, "of lines in a row so many are told")
        #expect(lines.first == "info: line 0")
        try await eventually("the rest is counted") {
            await said().contains { $0.hasPrefix("warning: ") && $0.contains("dropped") }
        }
    }
}
