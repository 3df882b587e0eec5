import AtriumKit
import Foundation
import PluginLoader
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

/// Settings that change while their component runs, and what a component looks up.
@Suite(.timeLimit(.minutes(3))) struct SettingsTests {
    private static let plugins =
        [Plugin].builtIn + [
            .inProcess("test.choosy", .votes, Choosy.self)
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
}
