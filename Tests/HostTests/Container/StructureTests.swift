import AtriumKit
import PluginLoader
import Store
import StoreFaults
import TestSupport
import Testing

@testable import Host

/// Stars that tell what happens to them, under the container's name.
final class DiaryStars: Voting {
    static let settings = [
        Setting.integer("scale", in: 2...10, "The scale").defaulting(to: 5).setting
    ]
    var delegate: (any VotingDelegate)?
    private let context: ComponentContext
    private var ballots: [String: Ballot] = [:]

    init(context: ComponentContext) throws {
        self.context = context
        note("init")
    }

    private func note(_ what: String) { context.logger.info(what) }

    func willAttach() { note("willAttach with \(ballots.count)") }
    func didAttach() { note("didAttach") }
    func willDetach() { note("willDetach") }
    func didDetach() { note("didDetach") }

    func apply(_ change: Change) {
        ballots[change.key] = change.value.flatMap { Ballot(key: change.key, value: $0) }
        note("apply")
        guard let subject = Ballot.parse(key: change.key)?.subject else { return }
        delegate?.voting(self, didChange: tally(of: subject), of: subject)
    }

    var tallies: [(subject: Subject, tally: Tally)] {
        Set(ballots.values.map(\.subject)).map { ($0, tally(of: $0)) }
    }
    func cast(_ ballot: Ballot, _ context: CommandContext) throws(Refusal) -> [Change] {
        [ballot.record]
    }
    func retract(
        actor: ActorID, subject: Subject, _ context: CommandContext
    ) throws(Refusal) -> [Change] {
        [.removed(key: Ballot.key(actor: actor, subject: subject))]
    }
    func tally(of subject: Subject) -> Tally {
        let count = ballots.values.count { $0.subject == subject }
        return Tally(count: count, score: count == 0 ? nil : 1)
    }
    func ballot(of actor: ActorID, on subject: Subject) -> Ballot? {
        ballots[Ballot.key(actor: actor, subject: subject)]
    }
    func ballots(on subject: Subject, after: ActorID?, limit: Int) -> [Ballot] { [] }
    func recordKeys(about subject: Subject) -> [String] {
        ballots.filter { $0.value.subject == subject }.map(\.key)
    }
}

@Suite(.timeLimit(.minutes(3))) struct StructureTests {
    private static let diary = Plugin.inProcess("test.diary", .votes, DiaryStars.self)

    private func attach(
        _ host: TestRegistry, _ component: ComponentDefinition, at place: Int? = nil
    ) async throws -> Int64 {
        try await host.call { $0.attach("films", component, at: place, by: .ann, $1) }
    }

    private func detach(
        _ host: TestRegistry, _ component: String, purge: Bool = false
    ) async throws -> Int64 {
        try await host.call { $0.detach("films", component, purge: purge, by: .ann, $1) }
    }

    private func names(_ host: TestRegistry) async throws -> [String] {
        try await host.status().components.map(\.definition.name)
    }

    @Test func `a component is restored, then attached, then detached, each called in its order`()
        async throws
    {
        let log = CapturedLog()
        let host = try await TestRegistry.start(
            plugins: .builtIn + [Self.diary], logger: log.logger)
        let component = ComponentDefinition(name: "diary", plugin: "test.diary")
        try await host.apply(.films.changed { $0.components = [component] })
        try await host.cast(1)
        _ = try await detach(host, "diary")
        _ = try await attach(host, component)
        _ = try await host.call { $0.setHidden("films", "diary", true, by: .ann, $1) }
        try await host.cast(2, by: .bob)
        try await host.end()
        #expect(
            log.messages == [
                "init", "willAttach with 0", "didAttach", "apply", "willDetach", "didDetach",
                "init", "apply", "willAttach with 1", "didAttach", "apply", "willDetach",
                "didDetach",
            ])
    }

    @Test func `attaching, moving, hiding, showing and detaching are posted and survive a restart`()
        async throws
    {
        var host = try await TestRegistry.start()
        try await host.apply(.films)
        let more = ComponentDefinition(name: "more", plugin: "org.atrium.stars")
        _ = try await attach(host, more, at: 0)
        await expect(.componentExists(container: "films", component: "more")) {
            try await attach(host, more)
        }
        _ = try await host.call { $0.move("films", "more", to: 2, by: .ann, $1) }
        _ = try await host.call { $0.setHidden("films", "talk", true, by: .ann, $1) }
        _ = try await host.call { $0.setHidden("films", "list", true, by: .ann, $1) }
        _ = try await host.call { $0.setHidden("films", "list", false, by: .ann, $1) }
        _ = try await detach(host, "stars")
        await expect(.componentNotFound(container: "films", component: "stars")) {
            try await detach(host, "stars")
        }
        host = try await host.restarted()
        #expect(try await names(host) == ["filters", "list", "more", "talk"])
        let hidden = try await host.status().components.filter(\.definition.isHidden)
        #expect(hidden.map(\.definition.name) == ["talk"])
        let verbs = ["attached", "moved", "hidden", "hidden", "shown", "detached"]
        #expect(
            try host.topics()
                == ["daemon.containers.created"] + verbs.map { "films.components.\($0)" })
        try await host.end()
    }

    @Test func `a hidden component keeps its state and goes on working`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.cast(4)
        _ = try await host.call { $0.setHidden("films", "stars", true, by: .ann, $1) }
        #expect(try await host.cast(2, by: .bob).tally.tally.score == 3)
        try await host.end()
    }

    @Test func `a detached component's records return with it, a purged one's do not`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put(.film("heat"))
        try await host.cast(4, on: "heat")
        let stars = ComponentDefinition(name: "stars", plugin: "org.atrium.stars")
        _ = try await detach(host, "stars")
        #expect(try await host.list().items[0].votes == nil)
        await expect(.componentNotFound(container: "films", component: "votes")) {
            try await host.cast(4, on: "heat")
        }
        _ = try await attach(host, stars)
        #expect(try await host.list(sort: ["-votes.score"]).items[0].votes?.tally.count == 1)
        _ = try await detach(host, "stars", purge: true)
        _ = try await attach(host, stars)
        #expect(try await host.list().items[0].votes?.tally.count == 0)
        try await host.end()
    }

    @Test func `records of one kind never come under a component of another`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.cast(4)
        _ = try await detach(host, "stars")
        let imposter = ComponentDefinition(name: "stars", plugin: "org.atrium.threads")
        await #expect(throws: HostError.self) { try await attach(host, imposter) }
        await #expect(throws: HostError.self) {
            try await host.apply(.films.changed { $0.components[3].plugin = "org.atrium.stars" })
        }
        #expect(try await names(host) == ["filters", "list", "talk"])
        try await host.end()
    }

    @Test func `the lists follow the first votes component, also when the order changes`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put(.film("heat"))
        _ = try await attach(host, ComponentDefinition(name: "more", plugin: "org.atrium.stars"))
        try await host.cast(4, on: "heat")
        _ = try await host.call {
            $0.cast(
                SubjectAddress(container: "films", component: "more", item: "heat"), value: 1,
                by: .bob, $1)
        }
        #expect(try await host.list().items[0].votes?.tally.score == 4)
        _ = try await host.call { $0.move("films", "more", to: 0, by: .ann, $1) }
        #expect(try await host.list().items[0].votes?.tally.score == 1)
        #expect(try await host.list(actor: "unix:1001").items[0].votes?.mine == 1)
        _ = try await detach(host, "more")
        #expect(try await host.list().items[0].votes?.tally.score == 4)
        try await host.end()
    }

    @Test func `calls made while a component is made anew wait for it and are not lost`()
        async throws
    {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.cast(4)
        let results = try await host.callAll(4) { registry, index, reply in
            if index == 1 {
                let changed = ContainerDefinition.films.changed {
                    $0.components[2].settings = ["scale": 10]
                }
                registry.structure.apply([changed], dryRun: false, prune: false, by: .ann) {
                    result in
                    reply(result.map(\.sequence))
                }
            } else {
                // The first is decided by the old one, the others wait for the new.
                registry.cast(
                    SubjectAddress(container: "films"), value: Double(index + 5),
                    by: Caller(actor: "unix:\(index)")
                ) { result in reply(result.map(\.sequence)) }
            }
        }
        for result in results { #expect(throws: Never.self) { try result.get() } }
        let histogram = try await host.tally().tally.tally.histogram
        #expect(histogram == ["4": 1, "5": 1, "7": 1, "8": 1])
        try await host.end()
    }

    @Test func `a deleted container's records return with its definition, purged ones do not`()
        async throws
    {
        var host = try await TestRegistry.start()
        for purge in [false, true] {
            try await host.apply(.films)
            try await host.put(.film("heat"))
            try await host.cast(4, on: "heat")
            _ = try await host.call { $0.structure.delete("films", purge: purge, by: .ann, $1) }
            await expect(.containerNotFound("films")) { try await host.list() }
            host = try await host.restarted()
            await expect(.containerNotFound("films")) { try await host.list() }
            try await host.apply(.films)
            #expect(try await host.list().total == (purge ? 0 : 1))
        }
        #expect(try await host.cast(3).tally.tally.count == 1)
        try await host.end()
    }

    @Test func `a change of structure that is not written changes nothing`() async throws {
        let host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.cast(4)
        let fault = try host.refuseEntries()
        await expectUnavailable {
            try await attach(host, ComponentDefinition(name: "more", plugin: "org.atrium.stars"))
        }
        await expectUnavailable { try await detach(host, "stars") }
        await expectUnavailable {
            try await host.call { $0.structure.delete("films", purge: true, by: .ann, $1) }
        }
        await expectUnavailable {
            try await host.apply(ContainerDefinition(name: "new"))
        }
        try fault.heal()
        #expect(try await names(host) == ["filters", "list", "stars", "talk"])
        #expect(await host.on { $0.list(hasDetails: true).count } == 1)
        #expect(try await host.cast(2, by: .bob).tally.tally.count == 2)
        try await host.end()
    }

    @Test func `a plugin that is not there fails its component alone`() async throws {
        var host = try await TestRegistry.start()
        try await host.apply(.films)
        try await host.put(.film("heat"))
        try await host.cast(4, on: "heat")
        try await host.stop()
        host = try await .start(
            in: host.directory, plugins: .builtIn.filter { $0.id != "org.atrium.stars" })
        let stars = try await host.status().components[2]
        #expect(stars.state == .failed)
        #expect(stars.kind == .votes)
        #expect(try #require(stars.reason).contains("no plugin 'org.atrium.stars'"))
        #expect(try await host.list().total == 1)
        await #expect {
            try await host.cast(4, on: "heat")
        } throws: {
            ($0 as? HostError)?.absence?.component == "stars"
        }
        #expect(await host.on { $0.status(hasDetails: true).problems.count } == 1)
        // Others are attached all the same.
        _ = try await attach(host, ComponentDefinition(name: "talk2", plugin: "org.atrium.threads"))
        host = try await host.restarted()
        #expect(try await host.tally(of: "heat").tally.tally.count == 1)
        try await host.end()
    }
}
