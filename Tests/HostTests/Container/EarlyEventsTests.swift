import AtriumKit
import NIOPosix
import PluginLoader
import TestSupport
import Testing

@testable import Host

/// Components that tell something by themselves as soon as they are made.
private struct ChattyLauncher: ComponentLauncher {
    let tallies: Int
    /// Whether it tells everything at once.
    let isTogether: Bool

    func launch(
        _ request: LaunchRequest, owner: any PortOwner,
        _ done: @escaping (Result<any ComponentPort, LaunchFailure>) -> Void
    ) -> LaunchCancellation {
        guard let loop = MultiThreadedEventLoopGroup.currentEventLoop else { return {} }
        return InProcessLauncher(loop: loop).launch(request, owner: owner) { result in
            done(result)
            guard case .success(let port) = result else { return }
            let events = (0..<tallies).map { number in
                ComponentEvent.tally(
                    Subject(item: "film\(number)"), Tally(count: 1, score: 4))
            }
            if isTogether { return owner.port(port, sent: .raised(events)) }
            for event in events { owner.port(port, sent: .raised([event])) }
        }
    }

    func describe(
        _ plugin: Plugin, _ done: @escaping (Result<[SettingDescription], LaunchFailure>) -> Void
    ) { plugin.describe(done) }
}

/// What a component tells before it is part of its container is kept, up to a number of bytes.
@Suite(.timeLimit(.minutes(1))) struct EarlyEventsTests {
    private func host(
        tallies: Int, atOnce isTogether: Bool = false, limit: Int = 10_000
    ) async throws -> TestRegistry {
        var limits = HostLimits()
        limits.earlyBytes = limit
        limits.restarts = 0
        return try await TestRegistry.start(
            limits: limits, workers: ChattyLauncher(tallies: tallies, isTogether: isTogether))
    }

    private static let films = ContainerDefinition.films.changed {
        $0.components[2].isolation = .process
    }

    @Test func `it is delivered once the component is part of its container`() async throws {
        let host = try await host(tallies: 10)
        try await host.apply(Self.films)
        try await host.put(.film("film3"))
        #expect(try await host.tally(of: "film3").tally.tally.score == 4)
        try await host.end()
    }

    @Test func `a component that reports more is not taken in, and the limit is named`()
        async throws
    {
        let host = try await host(tallies: 100)
        let reason = try await refusal(by: host)
        #expect(reason.contains("more than 10000 bytes"), "\(reason)")
        #expect(reason.contains("(earlyBytes)"), "\(reason)")
        try await host.end()
    }

    @Test func `much that is reported at once is sized and delivered a piece at a time`()
        async throws
    {
        let pieces = 20_000 / ReportedEvents.piece
        var host = try await host(tallies: 20_000, atOnce: true, limit: 4_000_000)
        let before = await host.on { $0.domain.slices.steps }
        let reason = try await refusal(by: host)
        #expect(reason.contains("more than 4000000 bytes"), "\(reason)")
        let steps = await host.on { $0.domain.slices.steps } - before
        #expect(steps > pieces / 2, "\(steps) steps")
        try await host.end()

        host = try await self.host(tallies: 20_000, atOnce: true, limit: 16 << 20)
        try await host.apply(Self.films)
        try await host.put(.film("film19999"))
        try await until { try await host.tally(of: "film19999").tally.tally.score == 4 }
        try await host.end()
    }

    /// Why the component was not taken in.
    private func refusal(by host: TestRegistry) async throws -> String {
        var refusal: String?
        do {
            try await host.apply(Self.films)
        } catch let error as HostError {
            // Told before the component was restored: it does not get into the container at all.
            let absence = try #require(error.absence)
            #expect(absence.component == "stars")
            refusal = absence.details
        }
        if refusal == nil {
            try await until { try await host.status().components[2].state == .failed }
            refusal = try await host.status().components[2].reason
        }
        return try #require(refusal)
    }
}
