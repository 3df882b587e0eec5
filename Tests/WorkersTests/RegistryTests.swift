import AtriumKit
import AtriumKitTesting
import Foundation
import Host
import NIOCore
import NIOPosix
import PluginLoader
import Store
import TestSupport
import Testing

@testable import Workers

/// A whole host whose components live in real workers.
final class IsolatedHost: Sendable {
    let registry: Registry
    /// The stars' library under a path that no other test uses, by which its workers are known.
    let stars: String
    private let directory: TemporaryDirectory
    private let group: MultiThreadedEventLoopGroup
    private let loop: any EventLoop

    init(
        limits: HostLimits = HostLimits(), delegate: ContainerDelegate.Type? = nil
    ) async throws {
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        loop = group.next()
        directory = try TemporaryDirectory()
        let plugin = try alias(of: Installed.stars, in: directory)
        stars = plugin.path
        let path = directory.path
        registry = try Registry(
            loop: loop,
            plugins: PluginLibrary(
                [plugin, Installed.breaker],
                delegates: delegate.map { [DelegatePlugin(id: "test.own", delegate: $0)] } ?? []),
            workers: WorkerLauncher(
                loop: loop, executable: Installed.worker, logger: Installed.quiet),
            limits: limits, logger: Installed.quiet
        ) { outcomes throws(StoreError) in
            try Store(at: path, logger: Installed.quiet, outcomes: outcomes)
        }
        try await call { $0.load($1) }
        var films = ContainerDefinition(
            name: "films", fields: Conformance.fields,
            components: [
                ComponentDefinition(name: "list", plugin: Installed.breaker.id),
                ComponentDefinition(
                    name: "stars", plugin: Installed.stars.id,
                    settings: ["subjects": ["items", "container"]], isolation: .process),
            ])
        if delegate != nil { films.delegate = DelegateDefinition(plugin: "test.own") }
        let definition = films
        _ = try await call {
            $0.apply([definition], dryRun: false, prune: false, by: Caller(actor: "unix:0"), $1)
        }
    }

    func call<Answer: Sendable>(
        _ body: @escaping @Sendable (Registry, @escaping Reply<Answer>) -> Void
    ) async throws -> Answer {
        try await answer { reply in
            loop.execute { body(self.registry, reply) }
        }
    }

    private func onFilms<Answer: Sendable>(
        _ body: @escaping @Sendable (Container, @escaping Reply<Answer>) -> Void
    ) async throws -> Answer {
        try await call { registry, reply in
            registry.find("films") { found in
                switch found {
                case .success(let films): body(films, reply)
                case .failure(let error): reply(.failure(error))
                }
            }
        }
    }

    func vote(_ value: Double, by user: Int) async throws -> Tally {
        try await onFilms {
            $0.cast(value, on: nil, in: nil, by: Caller(actor: "unix:\(user)"), $1)
        }.tally.tally
    }

    func put(_ id: String) async throws -> PutResult {
        try await onFilms {
            $0.put(
                [ItemDraft(item: Item(id: id, fields: ["title": "t"]))], in: nil,
                by: Caller(actor: "unix:0"), $1)
        }
    }

    /// Why an item can't be put; nil: it can.
    func putError(_ id: String) async throws -> HostError? {
        do {
            _ = try await put(id)
            return nil
        } catch let error as HostError {
            return error
        }
    }

    /// How many items there are.
    func total() async throws -> Int {
        try await onFilms { $0.list(ListRequest(limit: 1), $1) }.total
    }

    func list() async throws -> [String] {
        try await onFilms { $0.list(ListRequest(), $1) }.items.map(\.id).sorted()
    }

    func stop() async throws {
        try await call { $0.stop($1) }
        try await group.shutdownGracefully()
    }
}

@Suite(.timeLimit(.minutes(3)), .serialized) struct `A host whose components live in workers` {
    @Test func `votes go on after kill -9 of their worker, and none is lost`() async throws {
        let host = try await IsolatedHost()
        #expect(try await host.vote(5, by: 1) == Tally(count: 1, score: 5, histogram: ["5": 1]))
        let first = try workers(of: host.stars)
        #expect(first.count == 1)
        for process in first { kill(process, SIGKILL) }
        #expect(
            try await host.vote(2, by: 2)
                == Tally(count: 2, score: 3.5, histogram: ["2": 1, "5": 1]))
        #expect(
            try await host.vote(4, by: 1)
                == Tally(count: 2, score: 3, histogram: ["2": 1, "4": 1]))
        #expect(try workers(of: host.stars).filter { !first.contains($0) }.count == 1)
        try await host.stop()
        try await eventually("no worker is left") { try workers(of: host.stars).isEmpty }
    }

    @Test func `a plugin that traps is refused its call and started again`() async throws {
        let host = try await IsolatedHost()
        #expect(try await host.put("one").inserted == 1)
        let failure = await #expect(throws: HostError.self) { try await host.put("trap") }
        guard case .refused(let reason, _) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(reason.hasPrefix("The call putItems of 'trap' ended the component's worker"))
        #expect(reason.contains("was ended by SIG"))
        #expect(try await host.vote(5, by: 1).count == 1)
        // Its state is rebuilt: an item that was there is updated and not inserted.
        #expect(try await host.put("two").inserted == 1)
        #expect(try await host.put("one").inserted == 0)
        #expect(try await host.list() == ["one", "two"])
        try await host.stop()
    }

    @Test func `a call that hangs is refused in its time, and so is what waits behind it`()
        async throws
    {
        var limits = HostLimits()
        limits.callTime = .seconds(5)
        let host = try await IsolatedHost(limits: limits)
        #expect(try await host.put("one").inserted == 1)
        async let hanging = host.putError("hang")
        async let behind = host.putError("two")
        guard case .refused(let reason, _) = try await hanging else {
            Issue.record("\(String(describing: try await hanging))")
            return
        }
        #expect(reason.hasPrefix("The call putItems of 'hang' ended the component's worker"))
        #expect(reason.contains("did not answer the call 'putItems' within 5.0 seconds"))
        // Which of the two came first is not said.
        switch try await behind {
        case nil: break
        case .componentUnavailable("list", let reason, _):
            #expect(reason.contains("waited"), "\(reason)")
        case let other: Issue.record("\(String(describing: other))")
        }
        #expect(try await host.put("three").inserted == 1)
        let again = try await host.putError("hang")
        guard case .refused(let same, _) = again else {
            Issue.record("\(String(describing: again))")
            return
        }
        #expect(same.hasPrefix("The call putItems of 'hang' ended the component's worker"))
        #expect(try await host.list().contains("three"))
        try await host.stop()
    }
}
