import AtriumKit
import Foundation
import PluginLoader
import StoreFaults
import Testing

@testable import Host

/// Votes on items that their field `open` allows, up to the setting `most`, as it was when the component was made.
private final class Choosy: Voting {
    private static let most = Setting.integer(
        "most", in: 1...9, "The most that a vote may be."
    ).defaulting(to: 5)
    private static let path = Setting.path("path", "Anything.")
    static var settings: [Setting] { [most.setting, path.setting] }

    weak var delegate: (any VotingDelegate)?
    private let context: ComponentContext
    private var most: Double
    private var ballots: [String: Ballot] = [:]
    /// The values of `most` before, each with what the context had then.
    private var changes: [String] = []

    init(context: ComponentContext) throws {
        self.context = context
        most = Double(context.settings[Self.most])
    }

    var facts: VoteFacts { VoteFacts(min: 0, max: most, step: 1) }
    var tallies: some Sequence<(subject: Subject, tally: Tally)> {
        EmptyCollection<(subject: Subject, tally: Tally)>()
    }

    func canTake(_ settings: Settings) -> Bool { settings[Self.most] != 9 }
    func settingsDidChange(from before: Settings) {
        changes.append("\(before[Self.most]) to \(context.settings[Self.most])")
        most = Double(context.settings[Self.most])
    }

    func cast(_ ballot: Ballot, _ command: CommandContext) throws(Refusal) -> [Change] {
        if let item = ballot.subject.item, context.item(item)?.fields["rating"]?.number ?? 0 < 5 {
            throw Refusal("It is not good enough to be voted on.")
        }
        guard ballot.value <= most else {
            throw Refusal(
                "At most \(Int(most)); settings changed: \(changes.joined(separator: ", "))")
        }
        return [ballot.record]
    }
    func retract(
        actor: ActorID, subject: Subject, _ command: CommandContext
    ) throws(Refusal) -> [Change] { [] }
    func apply(_ change: Change) {}
    func tally(of subject: Subject) -> Tally { Tally() }
    func ballot(of actor: ActorID, on subject: Subject) -> Ballot? { nil }
    func ballots(on subject: Subject, after: ActorID?, limit: Int) -> [Ballot] { [] }
    func recordKeys(about subject: Subject) -> [String] { [] }
}

/// A source that says that it goes on with any settings, also where it would be one that is asked.
private final class Switching: Querying {
    private static let asks = Setting.boolean("asks", "Whether it is asked.").defaulting(to: false)
    static var settings: [Setting] { [asks.setting] }

    weak var delegate: (any ContentListingDelegate)?
    private let context: ComponentContext

    init(context: ComponentContext) throws { self.context = context }

    var isAsked: Bool { context.settings[Self.asks] }
    func canTake(_ settings: Settings) -> Bool { true }
    func ask(
        _ question: ContentQuestion,
        _ reply: @escaping (Result<ContentAnswer, Refusal>) -> Void
    ) { reply(.success(ContentAnswer(items: [Item(id: "m", fields: ["title": "M"])]))) }
}

/// Settings that change while their component runs, and what a component looks up.
@Suite(.timeLimit(.minutes(3))) struct SettingsTests {
    private static let plugins =
        [Plugin].builtIn + [
            .inProcess("test.choosy", .votes, Choosy.self),
            .inProcess("test.switching", .contents, Switching.self),
        ]

    private static func films(_ settings: [String: Value]) -> ContainerDefinition {
        .films.changed {
            $0.components[2] = ComponentDefinition(
                name: "stars", plugin: "test.choosy", settings: settings)
        }
    }

    /// Applies settings, and says whether the component is the one that it was.
    private func apply(_ settings: [String: Value], to host: TestRegistry) async throws -> Bool {
        let before = await host.on { $0.containers["films"]?.slot("stars").map(Running.init) }
        try await host.apply(Self.films(settings))
        return await host.on { $0.containers["films"]?.slot("stars").map(Running.init) == before }
    }

    private struct Running: Equatable, Sendable {
        let slot: ObjectIdentifier
        let port: ObjectIdentifier?

        init(_ slot: Slot) {
            self.slot = ObjectIdentifier(slot)
            port = slot.port.map { ObjectIdentifier($0) }
        }
    }

    private func refusal(of value: Double, on host: TestRegistry) async -> String {
        do {
            _ = try await host.cast(value)
            return "none"
        } catch {
            guard case .refused(let reason, _) = error as? HostError else { return "\(error)" }
            return reason
        }
    }

    @Test func `a component goes on with settings that it can take, and is made anew for others`()
        async throws
    {
        let host = try await TestRegistry.start(plugins: Self.plugins)
        try await host.apply(Self.films(["most": 3]))
        #expect(await refusal(of: 4, on: host) == "At most 3; settings changed: ")
        #expect(try await apply(["most": 2], to: host))
        #expect(await refusal(of: 4, on: host) == "At most 2; settings changed: 3 to 2")
        #expect(await host.on { $0.containers["films"]?.slot("stars")?.facts } == Self.facts(2))
        // The default is a value, too.
        #expect(try await apply([:], to: host))
        #expect(
            await refusal(of: 6, on: host) == "At most 5; settings changed: 3 to 2, 2 to 5")
        #expect(try await !apply(["most": 9], to: host))
        #expect(await refusal(of: 10, on: host) == "At most 9; settings changed: ")
        #expect(try await !apply(["path": "/srv"], to: host), "a path")
        #expect(try await apply(["path": "/srv", "most": 2], to: host))
        try await host.end()
    }

    private static func facts(_ most: Double) -> ComponentFacts {
        .votes(VoteFacts(min: 0, max: most, step: 1))
    }

    @Test func `settings that are wrong are refused, and change nothing`() async throws {
        let host = try await TestRegistry.start(plugins: Self.plugins)
        try await host.apply(Self.films(["most": 3]))
        for wrong in [["most": 0], ["least": 1], ["most": "much"]] as [[String: Value]] {
            await #expect {
                _ = try await host.apply(Self.films(wrong))
            } throws: {
                if case .settingInvalid("stars", _, _) = $0 as? HostError { true } else { false }
            }
            #expect(await refusal(of: 4, on: host) == "At most 3; settings changed: ")
        }
        try await host.end()
    }

    @Test func `a rehearsal asks, and changes nothing`() async throws {
        let host = try await TestRegistry.start(plugins: Self.plugins)
        try await host.apply(Self.films(["most": 3]))
        let outcome = try await host.apply(Self.films(["most": 2]), dryRun: true)
        #expect(outcome.results.map(\.action) == [.changed])
        #expect(await refusal(of: 4, on: host) == "At most 3; settings changed: ")
        try await host.end()
    }

    @Test func `settings whose commit fails are not given to the component`() async throws {
        let host = try await TestRegistry.start(plugins: Self.plugins)
        try await host.apply(Self.films(["most": 3]))
        let fault = try host.refuseEntries()
        await #expect(throws: HostError.self) { try await host.apply(Self.films(["most": 2])) }
        try fault.heal()
        #expect(await refusal(of: 4, on: host) == "At most 3; settings changed: ")
        #expect(try await apply(["most": 2], to: host))
        #expect(await refusal(of: 4, on: host) == "At most 2; settings changed: 3 to 2")
        try await host.end()
    }

    @Test func `other fields make the component anew, whatever it can take`() async throws {
        let host = try await TestRegistry.start(plugins: Self.plugins)
        try await host.apply(Self.films(["most": 3]))
        try await host.apply(
            Self.films(["most": 2]).changed {
                $0.fields.append(Field(name: "year", type: .integer))
            })
        #expect(await refusal(of: 4, on: host) == "At most 2; settings changed: ")
        try await host.end()
    }

    @Test func `a component finds the items of its container as they were committed`() async throws
    {
        let host = try await TestRegistry.start(plugins: Self.plugins)
        try await host.apply(Self.films([:]))
        try await host.put(.film("good", rating: 8), .film("bad", rating: 2))
        _ = try await host.cast(4, on: "good")
        await #expect {
            _ = try await host.cast(4, on: "bad")
        } throws: {
            if case .refused("It is not good enough to be voted on.", _) = $0 as? HostError {
                true
            } else {
                false
            }
        }
        try await host.put(.film("bad", rating: 9))
        _ = try await host.cast(4, on: "bad")
        try await host.end()
    }

    // MARK: In workers

    private static func isolated(_ settings: [String: Value]) -> ContainerDefinition {
        films(settings).changed { $0.components[2].isolation = .process }
    }

    private func most(_ host: TestRegistry) async throws -> ComponentFacts? {
        try await host.status().components[2].facts
    }

    @Test func `settings are applied once a worker has them, and until then calls wait`()
        async throws
    {
        let host = try await TestRegistry.start(
            plugins: Self.plugins, workers: RemoteLauncher(.init()))
        try await host.apply(Self.isolated(["most": 3]))
        for most in [2, 7, 4, 8] {
            try await host.apply(Self.isolated(["most": .int(Int64(most))]))
            #expect(try await self.most(host) == Self.facts(Double(most)))
        }
        try await host.end()
    }

    @Test func `a worker that is lost when it is given settings is started again with them`()
        async throws
    {
        let script = RemoteLauncher.Script()
        let host = try await TestRegistry.start(
            plugins: Self.plugins, workers: RemoteLauncher(script))
        try await host.apply(Self.isolated(["most": 3]))
        _ = try await host.cast(3)
        script.loseAtSettings(1)
        try await host.apply(Self.isolated(["most": 7]))
        #expect(script.starts == 2)
        #expect(try await most(host) == Self.facts(7))
        _ = try await host.cast(7)
        try await host.end()
    }

    @Test func `settings are applied although no worker can be started with them`() async throws {
        let script = RemoteLauncher.Script()
        var limits = HostLimits()
        limits.restarts = 1
        let host = try await TestRegistry.start(
            plugins: Self.plugins, limits: limits, workers: RemoteLauncher(script))
        try await host.apply(Self.isolated(["most": 3]))
        script.loseAtSettings(1)
        script.failStarts(1_000)
        try await host.apply(Self.isolated(["most": 7]))
        let stars = try await host.status().components[2]
        #expect(stars.state == .failed)
        #expect(stars.definition.settings == ["most": 7])
        try await host.end()
    }

    @Test func `a source that is asked with its new settings is made anew, whatever it says`()
        async throws
    {
        let host = try await TestRegistry.start(
            plugins: Self.plugins, workers: RemoteLauncher(.init()))
        for isolation in [Isolation.daemon, .process] {
            func films(asks: Bool) -> ContainerDefinition {
                .films.changed {
                    $0.components[1] = ComponentDefinition(
                        name: "list", plugin: "test.switching", settings: ["asks": .bool(asks)])
                    $0.components[1].isolation = isolation
                }
            }
            try await host.apply(films(asks: false))
            try await host.apply(films(asks: true))
            #expect(await host.on { $0.containers["films"]?.slot("list")?.asks } == true)
            #expect(try await host.status().components[1].state == .attached)
        }
        try await host.end()
    }
}
