import AtriumKit
import NIOPosix
import PluginLoader
import TestSupport
import Testing

@testable import Host

/// Components that tell something by themselves as soon as they are made.
private struct ChattyLauncher: ComponentLauncher {
    let tallies: Int

    func launch(
        _ request: LaunchRequest, owner: any PortOwner,
        _ done: @escaping (Result<any ComponentPort, LaunchFailure>) -> Void
    ) -> LaunchCancellation {
        guard let loop = MultiThreadedEventLoopGroup.currentEventLoop else { return {} }
        return InProcessLauncher(loop: loop).launch(request, owner: owner) { result in
            done(result)
            guard case .success(let port) = result else { return }
            for number in 0..<tallies {
                let subject = Subject(item: "film\(number)")
                owner.port(port, sent: .raised([.tally(subject, Tally(count: 1, score: 4))]))
            }
        }
    }
}

/// What a component tells before it is part of its container is kept, up to a number of bytes.
@Suite(.timeLimit(.minutes(1))) struct EarlyEventsTests {
    private func host(tallies: Int) async throws -> TestRegistry {
        var limits = HostLimits()
        limits.earlyBytes = 10_000
        limits.restarts = 0
        return try await TestRegistry.start(
            limits: limits, workers: ChattyLauncher(tallies: tallies))
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

    @Test func `a component that tells more is not taken in, and the limit is named`() async throws
    {
        let host = try await host(tallies: 100)
        var refusal: String?
        do {
            try await host.apply(Self.films)
        } catch HostError.componentUnavailable("stars", let reason, _) {
            // Told before the component was restored: it does not get into the container at all.
            refusal = reason
        }
        if refusal == nil {
            try await until { try await host.status().components[2].state == .failed }
            refusal = try await host.status().components[2].reason
        }
        let reason = try #require(refusal)
        #expect(reason.contains("more than 10000 bytes"), "\(reason)")
        #expect(reason.contains("(earlyBytes)"), "\(reason)")
        try await host.end()
    }
}
