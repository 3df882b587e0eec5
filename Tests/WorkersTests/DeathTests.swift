import AtriumKit
import AtriumKitTesting
import Foundation
import Host
import PluginLoader
import Synchronization
import Testing

@testable import Workers

@Suite(.timeLimit(.minutes(3))) struct `A worker that ends` {
    private func death(
        _ item: String, limits: WorkerLimits = WorkerLimits()
    ) async throws -> String {
        let component = Installed.component(of: Installed.breaker, limits: limits)
        try await component.start()
        let process = try #require(await component.processID)
        let failure = await #expect(throws: PortFailure.self) { try await component.put(item) }
        #expect(!exists(process), "told before it was reaped")
        let deaths = await component.deaths
        #expect(deaths.count == 1)
        let reason = try #require(deaths.first)
        #expect(failure == .died(reason: reason))
        #expect(reason.hasPrefix("The worker \(process) of org.atrium.breaker for test/component"))
        return reason
    }

    @Test func `by a trap is reported with its signal`() async throws {
        let reason = try await death("trap")
        #expect(
            reason.contains("was ended by SIGILL (Illegal instruction), and said: ")
                || reason.contains("was ended by SIGTRAP (Trace/breakpoint trap), and said: "))
        #expect(reason.contains("Told to trap; it was in "), "\(reason)")
        #expect(reason.contains("Breaker.put("), "\(reason)")
    }

    @Test func `because it took more memory than it may is reported with the limit`() async throws {
        var limits = WorkerLimits()
        limits.memory = 256 << 20
        limits.call = .seconds(60)
        let reason = try await death("gobble", limits: limits)
        #expect(reason.contains("where 256 MiB are allowed (workerMemoryMax)"), "\(reason)")
    }

    @Test func `by leaving is reported with its status`() async throws {
        #expect(try await death("leave").hasSuffix("ended with status 7."))
    }

    @Test func `because a call took too long is reported with the call and the limit`() async throws
    {
        var limits = WorkerLimits()
        limits.call = .seconds(5)
        let reason = try await death("hang", limits: limits)
        #expect(reason.contains("did not answer the call 'putItems' within 5.0 seconds"))
        #expect(reason.contains("and was killed; it was in "), "\(reason)")
    }

    @Test(arguments: [("hang", "asleep, "), ("spin", "computing, ")])
    func `because a call took too long is reported with what its thread did`(
        item: String, activity: String
    ) async throws {
        var limits = WorkerLimits()
        limits.call = .seconds(1)
        let reason = try await death(item, limits: limits)
        #expect(reason.contains("seconds, \(activity)"), "\(reason)")
        #expect(reason.contains(" s of processor time since its start) and was"), "\(reason)")
    }

    @Test func `because a question took too long is reported with the call and the limit`()
        async throws
    {
        var limits = WorkerLimits()
        limits.call = .seconds(3)
        let component = Installed.component(of: Installed.asker, limits: limits)
        try await component.start()
        let process = try #require(await component.processID)
        let asking = Task { _ = try await component.ask(ContentQuestion(search: "hang")) }
        try await eventually("the end is told") { await !component.deaths.isEmpty }
        // Whatever became of it, nobody waits for it any more.
        await component.stop()
        await #expect(throws: PortFailure.self) { try await asking.value }
        #expect(!exists(process))
        let reason = try #require(await component.deaths.first)
        #expect(reason.contains("did not answer the call 'ask' within 3.0 seconds"), "\(reason)")
    }

    @Test func `because a call took too long is reported in time, whatever else is called`()
        async throws
    {
        var limits = WorkerLimits()
        limits.call = .seconds(1)
        let component = Installed.component(of: Installed.breaker, limits: limits)
        try await component.start()
        let begin = ContinuousClock.now
        let stream = Task {
            // Each comes while the one before it is on its way.
            while await component.deaths.isEmpty, !Task.isCancelled {
                await component.putAtOnce(["hang"]) { _ in }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        try await eventually("the end is told") { await !component.deaths.isEmpty }
        // As long as it takes to make a component: a timer that was set for that is not waited for.
        #expect(ContinuousClock.now - begin < limits.start / 2)
        let deaths = await component.deaths
        #expect(deaths.first?.contains("within 1.0 seconds") == true, "\(deaths)")
        stream.cancel()
        _ = try? await stream.value
    }

    @Test func `by kill -9 is reported once, also when nobody calls`() async throws {
        let component = Installed.component(of: Installed.stars)
        try await component.start()
        let process = try #require(await component.processID)
        kill(process, SIGKILL)
        try await eventually("the end is told") { await !component.deaths.isEmpty }
        #expect(!exists(process))
        #expect(await component.deaths.count == 1)
        #expect(
            await component.deaths.first?.hasSuffix("was ended by SIGKILL (Killed).") == true)
        await #expect(throws: PortFailure.self) { try await component.put("a") }
        #expect(await component.deaths.count == 1)
    }

    @Test func `while it starts fails the launch, and trying again may help`() async throws {
        let component = Installed.component(of: Installed.breaker)
        let failure = await #expect(throws: LaunchFailure.self) {
            try await component.start(["trapsAtStart": true])
        }
        guard case .unavailable(let reason) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(reason.contains("was ended by SIG"))
        #expect(await component.deaths.isEmpty)
    }

    @Test func `at one call has answered all before it, however close they came`() async throws {
        let component = Installed.component(of: Installed.breaker)
        try await component.start()
        let answered = Mutex<[String]>([])
        await component.putAtOnce(["one", "two", "trap", "three"]) { id in
            answered.withLock { $0.append(id) }
        }
        try await eventually("the end is told") { await !component.deaths.isEmpty }
        #expect(answered.withLock { $0 } == ["one", "two"])
        #expect(await component.deaths.count == 1)
    }

    @Test func `does not take others along`() async throws {
        let other = Installed.component(of: Installed.breaker)
        try await other.start()
        try await other.put("a")
        _ = try await death("trap")
        #expect(
            try await other.put("b").answer == .items(inserted: ["b"], updated: [], unchanged: 0))
        await other.stop()
    }
}
