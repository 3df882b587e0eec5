public import AtriumKit

/// A host for one component, in memory: what a plugin's own tests run it in.
///
/// It keeps the component's records, gives commands their time and ids, and shows what the
/// component published, logged and reported to its delegate. Nothing is random and no clock is read: the
/// same calls give the same outcome.
///
/// ```swift
/// let host = try MemoryHost(Stars.self, settings: ["scale": 5])
/// try host.run(.castBallot(subject: .container, value: 4), as: 1)
/// #expect(host.events.last == .tally(.container, Tally(count: 1, score: 4, histogram: ["4": 1])))
/// ```
///
/// It is not Sendable: use it where it was made.
public final class MemoryHost {
    /// The commit failed, as ``failNextCommit`` wanted; the component had to undo its changes.
    public struct CommitFailed: Error {}

    /// What the component publishes and logs, and the background work that it waits for.
    public let services: MemoryServices
    /// The records by key, as a store would hold them.
    public private(set) var records: [String: Value] = [:]
    /// What the component reported to its delegate, in order; a commit that failed reports nothing.
    public private(set) var events: [ComponentEvent] = []
    /// Makes the next command that changes something fail at its commit.
    public var failNextCommit = false

    private let type: any Component.Type
    private var settings: [String: Value]
    private let secrets: [String: String]
    private let fields: [Field]
    private var harness: ComponentHarness
    private var commands: Int64 = 0

    /// Makes the component, without records, and attaches it.
    ///
    /// - Parameters:
    ///   - type: the component's class.
    ///   - settings: as a definition would give them.
    ///   - secrets: the texts that its secret settings refer to, by setting.
    ///   - fields: the container's fields; by default those of the conformance suite.
    ///   - container: the container's name.
    ///   - component: the component's name.
    ///   - kept: what the component before had kept; by default nothing.
    /// - Throws: what the component's `init` throws, or ``SettingError``.
    public init(
        _ type: any Component.Type, settings: [String: Value] = [:],
        secrets: [String: String] = [:], fields: [Field] = Conformance.fields,
        container: String = "test",
        component: String = "component", kept: [UInt8]? = nil
    ) throws {
        self.type = type
        self.settings = settings
        self.secrets = secrets
        self.fields = fields
        services = MemoryServices(container: container, component: component, kept: kept)
        harness = try ComponentHarness(
            type, container: container, component: component, settings: settings,
            secrets: secrets, fields: fields, services: services)
        _ = harness.finishRestore()
        attach()
    }

    /// What the component does.
    public var kind: Kind { harness.kind }

    /// The fields whose values a filters component wants reported.
    public var observedFields: [String] { harness.observedFields }

    /// What a filters component selects on screens that are opened without a selection.
    public var preselection: Selection { harness.preselection }

    /// The facts for front ends about the votes or comments that it takes; nil: it is of another kind.
    public var facts: ComponentFacts? { harness.facts }

    /// What the next command will carry: each is a second later than the one before.
    ///
    /// - Parameters:
    ///   - actor: the actor's number.
    ///   - isModerator: whether they may act on what others wrote.
    /// - Returns: the context, which ``run(_:_:)`` takes.
    public func nextContext(as actor: Int64 = 1, isModerator: Bool = false) -> CommandContext {
        CommandContext(
            actor: ActorID(actor),
            time: Timestamp(milliseconds: 1_767_225_600_000 + commands * 1000),
            freshID: "id-\(commands)", isModerator: isModerator, order: commands)
    }

    /// Runs a command on behalf of an actor, and commits it.
    ///
    /// - Throws: the component's ``Refusal``; ``CommitFailed`` when that was wished.
    @discardableResult
    public func run(
        _ command: ComponentCommand, as actor: Int64 = 1, isModerator: Bool = false
    ) throws -> Decision {
        try run(command, nextContext(as: actor, isModerator: isModerator))
    }

    /// Runs a command with a context of the caller's, and commits it.
    ///
    /// - Throws: the component's ``Refusal``; ``CommitFailed`` when that was wished.
    @discardableResult
    public func run(_ command: ComponentCommand, _ context: CommandContext) throws -> Decision {
        commands += 1
        let decision = try harness.decide(command, context)
        if failNextCommit, !decision.changes.isEmpty {
            failNextCommit = false
            harness.undo(
                decision.changes.map { change in
                    records[change.key].map { .put(key: change.key, value: $0) }
                        ?? .removed(key: change.key)
                })
            throw CommitFailed()
        }
        for change in decision.changes { records[change.key] = change.value }
        events.append(contentsOf: decision.events)
        return decision
    }

    /// Asks the component a question.
    ///
    /// - Throws: the component's ``Refusal``.
    public func ask(_ query: ComponentQuery) throws -> ComponentAnswer {
        let answer = try harness.answer(query)
        if case .selection(_, let events) = answer { self.events.append(contentsOf: events) }
        return answer
    }

    /// Whether the component is a source that is asked.
    public var asks: Bool { harness.asks }

    /// Asks a source.
    ///
    /// - Returns: where its reply is found: at once, or once it has come back to it
    ///   (``advance(by:)``, ``settle()``).
    public func ask(_ question: ContentQuestion) -> AskedQuestion {
        let asked = AskedQuestion()
        harness.ask(question) { asked.replies.append($0) }
        collect()
        return asked
    }

    /// Applies changes that no command made, as after a commit that failed; reports nothing.
    public func undo(_ changes: [Change]) {
        for change in changes { records[change.key] = change.value }
        harness.undo(changes)
    }

    /// Applies records that a store holds, and gives all items, tallies or counts that there now
    /// are; without any changes it just gives these.
    public func restore(_ changes: [Change]) -> [ComponentEvent] {
        for change in changes { records[change.key] = change.value }
        harness.restore(changes)
        return Array(harness.finishRestore().joined())
    }

    /// Passes a filters component the values of the fields that it observes, sorted.
    ///
    /// - Parameters:
    ///   - values: the distinct values, sorted, by field.
    ///   - cut: the fields that have more.
    public func report(_ values: [String: [Value]], cut: Set<String> = []) {
        harness.report(values, cut: cut)
    }

    /// Posts a notification; the component hears it if it listens.
    public func post(_ topic: String, _ payload: [String: Value] = [:], sequence: Int64? = nil) {
        services.deliver(
            Notification(
                sequence: sequence, time: nextContext().time, topic: topic, payload: payload))
        collect()
    }

    /// Lets time pass: calls what the component has set for it, in order.
    public func advance(by time: Duration) {
        let end = services.now + time
        while services.fireNext(before: end) { collect() }
    }

    /// Says that a file was written, replaced or removed: who watches it or its folder is called.
    ///
    /// - Parameter path: the file, which need not be there.
    public func touch(_ path: String) {
        services.touch(path)
        collect()
    }

    /// Has the component look at its source again.
    public func reload() {
        harness.reload()
        collect()
    }

    /// Passes the component the number of screens that show it.
    public func changeAudience(_ screens: Int) {
        harness.reportAudience(screens)
        collect()
    }

    /// Waits for all background work of the component, and hands it what came of it.
    nonisolated(nonsending) public func settle() async {
        while await services.finishOne() { collect() }
    }

    /// Has a source read an item's picture, and waits for it: see `ImageProviding`.
    ///
    /// - Throws: a ``Refusal`` where there is none, or it is none that is sent.
    nonisolated(nonsending) public func readImage(
        of id: String, field: String
    ) async throws -> ItemImage {
        var read: Result<ItemImage, Refusal>?
        harness.readImage(of: id, field: field) { read = $0 }
        await settle()
        guard let read else { throw Refusal("The picture was not read.") }
        return try read.get()
    }

    /// Lets the component go and makes it anew from its records, as a restart of the host does.
    ///
    /// - Parameter atOnce: whether it gets all records at once, if it is a `RecordListing`, and
    ///   ballots in place of their records, if it is a `BallotRestoring`; by default records one by
    ///   one, as hosts may do, too.
    /// - Throws: what the component's `init` throws.
    public func restart(atOnce: Bool = false) throws {
        detach()
        services.forgetComponent()
        harness = try ComponentHarness(
            type, container: services.container, component: services.component,
            settings: settings, secrets: secrets, fields: fields, services: services)
        // Restored in the order of their keys, which is not the order in which they were made.
        let sorted = records.sorted { $0.key < $1.key }
        if atOnce, harness.listsRecords {
            harness.restore(MemoryItems(sorted.compactMap { Item(key: $0.key, value: $0.value) }))
        } else {
            let records = sorted.map { Change.put(key: $0.key, value: $0.value) }
            let isAtOnce = atOnce && harness.restoresBallots
            let ballots = isAtOnce ? records.compactMap(Self.ballot) : []
            harness.restore(ballots: ballots)
            harness.restore(isAtOnce ? records.filter { Self.ballot($0) == nil } : records)
            _ = harness.finishRestore()
        }
        attach()
    }

    /// The ballot of a record that holds nothing else.
    private static func ballot(_ record: Change) -> Ballot? {
        guard let value = record.value, let ballot = Ballot(key: record.key, value: value),
            let own = ballot.record.value, own.isSame(as: value)
        else { return nil }
        return ballot
    }

    /// Gives the component other settings, as a definition that is applied again does: it goes on with them if it can,
    /// and is made anew from its records if it can't.
    ///
    /// - Parameter settings: as a definition would give them.
    /// - Returns: whether it went on.
    /// - Throws: what the component's `init` throws, or ``SettingError``; it then has the settings of before.
    @discardableResult
    public func change(settings: [String: Value]) throws -> Bool {
        let before = self.settings
        self.settings = settings
        guard case .canTake(true) = try harness.answer(.canTake(settings)) else {
            do {
                try restart()
            } catch {
                self.settings = before
                try restart()
                throw error
            }
            return false
        }
        harness.take(settings)
        collect()
        return true
    }

    /// Detaches the component.
    public func detach() {
        harness.pass(.willDetach)
        harness.pass(.didDetach)
        collect()
    }

    private func attach() {
        harness.pass(.willAttach)
        harness.pass(.didAttach)
        collect()
    }

    private func collect() { events.append(contentsOf: harness.takeEvents()) }
}

/// A question on its way to a source, and what that replies.
public final class AskedQuestion {
    /// What it replied: nothing yet, one thing, or, of a broken one, several.
    public fileprivate(set) var replies: [Result<ContentAnswer, Refusal>] = []

    /// What it answered; nil: nothing yet, or it refused.
    public var answer: ContentAnswer? { try? replies.first?.get() }
}

/// Items as they were at a restart.
private struct MemoryItems: RestoredItems {
    private let items: [Item]

    init(_ items: [Item]) { self.items = items }

    var count: Int { items.count }

    func contains(_ id: String) -> Bool { item(id) != nil }

    func item(_ id: String) -> Item? { items.first { $0.id == id } }

    func item(at place: Int) -> Item? { items[place] }
}
