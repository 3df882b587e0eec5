public import AtriumKit

/// The host's side of one component, wherever the component lives: in the daemon or in a worker.
///
/// What it promises:
///
/// - Everything is called, and everything is told to the owner, on the event loop.
/// - Calls reach the component in the order in which they are made, and `done` is called in that
///   order, exactly once each: before returning when the component is in the daemon, later when it
///   is in a worker. After `close()`, or once the owner was told of the end, `done` may never come.
/// - The owner is never told anything while the component is being called: what a component
///   publishes or raises during a call is told after it has returned, before `done`.
/// - Its life is that of `ComponentHarness`: `load` as often as needed, `tellState` to the last part,
///   `pass` for attaching, then everything else; `pass` for detaching, then `close`.
public protocol ComponentPort: AnyObject {
    /// What the component does.
    var kind: Kind { get }
    /// The fields whose values a filters component wants reported; else empty.
    var observedFields: [String] { get }
    /// What a filters component selects on screens that are opened without a selection; else nothing.
    var preselection: Selection { get }
    /// What front ends are told of the votes or comments that it takes; nil: it is of another kind.
    var facts: ComponentFacts? { get }

    /// Applies records that the store holds, the component's delegate silent.
    ///
    /// - Parameters:
    ///   - changes: some of the records.
    ///   - done: called once it has: who has many waits for it with more.
    func load(_ changes: [Change], _ done: @escaping () -> Void)
    /// Whether the component's items are its records just as they stand, so that it takes all of
    /// them at once.
    var listsRecords: Bool { get }
    /// Hands over all records at once, to one that does, instead of any other `load` and of
    /// `tellState`.
    func load(_ items: any RestoredItems)
    /// Gives a part of all items, tallies or counts: each when it is asked for.
    ///
    /// Items are told as `replaceAll`, then as `insert`. The first time it ends the load; later it tells what there
    /// is when it begins anew.
    ///
    /// - Parameters:
    ///   - anew: whether to begin, and so to give the first part.
    ///   - done: takes the part.
    func tellState(
        anew: Bool, _ done: @escaping (Result<StatePart, PortFailure>) -> Void)
    /// Decides on a command and applies the decision to the component's own state.
    func decide(
        _ command: ComponentCommand, _ context: CommandContext,
        _ done: @escaping (Result<Decision, PortFailure>) -> Void)
    /// Answers a question.
    func answer(
        _ query: ComponentQuery,
        _ done: @escaping (Result<ComponentAnswer, PortFailure>) -> Void)
    /// Has the component read an item's picture; the owner is told of it as `image`, under this number, when it is
    /// there: other calls are answered meanwhile.
    func readImage(_ number: Int, of item: String, field: String)
    /// Makes the touched records what the store holds, after a commit that failed.
    func undo(_ changes: [Change])
    /// Tells a filters component the distinct values of the fields that it observes, and of which of
    /// these there are more.
    func report(_ values: [String: [Value]], cut: Set<String>)
    /// Hands over a notification that matches a pattern which the component observes.
    func deliver(_ notification: Notification)
    /// Whether the component is a source that is asked.
    var asks: Bool { get }
    /// Asks it: what it answers is told to the owner, as ``ComponentMessage/answers(_:_:)`` of this number.
    func ask(_ number: Int, _ question: ContentQuestion)
    /// Has the component look at its source again.
    func reload()
    /// Tells the component how many screens show it.
    func tellAudience(_ screens: Int)
    /// Passes a step of the component's life on.
    func pass(_ phase: LifecyclePhase)
    /// What is wrong with something that the component told its delegate by itself, and its owner is to deliver;
    /// nil: nothing, or that was judged before.
    func problem(in events: [ComponentEvent]) -> String?
    /// Has a worker say nothing more, or go on: its owner is busy with what it said.
    func hold(_ isHeld: Bool)
    /// Lets the component go. Nothing is told to the owner any more. Closing twice does nothing.
    func close()
}

extension ComponentPort {
    /// One in another process is given its records one by one.
    public var listsRecords: Bool { false }
    /// Nothing: it is not called.
    public func load(_ items: any RestoredItems) {}
    /// It knows its items.
    public var asks: Bool { false }
    /// Nothing: it is not called.
    public func ask(_ number: Int, _ question: ContentQuestion) {}
    /// It was judged before.
    public func problem(in events: [ComponentEvent]) -> String? { nil }
    /// Nothing: what one in the daemon says can't wait.
    public func hold(_ isHeld: Bool) {}
    /// Nothing: of one without pictures nobody waits for them.
    public func readImage(_ number: Int, of item: String, field: String) {}
}

/// A part of what a component tells of its state.
public struct StatePart: Sendable, Hashable {
    /// What it tells.
    public var events: [ComponentEvent]
    /// Whether nothing follows.
    public var isLast: Bool

    /// A part.
    public init(_ events: [ComponentEvent], isLast: Bool) {
        self.events = events
        self.isLast = isLast
    }
}

/// Why a component did not do what it was asked.
public enum PortFailure: Error, Sendable, Hashable {
    /// It declined: nothing was changed.
    case refused(Refusal)
    /// Its worker ended before it answered: whether it decided is of no matter, its state is gone.
    case died(reason: String)
}

/// Who has a port: the component's place in its container, told everything on the event loop.
public protocol PortOwner: AnyObject {
    /// The component says something by itself, between answers.
    func port(_ port: any ComponentPort, sent message: ComponentMessage)
    /// The component's worker ended; the port is of no more use.
    func port(_ port: any ComponentPort, died death: PortDeath)
}

/// How a component's worker ended.
public struct PortDeath: Sendable, Hashable {
    /// How, as a sentence.
    public var reason: String
    /// Whether it was at the first call of ``ComponentPort/decide(_:_:_:)`` and
    /// ``ComponentPort/answer(_:_:)`` that has no answer; else at something else, or at nothing.
    public var wasAtRequest: Bool
    /// Whether it was ended because that took too long.
    public var wasOverdue: Bool

    /// An end, unless told otherwise at the first call without an answer.
    public init(_ reason: String, wasAtRequest: Bool = true, wasOverdue: Bool = false) {
        self.reason = reason
        self.wasAtRequest = wasAtRequest
        self.wasOverdue = wasOverdue
    }
}

/// What a component says by itself, between answers.
public enum ComponentMessage: Sendable, Hashable {
    /// It told its delegate something outside of any command.
    case raised([ComponentEvent])
    /// It posts `<container>.plugin.<component>.<name>`; its owner is given valid names alone.
    case publishes(String, [String: Value])
    /// It wants `deliver` called for what matches this pattern; its owner is given valid ones alone.
    case observes(String)
    /// It logs.
    case logs(LogLevel, String)
    /// Something is wrong with its source; nil: nothing is any more.
    case reports(problem: String?)
    /// It answers the question of this number.
    case answers(Int, Result<ContentAnswer, Refusal>)
    /// It has bytes kept for the one that is made after it; nil: nothing any more.
    case keeps([UInt8]?)
    /// The picture that it was to read under a number, or why there is none.
    case image(Int, Result<ItemImage, Refusal>)
}
