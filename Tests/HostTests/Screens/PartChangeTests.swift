import AtriumKit
import PluginLoader
import TestSupport
import Testing

@testable import Host

/// Parts over time: restarts, and whatever happens in any order.
@Suite(.timeLimit(.minutes(3))) struct PartChangeTests {
    @Test func `parts of a screen of another process go on with what was chosen on them`()
        async throws
    {
        let host = try await PartTests.host()
        let client = try await ScreenClient(host, PartTests.request)
        _ = try await host.call { [part = client.part("sleep")] in
            $0.search(part, "nap", by: .ann, $1)
        }
        // It follows this no more, as it goes its own way.
        _ = try await host.call { [id = client.id] in
            $0.select(id, section: "genre", filter: "drama", by: .ann, $1)
        }
        _ = try await host.call { [part = client.part("sleep")] in $0.clear(part, by: .ann, $1) }
        try await client.catchUp()
        #expect(client.ids() == ["noon"])
        let kept = await host.on { registry in
            registry.keptScreens.all { revision in
                revision.parts.count * 10 + revision.step.lists.count
            }
        }
        #expect(kept.first?.parts["sleep"]?.search == "nap")
        #expect(kept.first?.parts["sleep"]?.selection == Selection())
        #expect(kept.first?.digest == 21)

        let again = try await host.restarted()
        #expect(
            try await again.call { registry, reply in
                registry.keptScreens.restore(
                    kept,
                    digest: { revision in revision.parts.count * 10 + revision.step.lists.count }
                ) { reply(.success($0)) }
            } == 1)
        var request = PartTests.request
        request.resume = .init(screen: client.id, revision: client.copy.revision)
        let resuming = request
        let reader = try await again.call { $0.openScreen(resuming, by: .ann, wake: {}, $1) }
        let next = try #require(try await again.on { $0.screens.pull(reader) }.get())
        #expect(next.base == client.copy.revision, "nothing is sent again: \(next.reset ?? "")")
        #expect(next.parts.isEmpty && next.step.isEmpty)
        // What is chosen now leads on from what was.
        _ = try await again.call { [part = client.part("sleep")] in
            $0.search(part, "", by: .ann, $1)
        }
        let wider = try #require(try await again.on { $0.screens.pull(reader) }.get())
        #expect(wider.parts.map(\.path) == ["sleep"])
        #expect(wider.parts.first?.step?.lists.first?.total == 2)
        try await again.end()
    }

    @Test func `a part that starts slowly holds its screen back for a second, and comes then`()
        async throws
    {
        let host = try await TestRegistry.start(
            workers: HeldLauncher(HeldLauncher.Script(isHeld: false)))
        try await host.apply(
            PartTests.child("sleep").changed { $0.components[1].isolation = .process })
        try await host.apply(PartTests.day("sleep"))
        try await host.put(.film("nap", ["drama"]), in: "sleep")
        let client = try await ScreenClient(host, PartTests.request)
        try await client.catchUp { client.ids(in: "sleep") == ["nap"] }
        let kept = await host.on { $0.keptScreens.all { _ in 1 } }
        try await host.stop()

        let script = HeldLauncher.Script()
        var limits = HostLimits()
        limits.startPatience = .seconds(10)
        let again = try await TestRegistry.start(
            in: host.directory, limits: limits, workers: HeldLauncher(script), loads: false)
        let count = try await again.call { (registry, reply: @escaping Reply<Int>) in
            registry.keptScreens.restore(kept, digest: { _ in 2 }) { reply(.success($0)) }
        }
        #expect(count == 1)
        #expect(await again.on { $0.containers["sleep"]?.loading.isUnderWay } == true)
        var request = PartTests.request
        request.resume = .init(screen: client.id, revision: client.copy.revision)
        let next = try await ScreenClient(again, request)
        try await next.catchUp { next.copy.problems["sleep"] == "It is being started." }
        #expect(next.copy.components.contains { $0.name == "list" })
        await again.on { _ in script.release() }
        try await next.catchUp { next.ids(in: "sleep") == ["nap"] }
        #expect(next.copy.problems["sleep"] == nil)
        try await again.end()
    }

    @Test func `nobody looks at a part that is hidden`() async throws {
        let host = try await PartTests.host()
        let client = try await ScreenClient(host, PartTests.request)
        try await client.catchUp()
        let id = client.id
        let audience = {
            await host.on { $0.containers["sleep"]?.slot("list")?.source.audience }
        }
        try await until { await audience() == 1 }
        _ = try await host.call { $0.setHidden(id, component: "sleep", true, by: .ann, $1) }
        try await until { await audience() == 0 }
        _ = try await host.call { $0.setHidden(id, component: "sleep", false, by: .ann, $1) }
        try await until { await audience() == 1 }
        _ = try await host.call { $0.setHidden("day", "sleep", true, by: .ann, $1) }
        try await until { await audience() == 0 }
        try await host.end()
    }

    @Test func `what a delegate says of a filter comes with what the filter shows`() async throws {
        let host = try await PartTests.host()
        try await host.apply(
            PartTests.day("sleep", "work").changed {
                $0.delegate = DelegateLog.make().delegate(of: "test.watcher")
            })
        let client = try await ScreenClient(host, PartTests.request)
        try await client.catchUp()
        let (id, reader) = (client.id, client.reader)
        // What there is is read right after the choice, too, which its parts take a while to follow.
        var told = try await host.on { registry in
            registry.select(id, section: "genre", filter: "drama", by: .ann) { _ in }
            return registry.screens.pull(reader)
        }.get()
        try await until {
            if told?.message == nil { told = try await host.on { $0.screens.pull(reader) }.get() }
            return told?.message != nil
        }
        #expect(told?.message == "That is drama.")
        #expect(told?.step.lists.isEmpty == false, "the list is narrower in the same revision")
        #expect(told?.parts.contains { $0.path == "sleep" } == true, "so does what follows")
        try await host.end()
    }

    @Test func `parts in place of others are all there, also where they have the names of those`()
        async throws
    {
        let host = try await PartTests.host()
        let day = { (names: [String], container: String) in
            PartTests.day().changed {
                $0.components += names.map { ComponentDefinition(name: $0, container: container) }
            }
        }
        let client = try await ScreenClient(host, PartTests.request)
        let names = (1...20).map { "p\($0)" }
        try await host.apply(day(names, "sleep"))
        try await client.catchUp { client.copy.parts.count == 20 }
        // Both those before and those after would be too many.
        let others = (1...20).map { "q\($0)" }
        try await host.apply(day(others, "sleep"))
        try await client.catchUp { Set(client.copy.parts.keys) == Set(others) }
        try await host.apply(day(others, "work"))
        try await client.catchUp { client.ids(in: "q20") == ["desk"] }
        let known = await host.on { Set($0.state.screens.parts.keys) }
        #expect(known == Set(others.map(client.part)))
        await host.on { registry in
            for screen in registry.state.screens.screens.values { screen.home?.close(screen) }
        }
        #expect(await host.on { $0.state.screens.parts.isEmpty })
        try await host.end()
    }

    @Test func `nothing keeps the screens of a container that is gone, also where it was a part`()
        async throws
    {
        let host = try await PartTests.host()
        let client = try await ScreenClient(host, PartTests.request)
        try await client.catchUp()
        #expect(client.copy.parts["sleep"] != nil)
        let probes = await host.on { registry in
            ["sleep", "day"].map { ScreensProbe(registry.state.homes[$0]) }
        }
        await host.on { $0.state.remove("sleep") }
        try await until { await host.on { _ in probes[0].screens == nil } }
        try await client.catchUp { client.copy.parts["sleep"] == nil }
        #expect(await host.on { $0.state.screens.parts.count } == 1)
        _ = try await host.call { $0.structure.delete("day", purge: false, by: .ann, $1) }
        try await until { await host.on { _ in probes[1].screens == nil } }
        #expect(await host.on { $0.state.screens.parts.isEmpty })
        #expect(await host.on { $0.state.homes["work"]?.shared.views.isEmpty } == true)
        try await host.end()
    }
}

/// Shows whether the screens of a container still exist.
private final class ScreensProbe: @unchecked Sendable {  // only the loop of its test reads it
    private(set) weak var screens: ContainerScreens?

    init(_ screens: ContainerScreens?) { self.screens = screens }
}
