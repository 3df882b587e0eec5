import AtriumKit
import AtriumKitTesting
import Testing

/// A list that says when it was woken, and by what.
private final class Alarm: ContentListing {
    weak var delegate: (any ContentListingDelegate)?
    private(set) var items: [Item] = []
    let isLoading = true
    private let context: ComponentContext
    private var hourly: Wakeup?

    init(context: ComponentContext) throws {
        self.context = context
        try context.watch("/srv/menu") { [weak self] in self?.add("folder") }
        try context.watch("/srv/menu/today") { [weak self] in self?.add("file") }
        hourly = try context.every(.seconds(3_600)) { [weak self] in self?.add("hour") }
        try context.after(.seconds(5_400)) { [weak self] in self?.add("once") }
    }

    private func add(_ what: String) {
        context.report(problem: what)
        delegate?.contentListing(self, didChange: .insert([Item(id: what, fields: [:])]))
    }

    func reload() {
        hourly?.cancel()
        add("reload")
    }
    func didChangeAudience(_ screens: Int) { add("\(screens)") }
    func apply(_ change: Change) {}
    func put(_ items: [Item], _ context: CommandContext) throws(Refusal) -> ContentDecision {
        ContentDecision()
    }
    func remove(_ ids: [String], _ context: CommandContext) throws(Refusal) -> [Change] { [] }
}

/// A component that sets as many timers and watches as it may, and one more.
private final class Greedy: Voting {
    weak var delegate: (any VotingDelegate)?

    init(context: ComponentContext) throws {
        for _ in 0..<ComponentContext.mostTimers { try context.after(.seconds(1)) {} }
        for _ in 0..<ComponentContext.mostWatches { try context.watch("/srv") {} }
        do {
            try context.after(.seconds(1)) {}
        } catch {
            context.logger.info(error.reason)
        }
        do {
            try context.watch("/srv") {}
        } catch {
            context.logger.info(error.reason)
        }
    }

    var tallies: [(subject: Subject, tally: Tally)] { [] }
    func apply(_ change: Change) {}
    func cast(_ ballot: Ballot, _ context: CommandContext) throws(Refusal) -> [Change] { [] }
    func retract(
        actor: ActorID, subject: Subject, _ context: CommandContext
    ) throws(Refusal) -> [Change] { [] }
    func tally(of subject: Subject) -> Tally { Tally() }
    func ballot(of actor: ActorID, on subject: Subject) -> Ballot? { nil }
    func ballots(on subject: Subject, after: ActorID?, limit: Int) -> [Ballot] { [] }
    func recordKeys(about subject: Subject) -> [String] { [] }
}

/// What a plugin's own tests do with a component whose items come from elsewhere.
@Suite struct SourceHostTests {
    private func told(_ host: MemoryHost) -> [String] {
        host.events.flatMap { event -> [String] in
            guard case .contents(.insert(let items)) = event else { return [] }
            return items.map(\.id)
        }
    }

    @Test func `time passes when a test lets it, and calls come in their order`() throws {
        let host = try MemoryHost(Alarm.self)
        host.advance(by: .seconds(3_599))
        #expect(told(host) == [])
        host.advance(by: .seconds(7_201))
        #expect(told(host) == ["hour", "once", "hour", "hour"])
        host.reload()
        host.advance(by: .seconds(36_000))
        #expect(told(host).last == "reload", "what was cancelled calls no more")
    }

    @Test func `a file that a test touches wakes who watches it or its folder`() throws {
        let host = try MemoryHost(Alarm.self)
        host.touch("/srv/menu/today")
        host.touch("/srv/menu/tomorrow")
        host.touch("/srv/other")
        #expect(told(host) == ["folder", "file", "folder"])
        host.changeAudience(3)
        #expect(told(host).last == "3")
        #expect(host.services.problem == "3")
        try host.restart()
        #expect(host.services.problem == nil)
    }

    @Test func `one timer or watch too many is refused with the limit`() throws {
        let host = try MemoryHost(Greedy.self)
        let said = host.services.messages.map(\.text)
        #expect(said.count == 2)
        #expect(said.first?.contains("has 64 timers, which is the most") == true)
        #expect(said.last?.contains("has 10000 watches, which is the most") == true)
    }
}
