public import AtriumKit

/// A host for one component, in memory, for a plugin's own tests.
///
/// It keeps the component's records, gives commands their time and ids, and records the component's notifications, log
/// messages and events. It uses no randomness and no clock: the same calls give the same results.
///
/// ```swift
/// let host = try MemoryHost(Stars.self, settings: ["scale": 5])
/// try host.run(.castBallot(subject: .container, value: 4), as: 1)
/// #expect(host.events.last == .tally(.container, Tally(count: 1, score: 4, histogram: ["4": 1])))
/// ```
///
/// It is not Sendable: use it in the isolation domain that created it.
public final class MemoryHost {
    /// The commit failed, as ``failNextCommit`` requested; the component had to undo its changes.
    public struct CommitFailed: Error {}

    /// The component's notifications, log messages and background work.
    public let services: MemoryServices
    /// The records by key, as in a store.
    public private(set) var records: [String: Value] = [:]
    /// The events that the component reported to its delegate, in order; a failed commit adds none.
    public private(set) var events: [ComponentEvent] = []
    /// Whether the next command that changes something fails at its commit.
    public var failNextCommit = false

    private let type: any Component.Type
    private var settings: [String: Value]
    private let secrets: [String: String]
    private let fields: [Field]
    private var harness: ComponentHarness
    private var commands: Int64 = 0

    /// Creates the component, without records, and attaches it.
    ///
    /// - Parameters:
    ///   - type: the component's class.
    ///   - settings: the settings, as in a definition.
    ///   - secrets: the texts that its secret settings refer to, by setting.
    ///   - fields: the container's fields; by default those of the conformance suite.
    ///   - container: the container's name.
    ///   - component: the component's name.
    ///   - kept: the bytes that the previous component kept; by default none.
    /// - Throws: the errors of the component's `init`, or ``SettingError``.
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

    /// The component's kind.
    public var kind: Kind { harness.kind }

    /// The fields whose values a filters component observes.
    public var observedFields: [String] { harness.observedFields }

    /// The selection of a filters component on screens that are opened without one.
    public var preselection: Selection { harness.preselection }

    /// The facts about the votes or comments that the component accepts; nil for other kinds.
    public var facts: ComponentFacts? { harness.facts }

    /// Returns the context of the next command, a second later than the previous one.
    ///
    /// - Parameters:
    ///   - actor: the actor's number.
    ///   - isModerator: whether the actor may act on what others wrote.
    /// - Returns: the context, which ``run(_:_:)`` takes.
    public func nextContext(as actor: Int64 = 1, isModerator: Bool = false) -> CommandContext {
        CommandContext(
            actor: ActorID(actor),
            time: Timestamp(milliseconds: 1_767_225_600_000 + commands * 1000),
            freshID: "id-\(commands)", isModerator: isModerator, order: commands)
    }

    /// Runs a command on behalf of an actor, and commits it.
    ///
    /// - Throws: the component's ``Refusal``; ``CommitFailed`` if ``failNextCommit`` is set.
    @discardableResult
    public func run(
        _ command: ComponentCommand, as actor: Int64 = 1, isModerator: Bool = false
    ) throws -> Decision {
        try run(command, nextContext(as: actor, isModerator: isModerator))
    }

    /// Runs a command with a context of the caller's, and commits it.
    ///
    /// - Throws: the component's ``Refusal``; ``CommitFailed`` if ``failNextCommit`` is set.
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

    /// Whether the component is a source that is queried.
    public var asks: Bool { harness.asks }

    /// Queries a source.
    ///
    /// - Returns: the question, which receives the reply at once or later, during ``advance(by:)`` or ``settle()``.
    public func ask(_ question: ContentQuestion) -> AskedQuestion {
        let asked = AskedQuestion()
        harness.ask(question) { asked.replies.append($0) }
        collect()
        return asked
    }

    /// Applies changes that no command made, as after a failed commit; reports nothing.
    public func undo(_ changes: [Change]) {
        for change in changes { records[change.key] = change.value }
        harness.undo(changes)
    }

    /// Applies records of a store, and returns all items, tallies or counts after them.
    ///
    /// Without changes it only returns these.
    public func restore(_ changes: [Change]) -> [ComponentEvent] {
        for change in changes { records[change.key] = change.value }
        harness.restore(changes)
        return Array(harness.finishRestore().joined())
    }

    /// Passes a filters component the values of the fields that it observes, sorted.
    ///
    /// - Parameters:
    ///   - values: the distinct values, sorted, by field.
    ///   - cut: the fields that have more values.
    public func report(_ values: [String: [Value]], cut: Set<String> = []) {
        harness.report(values, cut: cut)
    }

    /// Posts a notification to the component's observers.
    public func post(_ topic: String, _ payload: [String: Value] = [:], sequence: Int64? = nil) {
        services.deliver(
            Notification(
                sequence: sequence, time: nextContext().time, topic: topic, payload: payload))
        collect()
    }

    /// Lets time pass: fires the component's timers, in order.
    public func advance(by time: Duration) {
        let end = services.now + time
        while services.fireNext(before: end) { collect() }
    }

    /// Reports that a file was written, replaced or removed to the watches of it or its folder.
    ///
    /// - Parameter path: the file, which need not exist.
    public func touch(_ path: String) {
        services.touch(path)
        collect()
    }

    /// Makes the component read its source again.
    public func reload() {
        harness.reload()
        collect()
    }

    /// Passes the component the number of screens that show it.
    public func changeAudience(_ screens: Int) {
        harness.reportAudience(screens)
        collect()
    }

    /// Waits for all background work of the component, and passes it the results.
    nonisolated(nonsending) public func settle() async {
        while await services.finishOne() { collect() }
    }

    /// Makes a source read an item's picture, and waits for it: see `ImageProviding`.
    ///
    /// - Throws: a ``Refusal`` if there is no picture, or it is not valid.
    nonisolated(nonsending) public func readImage(
        of id: String, field: String
    ) async throws -> ItemImage {
        var read: Result<ItemImage, Refusal>?
        harness.readImage(of: id, field: field) { read = $0 }
        await settle()
        guard let read else { throw Refusal("The picture was not read.") }
        return try read.get()
    }

    /// Restarts the component from its records, as a restart of the host does.
    ///
    /// - Parameter atOnce: whether all records are passed at once to a `RecordListing`, and ballots or comments in
    ///   place of their records to a `BallotRestoring` or `CommentRestoring`; by default records are passed one by one,
    ///   as hosts may do, too.
    /// - Throws: the errors of the component's `init`.
    public func restart(atOnce: Bool = false) throws {
        detach()
        services.forgetComponent()
        harness = try ComponentHarness(
            type, container: services.container, component: services.component,
            settings: settings, secrets: secrets, fields: fields, services: services)
        // Restored in the order of their keys, which is not the order in which they were written.
        let sorted = records.sorted { $0.key < $1.key }
        if atOnce, harness.listsRecords {
            harness.restore(MemoryItems(sorted.compactMap { Item(key: $0.key, value: $0.value) }))
        } else {
            var records = sorted.map { Change.put(key: $0.key, value: $0.value) }
            if atOnce, harness.restoresBallots {
                harness.restore(ballots: records.compactMap(Self.ballot))
                records.removeAll { Self.ballot($0) != nil }
            }
            if atOnce, harness.restoresComments {
                harness.reserve(comments: records.count)
                harness.restore(comments: records.compactMap(Self.comment))
                records.removeAll { Self.comment($0) != nil }
            }
            harness.restore(records)
            _ = harness.finishRestore()
        }
        attach()
    }

    /// Returns the ballot of a record that contains nothing else.
    private static func ballot(_ record: Change) -> Ballot? {
        guard let value = record.value, let ballot = Ballot(key: record.key, value: value),
            let own = ballot.record.value, own.isSame(as: value)
        else { return nil }
        return ballot
    }

    /// Returns the comment of a record that contains nothing else.
    private static func comment(_ record: Change) -> Comment? {
        guard let value = record.value, let comment = Comment(key: record.key, value: value),
            let own = comment.record.value, own.isSame(as: value)
        else { return nil }
        return comment
    }

    /// Gives the component new settings, as an applied definition does: it adopts them if it can, and is otherwise
    /// restarted from its records.
    ///
    /// - Parameter settings: the settings, as in a definition.
    /// - Returns: true if the component adopted them.
    /// - Throws: the errors of the component's `init`, or ``SettingError``; it then has the previous settings.
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

/// A question to a source, and the source's replies.
public final class AskedQuestion {
    /// The replies: none yet, one, or, from a faulty source, several.
    public fileprivate(set) var replies: [Result<ContentAnswer, Refusal>] = []

    /// The answer; nil if there is none yet, or the source refused.
    public var answer: ContentAnswer? { try? replies.first?.get() }
}

/// The items at a restart.
private struct MemoryItems: RestoredItems {
    private let items: [Item]

    init(_ items: [Item]) { self.items = items }

    var count: Int { items.count }

    func contains(_ id: String) -> Bool { item(id) != nil }

    func item(_ id: String) -> Item? { items.first { $0.id == id } }

    func item(at place: Int) -> Item? { items[place] }
}
