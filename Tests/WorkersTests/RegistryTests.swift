import AtriumKit
import AtriumKitTesting
import Foundation
import Glibc
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

    /// A host; `likes` is a program, of which it then has a component, too, and `more` a plugin, of which it has one.
    init(
        limits: HostLimits = HostLimits(), callSeconds: Int? = nil,
        ofPlugin pluginSeconds: Int? = nil, likes: String? = nil, more: Plugin? = nil,
        delegate: ContainerDelegate.Type? = nil
    ) async throws {
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        loop = group.next()
        directory = try TemporaryDirectory()
        let plugin = try alias(of: Installed.stars, in: directory)
        stars = plugin.path
        let path = directory.path
        var breaker = Installed.breaker
        breaker.callSeconds = pluginSeconds
        let program = likes.map {
            Plugin(
                id: "org.test.likes", version: "1.0.0", kind: .votes, title: "Likes",
                code: .program($0), isolation: .process)
        }
        registry = try Registry(
            loop: loop,
            plugins: PluginLibrary(
                [plugin, breaker] + [program, more].compactMap(\.self),
                delegates: delegate.map { [DelegatePlugin(id: "test.own", delegate: $0)] } ?? []),
            workers: WorkerLauncher(
                loop: loop, executable: Installed.worker, logger: Installed.quiet),
            limits: limits, logger: Installed.quiet
        ) { outcomes throws(StoreError) in
            try Store(at: path, logger: Installed.quiet, outcomes: outcomes)
        }
        try await call { $0.startup.load($1) }
        var films = ContainerDefinition(
            name: "films", fields: Conformance.fields,
            components: [
                ComponentDefinition(
                    name: "list", plugin: Installed.breaker.id, callSeconds: callSeconds),
                ComponentDefinition(
                    name: "stars", plugin: Installed.stars.id,
                    settings: ["subjects": ["items", "container"]], isolation: .process),
            ] + (likes == nil ? [] : [ComponentDefinition(name: "likes", plugin: "org.test.likes")])
        )
        if let more {
            films.components.append(ComponentDefinition(name: "more", plugin: more.id))
        }
        if delegate != nil { films.delegate = DelegateDefinition(plugin: "test.own") }
        let definition = films
        _ = try await call {
            $0.structure.apply(
                [definition], dryRun: false, prune: false, by: Caller(actor: "unix:0"), $1)
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

    func vote(_ value: Double, in component: String? = nil, by user: Int) async throws -> Tally {
        try await onFilms {
            $0.votes.cast(value, on: nil, in: component, by: Caller(actor: "unix:\(user)"), $1)
        }.tally.tally
    }

    func put(_ id: String) async throws -> PutResult {
        try await onFilms {
            $0.contents.put(
                ItemBatch([ItemDraft(item: Item(id: id, fields: ["title": "t"]))]), in: nil,
                by: Caller(actor: "unix:0"), $1)
        }
    }

    /// Puts items, one after the other without waiting; gives why each can't be put, nil: it can.
    func putErrors(_ ids: [String]) async throws -> [HostError?] {
        try await onFilms { films, reply in
            let errors = Errors(ids.count)
            for (place, id) in ids.enumerated() {
                let item = ItemDraft(item: Item(id: id, fields: ["title": "t"]))
                films.contents.put(ItemBatch([item]), in: nil, by: Caller(actor: "unix:0")) {
                    result in
                    if case .failure(let error) = result { errors.all[place] = error }
                    errors.left -= 1
                    if errors.left == 0 { reply(.success(errors.all)) }
                }
            }
        }
    }

    /// How many items there are.
    func total() async throws -> Int {
        try await onFilms { $0.contents.list(ListRequest(limit: 1), $1) }.total
    }

    /// Used on the loop alone.
    private final class Errors {
        var all: [HostError?]
        var left: Int

        init(_ count: Int) { (all, left) = (Array(repeating: nil, count: count), count) }
    }

    func list() async throws -> [String] {
        try await onFilms { $0.contents.list(ListRequest(), $1) }.items.map(\.id).sorted()
    }

    /// Lists the sections of filters; nil: there is no component for them.
    func sections() async throws -> [SectionView]? {
        try await onFilms { $0.contents.list(ListRequest(facets: true), $1) }.sections
    }

    func status() async throws -> ContainerStatus {
        try await call { registry, reply in
            reply(
                Result { () throws(HostError) in
                    try registry.describe("films", hasDetails: true).status
                })
        }
    }

    func stop() async throws {
        try await call { $0.shutdown.run($1) }
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

    @Test func `a component finds the items of its container, from its worker`() async throws {
        let host = try await IsolatedHost()
        _ = try await host.put("one")
        let title = #"["title": AtriumKit.Value.text("t")]"#
        for (asked, found) in [("one", title), ("two", "nothing")] {
            let failure = await #expect(throws: HostError.self) {
                try await host.put("look-up-\(asked)")
            }
            guard case .refused(let reason, _) = failure else {
                Issue.record("\(String(describing: failure))")
                continue
            }
            #expect(reason == "found \(found)", "asked for \(asked)")
        }
        try await host.stop()
    }

    @Test func `a plugin that traps is refused its call and started again`() async throws {
        let host = try await IsolatedHost()
        #expect(try await host.put("one").inserted == 1)
        let failure = await #expect(throws: HostError.self) { try await host.put("trap") }
        guard case .componentFailed(let refusal) = failure, refusal.isOfCall else {
            Issue.record("\(String(describing: failure))")
            return
        }
        let reason = refusal.details
        #expect(reason.hasPrefix("The call putItems of 'trap' ended the component's worker"))
        #expect(reason.contains("was ended by SIG"))
        #expect(try await host.vote(5, by: 1).count == 1)
        // Its state is rebuilt: an item that was there is updated and not inserted.
        #expect(try await host.put("two").inserted == 1)
        #expect(try await host.put("one").inserted == 0)
        #expect(try await host.list() == ["one", "two"])
        try await host.stop()
    }

    @Test(
        .enabled(if: access("/usr/bin/python3", X_OK) == 0, "the program is in Python"),
        arguments: [
            ("os._exit(3)", "ended with status 3 when it was asked 'Values'"),
            ("signal.pause()", "there was no reply within 2"),
            (#"return {"sections": 1}"#, "answered 'Values' with what it does not return"),
        ])
    func `a program that fails at values is not sent them a third time, and the status has why`(
        does: String, reason: String
    ) async throws {
        let folder = try TemporaryDirectory()
        let program = try Plugin.python(
            .filters,
            """
            def Start(container, component, settings, fields):
                return {"observe": ["genres"], "sections": [{"id": "all", "title": "All", "input": "several"}]}

            def Values(values, cut):
                \(does)
            """, in: folder)
        let host = try await IsolatedHost(more: program)
        #expect(try await host.put("one").inserted == 1)
        for _ in 1...4 { #expect(try await host.sections()?.map(\.id) == ["all"]) }
        let status = try await host.status()
        #expect(status.components.last?.restarts?.count == 2, "\(status)")
        #expect(status.state == .degraded)
        let problem = status.reason ?? ""
        #expect(problem.contains("ended 2 times in a row when it was sent the values of 'genres'"))
        #expect(problem.contains(reason), "\(problem)")
        try await host.stop()
    }

    @Test func `a call that hangs is refused in its time, and so is what waits behind it`()
        async throws
    {
        var limits = HostLimits()
        limits.callTime = .seconds(5)
        let host = try await IsolatedHost(limits: limits)
        #expect(try await host.put("one").inserted == 1)
        let errors = try await host.putErrors(["hang", "two"])
        guard case .componentFailed(let refusal) = errors[0], refusal.isOfCall else {
            Issue.record("\(String(describing: errors[0]))")
            return
        }
        let reason = refusal.details
        #expect(reason.hasPrefix("The call putItems of 'hang' ended the component's worker"))
        #expect(reason.contains("did not answer the call 'putItems' within 5.0 seconds"))
        guard case .componentFailed(let behind) = errors[1], !behind.isOfCall else {
            Issue.record("\(String(describing: errors[1]))")
            return
        }
        #expect(behind.component == "list")
        #expect(behind.details.contains("waited") && behind.details.contains("behind"))
        #expect(try await host.put("three").inserted == 1)
        let again = try await host.putErrors(["hang"])
        guard case .componentFailed(let same) = again[0], same.isOfCall else {
            Issue.record("\(again)")
            return
        }
        #expect(same.details.hasPrefix("The call putItems of 'hang' ended the component's worker"))
        #expect(try await host.list() == ["one", "three"])
        try await host.stop()
    }

    @Test(arguments: [(1, 60), (nil, 1)])
    func `a component's own time for a call counts, then its plugin's, in place of that for all`(
        own: Int?, plugin: Int
    ) async throws {
        let host = try await IsolatedHost(callSeconds: own, ofPlugin: plugin)
        let errors = try await host.putErrors(["hang", "two"])
        guard case .componentFailed(let refusal) = errors[0], refusal.isOfCall else {
            Issue.record("\(String(describing: errors[0]))")
            return
        }
        let reason = refusal.details
        #expect(reason.contains("did not answer the call 'putItems' within 1.0 seconds"))
        guard case .componentFailed = errors[1] else {
            Issue.record("\(String(describing: errors[1]))")
            return
        }
        try await host.stop()
    }

    @Test(.enabled(if: access("/usr/bin/python3", X_OK) == 0, "the program is in Python"))
    func `a plugin that worked once is started again until it works again`() async throws {
        let folder = try TemporaryDirectory()
        let source = Checkout.root + "/Tests/Fixtures/Programs/likes/likes.py"
        let path = folder.path + "/likes.py"
        try FileManager.default.copyItem(atPath: source, toPath: path)
        var limits = HostLimits()
        limits.restartPause = .milliseconds(200)
        let host = try await IsolatedHost(limits: limits, likes: path)
        #expect(try await host.vote(3, in: "likes", by: 1).count == 1)
        // As when an update of its interpreter is under way.
        let works = try Data(contentsOf: URL(filePath: path))
        try Data("#!/usr/bin/python3\nraise SystemExit(7)\n".utf8).write(to: URL(filePath: path))
        for process in try workers(ofProgram: path) { kill(process, SIGKILL) }
        var last = ""
        try await eventually("calls are refused with the reason") {
            do {
                _ = try await host.vote(4, in: "likes", by: 2)
                return false
            } catch HostError.componentFailed(let failure) {
                last = failure.details
                return last.contains("started again at") && last.contains("status 7")
            }
        }
        try works.write(to: URL(filePath: path))
        try await eventually("it is started again: \(last)") {
            (try? await host.vote(4, in: "likes", by: 2))?.count == 2
        }
        try await host.stop()
    }
}
