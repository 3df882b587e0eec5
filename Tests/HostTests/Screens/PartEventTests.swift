import AtriumKit
import PluginLoader
import TestSupport
import Testing

@testable import Host

/// Writes down what components of parts report.
private final class Listener: ContainerDelegate {
    private let log: DelegateLog

    override class var settings: [Setting] { DelegateLog.settings }

    required init(context: DelegateContext) throws {
        log = try DelegateLog.named(in: context)
        try super.init(context: context)
    }

    private func hear(_ part: PartReference, _ component: ComponentReference, _ what: String) {
        log.add("\(part.path) (\(part.container)/\(component.name)): \(what)")
    }

    override func part(
        _ part: PartReference, contents component: ComponentReference,
        didChange change: ContentChange
    ) {
        switch change {
        case .insert(let items): hear(part, component, "new \(items.map(\.id))")
        case .update(let items): hear(part, component, "other \(items.map(\.id))")
        case .remove(let ids): hear(part, component, "gone \(ids)")
        default: hear(part, component, "all others")
        }
    }

    override func part(
        _ part: PartReference, votes component: ComponentReference, didChange tally: Tally,
        of subject: Subject
    ) { hear(part, component, "\(tally.count) votes on \(subject.item ?? "it")") }

    override func part(
        _ part: PartReference, comments component: ComponentReference,
        didPost comment: AtriumKit.Comment
    ) { hear(part, component, "posted \(comment.text ?? "")") }

    override func part(
        _ part: PartReference, comments component: ComponentReference,
        didEdit comment: AtriumKit.Comment
    ) { hear(part, component, "edited \(comment.text ?? "")") }

    override func part(
        _ part: PartReference, comments component: ComponentReference,
        didRemove comment: AtriumKit.Comment
    ) { hear(part, component, "removed \(comment.id)") }

    override func part(
        _ part: PartReference, comments component: ComponentReference, didChange count: Int,
        of subject: Subject
    ) { hear(part, component, "\(count) comments on \(subject.item ?? "it")") }
}

/// Tells that all its items are other ones whenever it is reloaded.
private final class Shuffler: ContentListing {
    weak var delegate: (any ContentListingDelegate)?
    private(set) var items: [Item] = []

    init(context: ComponentContext) throws {}

    func reload() {
        items.append(.film("film-\(items.count)"))
        delegate?.contentListing(self, didChange: .replaceAll)
    }
    func apply(_ change: Change) {}
    func put(_ items: [Item], _ context: CommandContext) throws(Refusal) -> ContentDecision {
        ContentDecision()
    }
    func remove(_ ids: [String], _ context: CommandContext) throws(Refusal) -> [Change] { [] }
}

/// What components of a part report, and who around it is told.
@Suite(.timeLimit(.minutes(3))) struct PartEventTests {
    private static let delegates = [DelegatePlugin(id: "test.listener", delegate: Listener.self)]
    private static let plugins =
        [Plugin].builtIn + [.inProcess("test.shuffler", .contents, Shuffler.self)]

    private func start(in directory: TemporaryDirectory? = nil) async throws -> TestRegistry {
        try await TestRegistry.start(
            in: directory, plugins: Self.plugins, delegates: Self.delegates,
            workers: HeldLauncher(HeldLauncher.Script(isHeld: false)))
    }

    /// A container with these parts and a delegate that writes down what these report.
    private static func around(
        _ name: String, _ parts: [(name: String, container: String)], _ log: DelegateLog?
    ) -> ContainerDefinition {
        PartTests.child(name).changed {
            $0.delegate = log?.delegate(of: "test.listener")
            $0.components += parts.map {
                ComponentDefinition(name: $0.name, container: $0.container)
            }
        }
    }

    private func vote(
        _ host: TestRegistry, _ value: Double, on item: String, in container: String = "sleep"
    ) async throws {
        let address = SubjectAddress(container: container, item: item)
        _ = try await host.call { $0.cast(address, value: value, by: .ann, $1) }
    }

    @Test(arguments: [Isolation.daemon, .process])
    func `what a part reports reaches each container around it once, through levels`(
        _ isolation: Isolation
    ) async throws {
        let host = try await start()
        let (day, week, year) = (DelegateLog.make(), DelegateLog.make(), DelegateLog.make())
        try await host.apply(
            PartTests.child("sleep").changed { sleep in
                for place in sleep.components.indices {
                    sleep.components[place].isolation = isolation
                }
            })
        try await host.apply(Self.around("day", [("nights", "sleep"), ("naps", "sleep")], day))
        // Without a delegate of its own, between two that have one.
        try await host.apply(Self.around("month", [("days", "day")], nil))
        try await host.apply(Self.around("week", [("nights", "sleep")], week))
        try await host.apply(Self.around("year", [("months", "month"), ("all", "sleep")], year))
        // However many screens there are, and on whatever.
        let screens = [
            try await ScreenClient(host, PartTests.request),
            try await ScreenClient(host, PartTests.request),
            try await ScreenClient(host, ScreenRequest(container: "sleep")),
        ]
        for screen in screens { try await screen.catchUp() }

        try await host.put(.film("nap"), in: "sleep")
        try await vote(host, 4, on: "nap")
        let address = SubjectAddress(container: "sleep", item: "nap")
        let comment = try await host.call {
            $0.post(address, parent: nil, text: "Hm.", id: "c1", by: .ann, $1)
        }.comment.entry.comment.id
        _ = try await host.call {
            $0.edit("sleep", component: nil, comment: comment, text: "Ah.", by: .ann, $1)
        }
        _ = try await host.call {
            $0.delete("sleep", component: nil, comment: comment, by: .ann, $1)
        }
        try await host.put(.film("nap", ["horror"]), in: "sleep")
        try await host.remove("nap", in: "sleep")
        for (log, path) in [(day, "nights"), (week, "nights"), (year, "all")] {
            #expect(
                log.taken() == [
                    "\(path) (sleep/list): new [\"nap\"]",
                    "\(path) (sleep/stars): 1 votes on nap",
                    "\(path) (sleep/talk): posted Hm.",
                    "\(path) (sleep/talk): 1 comments on nap",
                    "\(path) (sleep/talk): edited Ah.",
                    "\(path) (sleep/talk): removed c1",
                    "\(path) (sleep/talk): 0 comments on nap",
                    "\(path) (sleep/list): other [\"nap\"]",
                    "\(path) (sleep/list): gone [\"nap\"]",
                ])
        }
        // Two levels up, and not to those on the way but the one in between.
        try await host.put(.film("noon"), in: "day")
        #expect(year.taken() == ["months/days (day/list): new [\"noon\"]"])
        #expect(day.taken() == [] && week.taken() == [], "its own are none of a part's")
        try await host.end()
    }

    @Test func `a start is no event, and what a source reports by itself is one`() async throws {
        let host = try await start()
        let log = DelegateLog.make()
        try await host.apply(
            PartTests.child("sleep").changed {
                $0.components[1] = ComponentDefinition(name: "list", plugin: "test.shuffler")
            })
        try await host.apply(Self.around("day", [("sleep", "sleep")], log))
        await host.on { try? $0.containers["sleep"]?.contents.reload(nil) }
        try await until { await host.on { $0.containers["sleep"]?.has("film-0") } == true }
        #expect(log.taken() == ["sleep (sleep/list): all others"])
        try await vote(host, 4, on: "film-0")
        #expect(log.taken() == ["sleep (sleep/stars): 1 votes on film-0"])
        try await host.stop()

        let again = try await start(in: host.directory)
        #expect(log.taken() == [], "its tallies are what they were")
        await again.on { try? $0.containers["sleep"]?.contents.reload(nil) }
        try await until { await again.on { $0.containers["sleep"]?.has("film-0") } == true }
        try await vote(again, 5, on: "film-0")
        #expect(
            log.taken() == [
                "sleep (sleep/list): all others", "sleep (sleep/stars): 1 votes on film-0",
            ])
        try await again.end()
    }

    @Test func `a container that is deleted, or has the part no more, is not called`()
        async throws
    {
        let host = try await start()
        let (day, week) = (DelegateLog.make(), DelegateLog.make())
        try await host.apply(PartTests.child("sleep"))
        try await host.put(.film("nap"), in: "sleep")
        // Nobody looks for those around it where no container has parts.
        #expect(await host.on { $0.state.screens.surroundings.known == nil })
        try await host.apply(Self.around("day", [("sleep", "sleep")], day))
        try await host.apply(Self.around("week", [("sleep", "sleep")], week))
        try await vote(host, 1, on: "nap")
        #expect(day.taken().count == 1 && week.taken().count == 1)
        // Both at once, whichever is first.
        let replies: [Result<Void, HostError>] = try await host.callAll(2) {
            registry, index, reply in
            let address = SubjectAddress(container: "sleep", item: "nap")
            if index == 0 {
                registry.structure.delete("day", purge: false, by: .ann) { reply($0.map { _ in }) }
            } else {
                registry.cast(address, value: 2, by: .bob) { reply($0.map { _ in }) }
            }
        }
        for reply in replies { try reply.get() }
        _ = day.taken()
        #expect(week.taken() == ["sleep (sleep/stars): 2 votes on nap"])
        try await vote(host, 3, on: "nap")
        #expect(day.taken() == [], "it is gone")
        #expect(week.taken() == ["sleep (sleep/stars): 2 votes on nap"])
        try await host.apply(Self.around("week", [], week))
        try await vote(host, 4, on: "nap")
        #expect(week.taken() == [], "it is no part of it any more")
        try await host.end()
    }
}
