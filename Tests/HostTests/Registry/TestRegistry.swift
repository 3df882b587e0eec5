import AtriumKit
import Catalog
import CommentThreads
import Facets
import Logging
import NIOCore
import NIOPosix
import PluginLoader
import Stars
import Store
import Synchronization
import TestSupport
import Threads

@testable import Host

/// A registry on an event loop of its own, over a real store in a directory of its own, with the
/// four built-in plugins in process.
final class TestRegistry: Sendable {
    let registry: Registry
    let store: Store
    let directory: TemporaryDirectory
    private let group: MultiThreadedEventLoopGroup
    private let loop: any EventLoop

    private init(
        _ registry: Registry, _ store: Store, _ directory: TemporaryDirectory,
        _ group: MultiThreadedEventLoopGroup, _ loop: any EventLoop
    ) {
        self.registry = registry
        self.store = store
        self.directory = directory
        self.group = group
        self.loop = loop
    }

    /// Opens the store of a directory, by default a new one, and loads what it holds, or begins to.
    static func start(
        in directory: TemporaryDirectory? = nil, plugins: [Plugin] = .builtIn,
        delegates: [DelegatePlugin] = [],
        limits: HostLimits = HostLimits(), logger: Logger = .silent,
        storeLogger: Logger = .silent,
        workers: sending any ComponentLauncher = NoWorkers(), loads: Bool = true,
        secondsATick: Int64 = 1, clock: (@Sendable () -> Timestamp)? = nil
    ) async throws -> TestRegistry {
        let directory = try directory ?? TemporaryDirectory()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let opened = Mutex<Store?>(nil)
        let ticks = Atomic<Int64>(1_800_000_000_000)
        let registry = try Registry(
            loop: loop, plugins: PluginLibrary(plugins, delegates: delegates), workers: workers,
            limits: limits,
            logger: logger,
            clock: clock ?? {
                let time = ticks.wrappingAdd(secondsATick * 1_000, ordering: .relaxed).newValue
                return Timestamp(milliseconds: time)
            },
            openStore: { outcomes throws(StoreError) in
                let store = try Store(
                    at: directory.path, logger: storeLogger, probeInterval: .seconds(3_600),
                    outcomes: outcomes)
                opened.withLock { $0 = store }
                return store
            })
        guard let store = opened.withLock({ $0 }) else { throw HostError.screenNotFound("") }
        let host = TestRegistry(registry, store, directory, group, loop)
        try await host.call { (registry, reply: @escaping Reply<Void>) in
            // Without waiting for components: once it is known what there is.
            registry.startup.load(
                { if loads { reply($0) } }, known: { if !loads { reply(.success(())) } })
        }
        return host
    }

    /// Makes a call on the loop and waits for its reply.
    func call<T: Sendable>(
        _ body: @escaping @Sendable (Registry, @escaping Reply<T>) -> Void
    ) async throws -> T {
        try await answer { reply in
            loop.execute { body(self.registry, reply) }
        }
    }

    /// Makes calls in one turn of the loop, so that none is committed before the last is made, and
    /// waits for all replies.
    func callAll<T: Sendable>(
        _ count: Int,
        _ body: @escaping @Sendable (Registry, _ index: Int, @escaping Reply<T>) -> Void
    ) async throws -> [Result<T, HostError>] {
        let replies = Replies<T>(count)
        return try await answer { (answered: @escaping Reply<[Result<T, HostError>]>) in
            loop.execute {
                for index in 0..<count {
                    body(self.registry, index) { result in
                        if let all = replies.add(result, at: index) { answered(.success(all)) }
                    }
                }
            }
        }
    }

    /// Reads something on the loop.
    func on<T: Sendable>(_ body: @escaping @Sendable (Registry) -> T) async -> T {
        await withCheckedContinuation { continuation in
            loop.execute {
                continuation.resume(returning: body(self.registry))
            }
        }
    }

    /// Ends in good order.
    func stop() async throws {
        try await call { $0.shutdown.run($1) }
        try await group.shutdownGracefully()
    }

    /// Ends as if the process had been killed; replies may never come.
    func kill() async throws {
        store.abandon()
        try await group.shutdownGracefully()
    }

    /// Ends in good order and starts again on the same directory.
    func restarted() async throws -> TestRegistry {
        try await stop()
        return try await .start(in: directory)
    }

    /// Ends in good order; what it wrote goes with the last who refers to it.
    func end() async throws { try await stop() }
}

/// Replies that come in any order.
private final class Replies<T: Sendable>: Sendable {
    private let state: Mutex<(results: [Result<T, HostError>?], missing: Int)>

    init(_ count: Int) {
        state = Mutex((Array(repeating: nil, count: count), count))
    }

    /// All of them, once the last is there.
    func add(_ result: Result<T, HostError>, at index: Int) -> [Result<T, HostError>]? {
        state.withLock { state in
            state.results[index] = result
            state.missing -= 1
            return state.missing == 0 ? state.results.compactMap { $0 } : nil
        }
    }
}

extension Logger {
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

/// For registries without worker processes.
struct NoWorkers: ComponentLauncher {
    func launch(
        _ request: LaunchRequest, owner: any PortOwner,
        _ done: @escaping (Result<any ComponentPort, LaunchFailure>) -> Void
    ) -> LaunchCancellation {
        done(.failure(.failed(reason: "There are no workers here.")))
        return {}
    }

    func describe(
        _ plugin: Plugin, _ done: @escaping (Result<[SettingDescription], LaunchFailure>) -> Void
    ) { plugin.describe(done) }
}

extension [Plugin] {
    /// The four built-in plugins.
    static var builtIn: [Plugin] {
        [
            .inProcess("org.atrium.catalog", .contents, Catalog.self),
            .inProcess("org.atrium.facets", .filters, Facets.self),
            .inProcess("org.atrium.stars", .votes, Stars.self),
            .inProcess("org.atrium.threads", .comments, Threads.self),
        ]
    }
}

extension Plugin {
    /// Lists its settings, as its code is in this process.
    func describe(_ done: (Result<[SettingDescription], LaunchFailure>) -> Void) {
        done(.success((settings ?? []).map { SettingDescription($0) }))
    }

    static func inProcess(
        _ id: String, _ kind: Kind, _ component: any Component.Type
    ) -> Plugin {
        Plugin(
            id: id, version: "0.1.0", kind: kind, title: id, library: "", component: component)
    }
}
