/// The harness around one component: the same code in the daemon, in a worker and in a plugin's
/// own tests. It turns commands into decisions, applies them to the component ahead of the commit,
/// and collects what the component tells its delegate instead of passing it on.
///
/// Used on one serial domain.
public final class ComponentHarness {
    /// What the component does.
    public let kind: Kind
    /// The fields whose values a filters component wants reported; else empty.
    public var observedFields: [String] { fatalError("written next") }

    /// Makes the component, its settings checked.
    ///
    /// - Throws: ``SettingError``, or whatever the component's `init` throws.
    public init(
        _ type: any Component.Type, container: String, component: String,
        settings: [String: Value], fields: [Field], services: any ContextServices
    ) throws { fatalError("written next") }

    /// Applies records that the store holds, the delegate silent; call as often as needed.
    public func restore(_ changes: [Change]) {}

    /// Ends the restore: one batch of events that gives all items, tallies or counts absolutely.
    public func finishRestore() -> [ComponentEvent] { [] }

    /// Decides on a command and applies the decision.
    public func decide(
        _ command: ComponentCommand, _ context: CommandContext
    ) throws(Refusal) -> Decision { fatalError("written next") }

    /// Answers a question.
    public func answer(_ query: ComponentQuery) throws(Refusal) -> ComponentAnswer {
        fatalError("written next")
    }

    /// Makes the touched records what the store holds, after a commit that failed. What the
    /// delegate would be told is dropped: it was never told otherwise.
    public func undo(_ changes: [Change]) {}

    /// Tells a filters component the values of the fields that it observes.
    public func report(_ values: [String: [Value]]) {}

    /// Events that the component raised by itself (from background work or an observed
    /// notification) since the last call.
    public func takeEvents() -> [ComponentEvent] { [] }

    /// Passes a step of the component's life on.
    public func pass(_ phase: LifecyclePhase) {}
}
