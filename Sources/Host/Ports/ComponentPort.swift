public import AtriumKit

/// The host's side of one component, which lives in the daemon or in a worker.
///
/// Its guarantees:
///
/// - All calls are made, and all messages are sent to the owner, on the event loop.
/// - Calls reach the component in the order in which they are made, and `done` is called in that
///   order, exactly once each: before the call returns when the component is in the daemon, later when it
///   is in a worker. After `close()`, or once the owner was notified of the end, `done` may never be called.
/// - The owner gets no message while the component is being called. What a component publishes or raises
///   during a call is sent after the call has returned, before `done`.
/// - The order of calls is that of `ComponentHarness`: `load` as often as needed, `reportState` to the last part,
///   `pass` for attaching, then everything else; `pass` for detaching, then `close`.
///
/// No requirement has a default: a port that missed one by its name would silently do nothing.
public protocol ComponentPort: AnyObject {
    /// The component's kind.
    var kind: Kind { get }
    /// The fields whose values a filters component wants reported; empty for other kinds.
    var observedFields: [String] { get }
    /// The selection of a filters component on screens that open without one; empty for other kinds.
    var preselection: Selection { get }
    /// The facts about votes or comments that the component accepts, for front ends; nil for other kinds.
    var facts: ComponentFacts? { get }

    /// Applies some stored records to the component, whose delegate is not called meanwhile; wait for `done` before
    /// the next call, to bound what is in memory.
    func load(_ changes: [Change], _ done: @escaping () -> Void)
    /// The loading of a component in this process; nil: it is in another one, and is given its records in parts.
    var directLoad: (any DirectLoad)? { get }
    /// Returns the next part of the component's state: of all its items, tallies or counts.
    ///
    /// Items are returned as `replaceAll`, then as `insert`. The first run ends the load. A later run, begun with
    /// `anew`, returns the state at that time.
    ///
    /// - Parameters:
    ///   - anew: whether to begin a run and return its first part.
    ///   - done: called with the part.
    func reportState(
        anew: Bool, _ done: @escaping (Result<StatePart, PortFailure>) -> Void)
    /// Decides on a command and applies the decision to the component's own state.
    func decide(
        _ command: ComponentCommand, _ context: CommandContext,
        _ done: @escaping (Result<Decision, PortFailure>) -> Void)
    /// Answers a query.
    func answer(
        _ query: ComponentQuery,
        _ done: @escaping (Result<ComponentAnswer, PortFailure>) -> Void)
    /// Has the component read an item's picture.
    ///
    /// The picture is sent to the owner later, as ``ComponentMessage/image(_:_:)`` with this number; other calls are
    /// answered meanwhile.
    func readImage(_ number: Int, of item: String, field: String)
    /// Restores the touched records to what the store holds, after a commit that failed.
    func undo(_ changes: [Change])
    /// Reports the distinct values of the observed fields to a filters component.
    ///
    /// `cut` names the fields that have more values than are reported; `done` is called once the component has them.
    func report(_ values: [String: [Value]], cut: Set<String>, _ done: @escaping () -> Void)
    /// Delivers a notification that matches one of the component's observed patterns.
    func deliver(_ notification: Notification)
    /// Whether the component is a source that answers questions.
    var asks: Bool { get }
    /// Asks a source; its answer is sent to the owner as ``ComponentMessage/answers(_:_:)`` with this number.
    func ask(_ number: Int, _ question: ContentQuestion)
    /// Has the component read its source again.
    func reload()
    /// Reports to the component how many screens show it.
    func reportAudience(_ screens: Int)
    /// Gives the component other settings, which it has answered that it can take; at `done` ``facts``,
    /// ``observedFields`` and ``preselection`` are those of the new settings.
    func apply(_ settings: [String: Value], _ done: @escaping () -> Void)
    /// Calls a life-cycle method of the component.
    func notify(_ phase: LifecyclePhase)
    /// The problem of events that the component raised by itself, before the owner delivers them.
    ///
    /// Nil: nothing, or the port has checked them already.
    func problem(in events: [ComponentEvent]) -> String?
    /// Pauses or resumes the messages of a worker, while the owner is still processing earlier ones.
    func setReadingPaused(_ isPaused: Bool)
    /// Releases the component, and sends the owner nothing more; a second call does nothing.
    func close()
}

/// The loading of a component in this process, which may take what its records contain.
public protocol DirectLoad: AnyObject {
    /// Whether the component's items are exactly its records, so that it can take all of them at once.
    var listsRecords: Bool { get }
    /// Gives the component all its records at once, instead of the port's `load` and `reportState`.
    ///
    /// Only for a component with ``listsRecords``.
    func load(_ items: any RestoredItems)
    /// Whether the component takes ballots in place of their records.
    var restoresBallots: Bool { get }
    /// Gives the component some ballots; other records are passed to the port's `load`.
    ///
    /// Only for a component with ``restoresBallots``. They are applied when it returns.
    func load(_ ballots: [Ballot])
    /// Whether the component takes comments in place of their records.
    var restoresComments: Bool { get }
    /// Gives the component some comments; other records are passed to the port's `load`.
    ///
    /// Only for a component with ``restoresComments``. They are applied when it returns.
    func load(_ comments: [Comment])
    /// Announces the number of records, as far as it is known, before the first of them.
    func expect(_ records: Int)
}

/// A part of a component's state.
public struct StatePart: Sendable, Hashable {
    /// The part, as events.
    public var events: [ComponentEvent]
    /// Whether this is the last part.
    public var isLast: Bool

    /// Makes a part.
    public init(_ events: [ComponentEvent], isLast: Bool) {
        self.events = events
        self.isLast = isLast
    }
}

/// Why a component did not do what it was asked.
public enum PortFailure: Error, Sendable, Hashable {
    /// It refused: nothing was changed.
    case refused(Refusal)
    /// Its answer broke a rule, as a sentence: nothing was changed, and it is made anew.
    case mistrusted(reason: String)
    /// Its worker ended before it answered; whether it had decided doesn't matter, since its state is lost.
    case died(reason: String)
}

/// The owner of a port, on behalf of the component's slot in its container; called on the event loop.
public protocol PortOwner: AnyObject {
    /// The component sent a message by itself, between answers.
    func port(_ port: any ComponentPort, sent message: ComponentMessage)
    /// The component's worker ended; the port can't be used any more.
    func port(_ port: any ComponentPort, died death: PortDeath)
    /// Finds an item of the component's container; called in the middle of a call.
    func port(_ port: any ComponentPort, itemWith id: String) -> Item?
}

/// How a component's worker ended.
public struct PortDeath: Sendable, Hashable {
    /// How, as a sentence.
    public var reason: String
    /// Whether it was processing the first unanswered call of ``ComponentPort/decide(_:_:_:)`` or
    /// ``ComponentPort/answer(_:_:)``; else it did something else, or nothing.
    public var wasAtRequest: Bool
    /// Whether the daemon ended it because that call took too long.
    public var wasOverdue: Bool
    /// Whether it was taking the values of ``ComponentPort/report(_:cut:_:)``.
    public var wasAtValues: Bool

    /// Makes an end; by default, one during the first unanswered call.
    public init(
        _ reason: String, wasAtRequest: Bool = true, wasOverdue: Bool = false,
        wasAtValues: Bool = false
    ) {
        self.reason = reason
        self.wasAtRequest = wasAtRequest
        self.wasOverdue = wasOverdue
        self.wasAtValues = wasAtValues
    }
}

/// A message that a component sends by itself, between answers.
public enum ComponentMessage: Sendable, Hashable {
    /// It raised events to its delegate, outside of any command.
    case raised([ComponentEvent])
    /// It publishes `<container>.plugin.<component>.<name>`; the owner receives valid names only.
    case publishes(String, [String: Value])
    /// It wants notifications that match this pattern; the owner receives valid patterns only.
    case observes(String)
    /// It logs a line.
    case logs(LogLevel, String)
    /// It reports a problem with its source; nil: the problem is over.
    case reports(problem: String?)
    /// It answers the question with this number.
    case answers(Int, Result<ContentAnswer, Refusal>)
    /// It wants bytes kept for its successor; nil: nothing.
    case keeps([UInt8]?)
    /// The picture that was requested with a number, or why there is none.
    case image(Int, Result<ItemImage, Refusal>)
}
