import AtriumKit
import NIOCore
import PluginLoader
import Synchronization
import TestSupport
import Testing

@testable import Host

/// Screens that one process hands over to the next, while people write.
@Suite(.timeLimit(.minutes(3))) struct KeptScreenTests {
    private static let club = SubjectAddress(container: "films", item: nil)
    private static let heat = SubjectAddress(container: "films", item: "heat")

    /// Ann's screen.
    private static var request: ScreenRequest {
        ScreenRequest(container: "films", actor: Caller.ann.actor)
    }

    /// Who went on, in order.
    private final class Order: Sendable {
        let names = Mutex<[String]>([])
    }

    /// A host that was stopped, and what it handed over of a screen.
    private func handedOver() async throws -> (TemporaryDirectory, KeptScreen) {
        let host = try await TestRegistry.start(
            workers: HeldLauncher(HeldLauncher.Script(isHeld: false)))
        // The list's start is what others wait for.
        try await host.apply(.films.changed { $0.components[1].isolation = .process })
        try await host.put(.film("heat"), .film("alien"))
        try await host.cast(2, on: "heat")
        let client = try await ScreenClient(host, Self.request)
        try await client.catchUp()
        let kept = await host.on { $0.keptScreens.all { _ in 1 } }
        try await host.stop()
        return (host.directory, try #require(kept.first))
    }

    private func next(
        _ directory: TemporaryDirectory, _ script: HeldLauncher.Script
    ) async throws -> TestRegistry {
        try await TestRegistry.start(in: directory, workers: HeldLauncher(script), loads: false)
    }

    @Test func `calls that come before a screen is recognised wait for that, and reset nothing`()
        async throws
    {
        let (directory, kept) = try await handedOver()
        let script = HeldLauncher.Script()
        let host = try await next(directory, script)
        let reader = Mutex<ScreenReader?>(nil)
        let replies: [Result<Double?, HostError>] = try await host.callAll(6) {
            registry, index, reply in
            switch index {
            case 0: registry.cast(Self.heat, value: 4, by: .ann) { reply($0.map { _ in nil }) }
            case 1:
                registry.tally(Self.heat, actor: Caller.ann.actor) {
                    reply($0.map { $0.tally.mine })
                }
            case 2:
                registry.post(Self.club, parent: nil, text: "Well.", id: nil, by: .ann) {
                    reply($0.map { _ in nil })
                }
            case 3:
                registry.keptScreens.restore([kept], digest: { _ in 1 }) { _ in reply(.success(nil))
                }
            case 4:
                registry.openScreen(kept.request, by: .ann, isQuiet: true, wake: {}) { result in
                    reader.withLock { $0 = try? result.get() }
                    reply(result.map { _ in nil })
                }
            default:
                script.release()
                reply(.success(nil))
            }
        }
        #expect(try replies[1].get() == 4, "a read shows what was sent before it")
        for reply in replies { _ = try reply.get() }
        let found = try #require(reader.withLock { $0 })
        #expect(found.screen == kept.id)
        let revision = try #require(try await host.on { $0.screens.pull(found) }.get())
        #expect(revision.reset == nil)
        #expect(revision.base == kept.revision, "what was written meanwhile leads on from there")
        #expect(revision.step.lists.first?.edits.count == 1)
        try await host.end()
    }

    @Test
    func `what is to be judged once a screen is there waits for that, and for no other screen`()
        async throws
    {
        let (directory, kept) = try await handedOver()
        let script = HeldLauncher.Script()
        let host = try await next(directory, script)
        let order = Order()
        let replies: [Result<Bool, HostError>] = try await host.callAll(4) {
            registry, index, reply in
            switch index {
            case 0: registry.keptScreens.restore([kept], digest: { _ in 1 })
            case 1:
                registry.keptScreens.whenRestored(kept.id) {
                    order.names.withLock { $0.append("its own") }
                    reply(.success(registry.screens.find(kept.id, of: .ann) != nil))
                }
            case 2:
                registry.keptScreens.whenRestored(ScreenID("other")) {
                    order.names.withLock { $0.append("another") }
                    reply(.success(true))
                }
            default:
                order.names.withLock { $0.append("released") }
                script.release()
            }
            if index == 0 || index == 3 { reply(.success(true)) }
        }
        #expect(order.names.withLock { $0 } == ["another", "released", "its own"])
        for reply in replies { #expect(try reply.get()) }
        try await host.end()
    }

    @Test func `who stops before screens are recognised writes nothing that these would not know`()
        async throws
    {
        let (directory, kept) = try await handedOver()
        let script = HeldLauncher.Script()
        let host = try await next(directory, script)
        try await until {
            await host.on { $0.containers["films"]?.slot("stars")?.isAttached ?? false }
        }
        let replies: [Result<Int64, HostError>] = try await host.callAll(3) {
            registry, index, reply in
            switch index {
            case 0: registry.keptScreens.restore([kept], digest: { _ in 1 })
            case 1: registry.cast(Self.club, value: 4, by: .ann) { reply($0.map(\.sequence)) }
            default:
                registry.shutdown.endWaiting()
                registry.cast(Self.club, value: 4, by: .ann) { reply($0.map(\.sequence)) }
            }
            if index == 0 { reply(.success(0)) }
        }
        let stopping = HostError.storeUnavailable(
            reason: "The daemon is stopping.", retryAfter: 1)
        for reply in replies.dropFirst() {
            #expect(throws: stopping) { try reply.get() }
        }
        await host.on { _ in script.release() }
        #expect(await host.on { $0.keptScreens.all { _ in 2 } } == [kept], "as it was")
        try await host.end()
    }

    @Test func `what readers are about to pull is sent before screens are handed over`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put(.film("heat"))
        let client = try await ScreenClient(host, Self.request)
        try await client.catchUp()
        try await host.cast(5, on: "heat")
        let reader = client.reader
        let order = Mutex<[String]>([])
        let replies: [Result<Int?, HostError>] = try await host.callAll(2) {
            registry, index, reply in
            guard index == 1 else {
                return registry.shutdown.finishAccepted(within: .seconds(60)) { result in
                    order.withLock { $0.append("settled") }
                    reply(result.map { nil })
                }
            }
            let pulled = registry.screens.pull(reader)
            order.withLock { $0.append("pulled") }
            reply(pulled.map { $0?.revision })
        }
        #expect(try replies[1].get() == client.copy.revision + 1)
        #expect(order.withLock { $0 } == ["pulled", "settled"])
        try await host.end()
    }

    @Test func `what subscribers are about to pull is sent before connections are handed over`()
        async throws
    {
        let host = try await TestRegistry.start()
        let id = try await host.on { registry in
            Result { () throws(HostError) in
                try registry.bus.subscribe(patterns: [">"], after: nil, seesRestricted: false) {}
            }
        }.get()
        // Its first batch is empty; then it waits.
        _ = await host.on { $0.bus.poll(id, maxBytes: 1 << 16) }
        _ = await host.on { $0.bus.poll(id, maxBytes: 1 << 16) }
        await host.on {
            $0.bus.post(
                BusNotification(
                    time: Timestamp(milliseconds: 0), topic: "films.app.passing", payload: []))
        }
        let gaps = Mutex<[Int]>([])
        let replies: [Result<Void, HostError>] = try await host.callAll(2) {
            registry, index, reply in
            guard index == 1 else {
                return registry.shutdown.finishAccepted(within: .seconds(60)) { result in
                    let standing = registry.bus.state(of: id)
                    gaps.withLock { $0.append(standing?.gaps.count ?? -1) }
                    reply(result)
                }
            }
            while case .batch = registry.bus.poll(id, maxBytes: 1 << 16) {}
            reply(.success(()))
        }
        for reply in replies { try reply.get() }
        #expect(gaps.withLock { $0 } == [0])
        try await host.end()
    }
}
