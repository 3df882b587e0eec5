import AtriumKit
import PluginLoader
import TestSupport
import Testing

@testable import Host

/// Writes down what it is told of parts, and follows a search on one.
private final class Watcher: ContainerDelegate {
    private let log: DelegateLog

    override class var settings: [Setting] { DelegateLog.settings }

    required init(context: DelegateContext) throws {
        log = try DelegateLog.named(in: context)
        try super.init(context: context)
    }

    override func screen(
        _ screen: ScreenReference, part path: String, didShow choices: ScreenChoices
    ) {
        log.add("\(path) searches '\(choices.search)'")
        container?.change(screen.id) { $0.search = choices.search }
    }

    override func screen(_ screen: ScreenReference, part path: String, didSelect item: String) {
        log.add("\(path) chose \(item)")
        container?.change("\(screen.id)/\(path)") { $0.focus = item }
    }

    override func filters(
        _ component: ComponentReference, didSelect filter: String, in section: String,
        now selection: Selection, on screen: String
    ) { container?.message("That is \(filter).", on: screen) }
}

/// Containers in containers: parts of screens.
@Suite(.timeLimit(.minutes(3))) struct PartTests {
    /// A container that has these as parts, each following its genres, and a list of its own.
    static func day(_ parts: String..., hidesEmpty: Bool = false) -> ContainerDefinition {
        ContainerDefinition.films.changed { day in
            day.name = "day"
            day.title = "Day"
            day.components.removeLast(2)
            day.components += parts.map {
                ComponentDefinition(
                    name: $0, container: $0, follow: ["genre": "genre"], hidesEmpty: hidesEmpty)
            }
        }
    }

    static func child(_ name: String) -> ContainerDefinition {
        .films.changed {
            $0.name = name
            $0.title = nil
        }
    }

    /// A container with two parts, and films of two genres in each.
    static func host(
        hidesEmpty: Bool = false, limits: HostLimits = HostLimits()
    ) async throws -> TestRegistry {
        let host = try await TestRegistry.start(
            delegates: [DelegatePlugin(id: "test.watcher", delegate: Watcher.self)],
            limits: limits)
        try await host.apply(child("sleep"), child("work"))
        try await host.apply(day("sleep", "work", hidesEmpty: hidesEmpty))
        try await host.put(.film("nap", ["drama"]), .film("dream", ["horror"]), in: "sleep")
        try await host.put(.film("desk", ["drama"]), in: "work")
        try await host.put(.film("noon", ["drama"]), .film("night", ["horror"]), in: "day")
        return host
    }

    static let request = ScreenRequest(container: "day")

    @Test func `a screen shows its parts in one revision, each with choices of its own`()
        async throws
    {
        let host = try await Self.host()
        let client = try await ScreenClient(host, Self.request)
        let first = try #require(try await client.pull())
        #expect(first.revision == 1)
        #expect(first.parts.map(\.path) == ["sleep", "work"])
        #expect(first.parts.allSatisfy { $0.isNew && $0.container == $0.path })
        #expect(client.ids(in: "sleep") == ["dream", "nap"])
        #expect(client.ids(in: "work") == ["desk"])
        #expect(client.copy.components.map(\.name) == ["filters", "list", "sleep", "work"])
        #expect(client.copy.components.map(\.container) == [nil, nil, "sleep", "work"])

        let told = try await host.call { [part = client.part("sleep")] in
            $0.search(part, "nap", by: .ann, $1)
        }
        let next = try #require(try await client.pull())
        #expect(next.revision == told)
        #expect(next.step.isEmpty, "nothing but the part changed")
        #expect(next.parts.map(\.path) == ["sleep"])
        #expect(client.ids(in: "sleep") == ["nap"])
        #expect(client.ids() == ["night", "noon"])
        await expect(.componentNotFound(container: "day", component: "sleeep")) {
            try await host.call { [part = client.part("sleeep")] in
                $0.search(part, "", by: .ann, $1)
            }
        }
        try await host.end()
    }

    @Test func `a part follows a selection at the opening and after, in the same revision`()
        async throws
    {
        let host = try await Self.host()
        var request = Self.request
        request.selection = Selection(["genre": ["horror"]])
        let client = try await ScreenClient(host, request)
        try await client.catchUp()
        #expect(client.ids() == ["night"])
        #expect(client.ids(in: "sleep") == ["dream"])
        #expect(client.ids(in: "work") == [])
        let id = client.id
        let revision = client.copy.revision
        _ = try await host.call { $0.clear(id, by: .ann, $1) }
        _ = try #require(try await client.pull())
        #expect(client.copy.revision == revision + 1, "one for the screen and both parts")
        #expect(client.ids(in: "sleep") == ["dream", "nap"])
        #expect(client.ids(in: "work") == ["desk"])
        // A part may go its own way, until what it follows changes.
        _ = try await host.call { [part = client.part("sleep")] in
            $0.select(part, section: "genre", filter: "drama", by: .ann, $1)
        }
        _ = try await host.call { $0.search(id, "noon", by: .ann, $1) }
        try await client.catchUp()
        #expect(client.ids(in: "sleep") == ["nap"])
        _ = try await host.call {
            $0.select(id, section: "genre", filter: "horror", by: .ann, $1)
        }
        try await client.catchUp()
        #expect(client.ids(in: "sleep") == ["dream"])
        try await host.end()
    }

    @Test func `what is done in the part's container shows in it, and two parents share a view`()
        async throws
    {
        let host = try await Self.host()
        try await host.apply(
            Self.day("sleep").changed {
                $0.name = "week"
            })
        let day = try await ScreenClient(host, Self.request)
        let week = try await ScreenClient(host, ScreenRequest(container: "week"))
        let alone = try await ScreenClient(host, ScreenRequest(container: "sleep"))
        for client in [day, week, alone] { try await client.catchUp() }
        #expect(week.ids(in: "sleep") == ["dream", "nap"])
        let views = await host.on { $0.state.homes["sleep"]?.shared.views.count }
        #expect(views == 1)
        _ = try await host.call {
            $0.cast(
                SubjectAddress(container: "sleep", item: "nap"), value: 4, by: .bob, $1)
        }
        for client in [day, week, alone] { try await client.catchUp() }
        for list in [
            day.copy.parts["sleep"]?.lists["list"], week.copy.parts["sleep"]?.lists["list"],
            alone.copy.lists["list"],
        ] {
            #expect(list?.first { $0.id == "nap" }?.votes?.tally.count == 1)
        }
        try await host.end()
    }

    @Test func `changes of two parts that are read at once are one revision`() async throws {
        let host = try await Self.host()
        let client = try await ScreenClient(host, Self.request)
        try await client.catchUp()
        let before = client.copy.revision
        try await host.put(.film("doze"), in: "sleep")
        try await host.put(.film("mail"), in: "work")
        let next = try #require(try await client.pull())
        #expect(next.parts.map(\.path) == ["sleep", "work"])
        #expect(next.revision == before + 1)
        #expect(next.commits == 2)
        #expect(try await client.pull() == nil)
        try await host.end()
    }

    @Test func `a part that is hidden shows nothing, and all of it when it is shown again`()
        async throws
    {
        let host = try await Self.host()
        let client = try await ScreenClient(host, Self.request)
        try await client.catchUp()
        let id = client.id
        _ = try await host.call { [part = client.part("sleep")] in
            $0.search(part, "nap", by: .ann, $1)
        }
        _ = try await host.call { $0.setHidden(id, component: "sleep", true, by: .ann, $1) }
        try await client.catchUp()
        #expect(client.copy.parts.keys.sorted() == ["work"])
        try await host.put(.film("doze"), in: "sleep")
        #expect(try await client.pull() == nil)
        _ = try await host.call { $0.setHidden(id, component: "sleep", false, by: .ann, $1) }
        try await client.catchUp()
        #expect(client.ids(in: "sleep") == ["nap"], "it has kept what was searched")
        _ = try await host.call { $0.setHidden("day", "work", true, by: .ann, $1) }
        try await client.catchUp { client.copy.parts["work"] == nil }
        try await host.end()
    }

    @Test
    func `a part that has nothing for what it follows is left out where its definition says so`()
        async throws
    {
        let host = try await Self.host(hidesEmpty: true)
        let client = try await ScreenClient(host, Self.request)
        try await client.catchUp()
        let id = client.id
        _ = try await host.call {
            $0.select(id, section: "genre", filter: "horror", by: .ann, $1)
        }
        try await client.catchUp()
        #expect(client.copy.parts.keys.sorted() == ["sleep"])
        try await host.put(.film("fear", ["horror"]), in: "work")
        try await client.catchUp()
        #expect(client.ids(in: "work") == ["fear"])
        try await host.end()
    }

    @Test func `parts come and go under open screens`() async throws {
        let host = try await Self.host()
        let client = try await ScreenClient(host, Self.request)
        try await client.catchUp()
        let id = client.id
        _ = try await host.call {
            $0.select(id, section: "genre", filter: "horror", by: .ann, $1)
        }
        try await host.apply(Self.day("work"))
        try await client.catchUp { client.copy.parts["sleep"] == nil }
        try await until {
            await host.on { $0.state.homes["sleep"]?.shared.views.isEmpty } == true
        }
        try await host.apply(Self.day("work", "sleep"))
        try await client.catchUp { client.copy.parts["sleep"] != nil }
        #expect(client.ids(in: "sleep") == ["dream"], "it follows what is selected")
        #expect(client.copy.components.map(\.name) == ["filters", "list", "work", "sleep"])
        // What changes in the child changes in its parts.
        try await host.apply(Self.child("sleep").changed { $0.components.removeLast() })
        try await client.catchUp { client.copy.parts["sleep"]?.components.count == 3 }
        try await client.catchUp()
        let bytes = await host.on { registry in
            let screens = Array(registry.state.screens.screens.values)
            for screen in screens { screen.home?.close(screen) }
            return screens.map(\.account.bytes)
        }
        #expect(bytes == [0])
        #expect(await host.on { $0.state.screens.parts.isEmpty })
        #expect(await host.on { $0.state.homes.values.allSatisfy { $0.shared.views.isEmpty } })
        try await host.end()
    }

    @Test func `a container that is not there yet becomes a part when it comes`() async throws {
        let host = try await TestRegistry.start()
        let done = try await host.apply(Self.day("sleep"))
        #expect(
            done.results.first?.changes.contains(
                "component sleep: attached (the container sleep)") == true)
        let status = try await host.status(of: "day")
        #expect(status.state == .degraded)
        #expect(
            status.reason
                == "the component sleep is not shown: There is no container 'sleep'.")
        let client = try await ScreenClient(host, Self.request)
        try await client.catchUp()
        #expect(
            client.copy.components.last?.problem == "There is no container 'sleep'.")
        try await host.apply(Self.child("sleep"))
        try await client.catchUp { client.copy.parts["sleep"] != nil }
        try await client.catchUp { client.copy.components.last?.problem == nil }
        #expect(try await host.status(of: "day").state == .ready)
        try await host.end()
    }

    @Test func `a part that can't be shown says why, alone, and comes back`() async throws {
        let host = try await Self.host()
        let delegate = DelegateLog.make().delegate(of: "test.watcher")
        try await host.apply(Self.child("sleep").changed { $0.delegate = delegate })
        // There is no such plugin any more.
        let kept = try await host.restarted()
        let client = try await ScreenClient(kept, Self.request)
        try await client.catchUp()
        #expect(client.ids(in: "work") == ["desk"])
        #expect(client.copy.parts["sleep"] == nil)
        #expect(
            client.copy.problems["sleep"]
                == "What decides here is not available, so the call can't be approved: try again later."
        )
        #expect(try await kept.status(of: "sleep").reason?.contains("test.watcher") == true)
        try await kept.apply(Self.child("sleep"))
        try await client.catchUp { client.ids(in: "sleep") == ["dream", "nap"] }
        #expect(client.copy.problems["sleep"] == nil)
        try await kept.end()
    }

    @Test func `the delegate around a part is called, and may change the screen and the part`()
        async throws
    {
        let log = DelegateLog.make()
        let host = try await Self.host()
        try await host.apply(
            Self.day("sleep", "work").changed { $0.delegate = log.delegate(of: "test.watcher") })
        let client = try await ScreenClient(host, Self.request)
        try await client.catchUp()
        _ = try await host.call { [part = client.part("sleep")] in
            $0.search(part, "n", by: .ann, $1)
        }
        try await client.catchUp { client.ids() == ["night", "noon"] && !log.all.isEmpty }
        #expect(log.taken() == ["sleep searches 'n'"])
        _ = try await host.call { [part = client.part("sleep")] in
            $0.activate(part, item: "nap", by: .ann, $1)
        }
        try await client.catchUp { client.copy.parts["sleep"]?.focus == "nap" }
        #expect(log.taken() == ["sleep chose nap"])
        try await host.end()
    }
}
