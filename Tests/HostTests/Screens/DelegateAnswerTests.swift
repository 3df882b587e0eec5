import AtriumKit
import PluginLoader
import TestSupport
import Testing

@testable import Host

/// Writes down what it is asked, and answers some searches wrongly or at length.
private final class Clerk: ContainerDelegate {
    private let log: DelegateLog

    override class var settings: [Setting] { DelegateLog.settings }

    required init(context: DelegateContext) throws {
        log = try DelegateLog.named(in: context)
        try super.init(context: context)
    }

    override func screen(
        _ screen: ScreenReference, willShow next: ScreenChoices, after shown: ScreenChoices?
    ) -> ScreenChoices {
        let before = shown.map { "'\($0.search)' \($0.path) \($0.focus ?? "-")" } ?? "nothing"
        log.add("'\(next.search)' after \(before)")
        var next = next
        switch next.search {
        case "wrong": next.sort = ["no-such-field"]
        case "far": next.path = ["no-such-item"]
        case "long": container?.message(String(repeating: "é", count: 600), on: screen.id)
        case "short": next.search = "heat"
        default: break
        }
        return next
    }

    override func contents(
        _ component: ComponentReference, didSelect item: String, on screen: String,
        by actor: ActorID
    ) { container?.change(screen) { $0.focus = item } }
}

/// What delegates answer, and what they are asked.
@Suite(.timeLimit(.minutes(3))) struct DelegateAnswerTests {
    private static let plugins = [DelegatePlugin(id: "test.clerk", delegate: Clerk.self)]

    private func films(
        _ log: DelegateLog, logger: CapturedLog = CapturedLog()
    ) async throws -> TestRegistry {
        let host = try await TestRegistry.start(delegates: Self.plugins, logger: logger.logger)
        try await host.apply(.films.changed { $0.delegate = log.delegate(of: "test.clerk") })
        try await host.put(.film("heat", ["crime"]), .film("alien", ["horror"]))
        return host
    }

    @Test(arguments: ["wrong", "far"])
    func `an answer that can't be shown is logged with the plugin's name`(text: String)
        async throws
    {
        let logged = CapturedLog()
        let host = try await films(DelegateLog.make(), logger: logged)
        let client = try await ScreenClient(host)
        let id = client.id
        _ = try await host.call { $0.search(id, text, by: .ann, $1) }
        let events = logged.events.filter {
            $0["message"]
                == "a delegate's choices are invalid; the user's choices are shown"
        }
        #expect(events.count == 1)
        #expect(events.first?["plugin"] == "test.clerk")
        #expect(events.first?["container"] == "films")
        let what = text == "wrong" ? "no-such-field" : "no-such-item"
        #expect(events.first?["reason"]?.contains(what) == true, "\(events)")
        try await host.end()
    }

    @Test func `a message of more than 500 characters is cut`() async throws {
        let host = try await films(DelegateLog.make())
        let client = try await ScreenClient(host)
        try await client.catchUp()
        let id = client.id
        _ = try await host.call { $0.search(id, "long", by: .ann, $1) }
        let revision = try #require(try await client.pull())
        #expect(revision.message == String(repeating: "é", count: 500))
        try await host.end()
    }

    @Test func `it is asked with what the screen shows, whoever chose that`() async throws {
        let log = DelegateLog.make()
        let host = try await films(log)
        let client = try await ScreenClient(host)
        let id = client.id
        _ = try await host.call { $0.search(id, "short", by: .ann, $1) }
        #expect(log.taken() == ["'' after nothing", "'short' after '' [] -"])
        _ = try await host.call { $0.enter(id, item: "heat", by: .ann, $1) }
        #expect(log.taken() == ["'heat' after 'heat' [] -"], "after its own answer")
        _ = try await host.call { $0.search(id, "", by: .ann, $1) }
        #expect(log.taken() == ["'' after 'heat' [\"heat\"] -"])
        // Its own change, and what follows from the data.
        _ = try await host.call { $0.activate(id, item: "alien", by: .ann, $1) }
        try await client.catchUp { client.copy.focus == "alien" }
        _ = try await host.call { $0.search(id, "a", by: .ann, $1) }
        #expect(log.taken() == ["'a' after '' [\"heat\"] alien"])
        try await host.remove("heat", "alien")
        try await client.catchUp { client.copy.path.isEmpty && client.copy.focus.isEmpty }
        _ = try await host.call { $0.search(id, "b", by: .ann, $1) }
        #expect(log.taken() == ["'b' after 'a' [] -"])
        // The same once more.
        _ = try await host.call { $0.search(id, "b", by: .ann, $1) }
        #expect(log.taken() == ["'b' after 'b' [] -"])
        try await host.end()
    }

    @Test func `it is not asked about what is resumed`() async throws {
        let log = DelegateLog.make()
        let host = try await films(log)
        let client = try await ScreenClient(host)
        let id = client.id
        _ = try await host.call { $0.search(id, "short", by: .ann, $1) }
        try await client.catchUp()
        _ = log.taken()
        await client.leave()
        try await client.resume()
        try await client.catchUp()
        try await client.resume(revision: -1)
        try await client.catchUp()
        #expect(client.ids() == ["heat"])
        #expect(log.taken() == [])
        try await host.end()
    }

    @Test func `it is not asked about screens and parts that a restart brings back`() async throws {
        let (day, sleep) = (DelegateLog.make(), DelegateLog.make())
        let host = try await TestRegistry.start(delegates: Self.plugins)
        try await host.apply(
            PartTests.child("sleep").changed { $0.delegate = sleep.delegate(of: "test.clerk") })
        try await host.apply(
            PartTests.day("sleep").changed { $0.delegate = day.delegate(of: "test.clerk") })
        try await host.put(.film("nap"), .film("dream"), in: "sleep")
        try await host.put(.film("noon"), in: "day")
        let client = try await ScreenClient(host, PartTests.request)
        try await client.catchUp()
        _ = try await host.call { [part = client.part("sleep")] in
            $0.search(part, "nap", by: .ann, $1)
        }
        try await client.catchUp()
        #expect(client.ids(in: "sleep") == ["nap"])
        let kept = await host.on { $0.keptScreens.all { _ in 1 } }
        try await host.stop()
        _ = (day.taken(), sleep.taken())

        let again = try await TestRegistry.start(in: host.directory, delegates: Self.plugins)
        let count = try await again.call { (registry, reply: @escaping Reply<Int>) in
            registry.keptScreens.restore(kept, digest: { _ in 2 }) { reply(.success($0)) }
        }
        #expect(count == 1)
        var request = PartTests.request
        request.resume = .init(screen: client.id, revision: client.copy.revision)
        let next = try await ScreenClient(again, request)
        try await next.catchUp { next.ids(in: "sleep") == ["nap"] }
        #expect(day.taken() == [])
        #expect(sleep.taken() == [])
        // From then on it is.
        _ = try await again.call { [part = next.part("sleep")] in
            $0.search(part, "", by: .ann, $1)
        }
        #expect(sleep.taken() == ["'' after 'nap' [] -"])
        try await again.end()
    }
}
