import AtriumKit
import Foundation
import NIOCore
import PluginLoader
import TestSupport
import Testing

@testable import Host

/// Random changes and random screen operations, against a plain look at every item.
///
/// Several screens at a time, some read slowly, some resumed from what they were sent last or before.
/// Whenever one is read, what its client has put together from snapshot and diffs is what a plain look
/// finds, and a revision of its own is never empty.
///
/// Where the seed is even the container has scopes, else it shows other lists by mode now and then. It is printed; `SCREENS_SEED` replays it, and
/// `SCREENS_STEPS` says how far.
@Suite(.timeLimit(.minutes(10))) struct ScreenPropertyTests {
    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    static let seeds: [UInt64] =
        number("SCREENS_SEED").map { [$0] } ?? [1, .random(in: 1...(.max / 2)) * 2]
    static let steps = number("SCREENS_STEPS").map(Int.init) ?? 50_000

    @Test(arguments: seeds)
    func `screens show what a plain look at every item finds, whatever happens`(
        seed: UInt64
    ) async throws {
        print("screens: seed \(seed), \(Self.steps) steps")
        try await Self.run(seed, steps: Self.steps, losing: nil)
    }

    @Test(arguments: seeds)
    func `the same holds with components in workers that are lost now and then`(
        seed: UInt64
    ) async throws {
        let steps = Self.steps / 25
        print("screens with workers: seed \(seed), \(steps) steps")
        try await Self.run(seed, steps: steps, losing: RemoteLauncher.Script())
    }

    @Test(arguments: seeds)
    func `a delegate that overrides nothing behaves as the default`(seed: UInt64) async throws {
        let steps = Self.steps / 5
        print("screens with delegates: seed \(seed), \(steps) steps")
        try await Self.run(
            seed, steps: steps, losing: nil, delegate: DelegateDefinition(plugin: "test.plain"))
    }

    private static func run(
        _ seed: UInt64, steps: Int, losing script: RemoteLauncher.Script?,
        delegate: DelegateDefinition? = nil
    ) async throws {
        let host = try await TestRegistry.start(
            in: TemporaryDirectory(inMemory: true),
            delegates: [DelegatePlugin(id: "test.plain", delegate: PlainDelegate.self)],
            workers: script.map { RemoteLauncher($0) as any ComponentLauncher }
                ?? NoWorkers())
        let scopes = seed.isMultiple(of: 2) ? ContainerDefinition.shelfScopes : []
        try await host.apply(
            .shelves(
                isolation: script == nil ? .daemon : .process, scopes: scopes, delegate: delegate))
        let world = ScreenWorld(
            host.registry, seed: seed, script: script, scopes: scopes, delegate: delegate)
        let failure: String? = await withCheckedContinuation { continuation in
            Task {
                await host.on { _ in
                    world.run(steps: steps) { continuation.resume(returning: $0) }
                }
            }
        }
        #expect(failure == nil, "seed \(seed): \(failure ?? "")")
        #expect(failure != nil || world.revisions > steps / 20)
        try await host.end()
    }
}

extension ContainerDefinition {
    /// Two lists, with what is said about their items; a delegate for each scope but the last, which has the
    /// container's.
    static func shelves(
        isolation: Isolation, scopes: [ScopeDefinition] = [], delegate: DelegateDefinition? = nil
    ) -> ContainerDefinition {
        var definition = films
        definition.name = "shelves"
        definition.components.insert(
            ComponentDefinition(
                name: "more", plugin: "org.atrium.catalog",
                hidesEmpty: hidesEmpty.contains("more"), sort: orders["more"] ?? []), at: 2)
        for place in definition.components.indices {
            definition.components[place].isolation = isolation
        }
        definition.scopes = scopes
        definition.delegate = delegate
        for place in scopes.indices.dropLast() { definition.scopes[place].delegate = delegate }
        return definition
    }

    /// The shelves that are left out while they have nothing, and the orders that they have of their own.
    static let hidesEmpty: Set = ["more"]
    static let orders = ["more": ["-rating", "title"]]

    static let shelfScopes = [
        ScopeDefinition(name: "both", contents: ["list", "more"]),
        ScopeDefinition(name: "turned", contents: ["more", "list"]),
        ScopeDefinition(name: "more", contents: ["more"]),
        ScopeDefinition(name: "tree", contents: ["list"], entered: ["more"]),
        ScopeDefinition(name: "found", contents: ["list"], searched: ["more", "list"]),
        ScopeDefinition(
            name: "modes", contents: ["more", "list"], entered: ["list", "more"],
            searched: ["list"]),
    ]
}

extension ListModes {
    static let shelfModes: [ListModes?] =
        ContainerDefinition.shelfScopes.map(\.lists) + [nil, nil]
}
