import AtriumKit
import PluginLoader
import Synchronization
import TestSupport
import Testing

@testable import Host

/// Calls that end workers, and components that end by themselves.
@Suite(.timeLimit(.minutes(2))) struct PoisonTests {
    private let script = RemoteLauncher.Script()

    private func films(
        limits: HostLimits = HostLimits(), clock: (@Sendable () -> Timestamp)? = nil
    ) async throws -> TestRegistry {
        let host = try await TestRegistry.start(
            limits: limits, workers: RemoteLauncher(script), clock: clock)
        try await host.apply(.films.changed { $0.components[2].isolation = .process })
        try await host.put(.film("heat"), .film("alien"), .film("jaws"), .film("brazil"))
        script.lose(atVotes: [1])
        return host
    }

    private func refusal(_ body: () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch HostError.componentFailed(let failure) where failure.isOfCall {
            // What the log has is not for everybody.
            #expect(failure.reason.hasPrefix("The component failed whenever this call was made"))
            return failure.details
        } catch {
            return "\(error)"
        }
    }

    @Test func `a call that ended two workers is refused by name, and the component is there`()
        async throws
    {
        let host = try await films()
        let first = await refusal { try await host.cast(1, on: "heat") }
        #expect(first?.hasPrefix("The call castBallot of 'heat' ended") == true, "\(first ?? "")")
        let again = await refusal { try await host.cast(1, on: "heat") }
        #expect(again?.hasPrefix("The call castBallot of 'heat' ended") == true, "\(again ?? "")")
        #expect(try await host.cast(4, on: "heat").tally.tally.count == 1)
        #expect(script.starts == 3, "it was made once more, and then no worker ended any more")

        let status = try await host.status().components[2]
        #expect(status.state == .attached)
        let restarts = try #require(status.restarts)
        #expect(restarts.count == 2 && restarts.failures == 0 && restarts.next == nil)
        #expect(restarts.refuses.count == 1)
        #expect(restarts.refuses.first?.hasPrefix("castBallot of 'heat', until 20") == true)
        try await host.end()
    }

    @Test func `many calls that end workers do not end the component`() async throws {
        var limits = HostLimits()
        limits.restarts = 2
        let host = try await films(limits: limits)
        for item in ["heat", "alien", "jaws", "brazil"] {
            let reason = await refusal { try await host.cast(1, on: item) }
            #expect(reason?.contains("castBallot of '\(item)' ended") == true, "\(reason ?? "")")
        }
        #expect(try await host.cast(4, on: "heat").tally.tally.count == 1)
        #expect(try await host.status().components[2].state == .attached)
        try await host.end()
    }

    @Test func `calls beside one that ends workers are answered`() async throws {
        let host = try await films()
        let results: [Result<VoteResult, HostError>] = try await host.callAll(9) {
            registry, index, reply in
            registry.cast(
                SubjectAddress(container: "films"), value: index == 4 ? 1 : 4,
                by: Caller(actor: "unix:\(index)"), reply)
        }
        #expect(results.compactMap { try? $0.get().tally.tally.count } == Array(1...8))
        guard case .failure(.componentFailed(let failure)) = results[4], failure.isOfCall else {
            Issue.record("\(results[4])")
            return
        }
        try await host.end()
    }

    @Test func `one that ends workers for two people is refused to all, for a while`() async throws
    {
        let time = Mutex<Int64>(1_800_000_000_000)
        let host = try await films(clock: {
            Timestamp(milliseconds: time.withLock { $0 })
        })
        for caller in [Caller.ann, .bob] {
            #expect(await refusal { try await host.cast(1, on: "heat", by: caller) } != nil)
        }
        try await host.cast(4, on: "alien")
        let starts = script.starts
        let other = Caller(actor: "unix:77")
        #expect(await refusal { try await host.cast(1, on: "heat", by: other) } != nil)
        #expect(script.starts == starts)
        script.lose(atVotes: [])
        #expect(await refusal { try await host.cast(1, on: "heat", by: other) } != nil)
        time.withLock { $0 += 601_000 }
        #expect(try await host.cast(1, on: "heat", by: other).tally.tally.count == 1)
        try await host.end()
    }

    @Test func `values that end two workers are not sent again, until they change`() async throws {
        let host = try await TestRegistry.start(workers: RemoteLauncher(script))
        try await host.apply(.films.changed { $0.components[0].isolation = .process })
        try await host.put(.film("heat"))
        script.loseAtValues(true)
        for _ in 1...4 { _ = try await host.list(facets: true) }
        #expect(script.starts == 3, "a worker ended at each of the first two calls")
        let ill = try await host.status()
        let reason = "ended 2 times in a row when it was sent the values of 'genres', and is sent"
        #expect(ill.state == .degraded)
        #expect(ill.reason?.contains("component filters \(reason)") == true, "\(ill.reason ?? "")")
        #expect(ill.reason?.hasSuffix(": It was killed.") == true, "\(ill.reason ?? "")")
        #expect(ill.components[0].state == .attached)
        #expect(ill.components[0].reason?.hasPrefix("It \(reason)") == true)

        script.loseAtValues(false)
        try await host.put(.film("alien", ["horror"]))
        try await until {
            let page = try await host.list(facets: true)
            return page.sections?[0].filters.map(\.id) == ["drama", "horror"]
        }
        #expect(try await host.status().state == .ready)
        #expect(try await host.status().components[0].reason == nil)
        try await host.end()
    }

    @Test func `answers that are wrong again and again degrade the container, with longer pauses`()
        async throws
    {
        let host = try await TestRegistry.start(workers: RemoteLauncher(script))
        try await host.apply(.films.changed { $0.components[0].isolation = .process })
        try await host.put(.film("heat"))
        script.answerWrongly(["sections"])
        for count in 1...3 {
            await #expect(throws: HostError.self) { try await host.list(facets: true) }
            // Another call that is answered rightly does not end the row.
            _ = try await host.list("films", Selection(["genre": ["drama"]]))
            try await until { try await host.status().components[0].state == .attached }
            let status = try await host.status()
            let reason =
                "answered the call 'sections' wrongly \(count) times in a row: It answered with "
                + "nonsense."
            #expect(status.state == (count == 1 ? .ready : .degraded))
            #expect(status.reason?.contains(reason) ?? false == (count > 1), "\(status)")
            #expect(status.components[0].reason == (count == 1 ? nil : "It \(reason)"))
        }
        #expect(try await host.status().components[0].restarts?.failures == 2)

        script.answerWrongly([])
        _ = try await host.list(facets: true)
        let well = try await host.status()
        #expect(well.state == .ready && well.components[0].reason == nil)
        #expect(well.components[0].restarts?.failures == 0)
        try await host.end()
    }

    @Test func `a component that is ill is started until it is there, and says so`() async throws {
        var limits = HostLimits()
        limits.restarts = 1
        limits.restartPause = .milliseconds(100)
        let log = CapturedLog()
        let host = try await TestRegistry.start(
            limits: limits, logger: log.logger, workers: RemoteLauncher(script))
        try await host.apply(.films.changed { $0.components[2].isolation = .process })
        let subscribe = { (seesRestricted: Bool) in
            try await host.call { registry, reply in
                reply(
                    Result { () throws(HostError) in
                        try registry.bus.subscribe(
                            patterns: ["films.components.ended", "films.components.recovered"],
                            after: nil, seesRestricted: seesRestricted, wake: {})
                    })
            }
        }
        let subscription = try await subscribe(false)
        let moderator = try await subscribe(true)
        script.lose(1)
        script.failStarts(100_000)
        await #expect {
            try await host.cast(4)
        } throws: {
            guard let absence = ($0 as? HostError)?.absence, absence.component == "stars" else {
                return false
            }
            // It ended once at most: since then no start has succeeded.
            return absence.details.contains("could not be started ")
                && absence.details.contains(", and is started again at 20")
                && absence.details.contains("It ended at once.")
        }
        let ill = try await host.status()
        #expect(ill.components[2].state == .failed)
        #expect(ill.components[2].restarts?.next != nil)
        #expect(ill.components[2].restarts?.cause == "It ended at once.")
        #expect(
            await host.on { $0.restartsByPlugin(hasDetails: true)["org.atrium.stars"]?.count } == 1)
        #expect(try await host.status().state == .degraded)

        script.failStarts(0)
        try await until { try await host.status().components[2].state == .attached }
        #expect(try await host.cast(4).tally.tally.count == 1)
        let well = try await host.status().components[2].restarts
        #expect((well?.count ?? 0) >= 2 && well?.failures == 0 && well?.next == nil)
        #expect(log.lines.count { $0.contains("a component can't be started") } == 1)
        #expect(log.lines.contains { $0.contains("a stalled or failed component was attached") })
        let batch = try await host.call { $0.bus.pull(subscription, maxBytes: 1 << 20, reply: $1) }
        let told = (batch?.content.notifications ?? []).map(\.topic)
        #expect(told.dropLast().allSatisfy { $0 == "films.components.ended" } && told.count >= 3)
        #expect(told.last == "films.components.recovered")
        let full = try await host.call { $0.bus.pull(moderator, maxBytes: 1 << 20, reply: $1) }
        for (batch, hasReason) in [(batch, false), (full, true)] {
            let payloads = (batch?.content.notifications ?? []).map {
                String(decoding: $0.payload, as: UTF8.self)
            }
            #expect(payloads.contains { $0.contains("reason") } == hasReason, "\(payloads)")
            #expect(payloads.first?.contains(#""failures":1"#) == true, "\(payloads)")
        }
        try await host.end()
    }
}
