/// The harness around one component: the same code in the daemon, in a worker and in a plugin's own
/// tests.
///
/// It turns commands into decisions, applies them to the component ahead of the commit, and
/// collects what the component reports to its delegate instead of passing it on.
///
/// Used on one serial domain. Its life follows the component's:
/// 1. `init`, then ``restore(_:)`` as often as needed and ``finishRestore()`` once, also when there
///    was nothing to restore: until then the component's delegate is nil.
/// 2. ``pass(_:)`` for attaching.
/// 3. ``decide(_:_:)``, ``answer(_:)``, ``report(_:)`` and ``undo(_:)`` in any order. After each call into the
/// component that the harness did not make itself (an observed notification, the result of background work) the host
/// calls ``takeEvents()``.
/// 4. ``pass(_:)`` for detaching, after which the component has no delegate.
public final class ComponentHarness {
    /// The component by what it does.
    enum Role {
        case contents(any ContentListing)
        case filters(any Filtering)
        case votes(any Voting)
        case comments(any Commenting)
    }

    /// The component's kind.
    public let kind: Kind

    let role: Role
    let collector = EventCollector()
    let component: any Component
    private let context: ComponentContext

    /// The fields whose values a filters component observes; empty for other kinds.
    public var observedFields: [String] {
        if case .filters(let filters) = role { filters.observedFields } else { [] }
    }

    /// The selection of a filters component on screens that are opened without one; empty for other kinds.
    public var preselection: Selection {
        if case .filters(let filters) = role { filters.preselection } else { Selection() }
    }

    /// The facts about the votes or comments that the component accepts; nil for other kinds.
    public var facts: ComponentFacts? {
        switch role {
        case .votes(let votes): .votes(votes.facts)
        case .comments(let comments): .comments(comments.facts)
        case .contents, .filters: nil
        }
    }

    /// Checks the settings and creates the component.
    ///
    /// - Parameters:
    ///   - type: the component's class.
    ///   - container: the container's name.
    ///   - component: the component's name in it.
    ///   - settings: the settings as in the definition; the harness fills in defaults.
    ///   - secrets: the texts that secret settings refer to, by setting; none by default.
    ///   - fields: the container's fields, in order.
    ///   - services: the services of the host.
    /// - Throws: ``SettingError``; ``Refusal`` for a class of none of the four kinds; or whatever
    ///   the component's `init` throws.
    public init(
        _ type: any Component.Type, container: String, component: String,
        settings: [String: Value], secrets: [String: String] = [:], fields: [Field],
        services: any ContextServices
    ) throws {
        let context = ComponentContext(
            container: container, component: component,
            settings: try Settings(settings, declared: type.settings, secrets: secrets),
            fields: fields,
            services: services)
        let made = try type.init(context: context)
        guard let role = Role(made) else {
            throw Refusal(
                .refused,
                "The class \(type) is of no kind: let it conform to ContentListing, Filtering, "
                    + "Voting or Commenting.")
        }
        self.context = context
        self.component = made
        self.role = role
        self.kind = role.kind
    }

    /// Applies stored records with the delegate silent; may be called several times.
    public func restore(_ changes: [Change]) {
        setDelegate(nil)
        for change in changes { component.apply(change) }
    }

    /// Whether the component's items are exactly its records, and it accepts all of them at once: see
    /// ``RecordListing``.
    public var listsRecords: Bool {
        if case .contents(let source) = role { source is any RecordListing } else { false }
    }

    /// Passes all records at once to a component that ``listsRecords``, instead of any `restore(_:)` with changes and
    /// of ``finishRestore()``, as the caller knows all items.
    public func restore(_ items: any RestoredItems) {
        setDelegate(nil)
        if case .contents(let source as any RecordListing) = role { source.restore(items) }
        setDelegate(collector)
    }

    /// Whether the component accepts ballots in place of their records: see ``BallotRestoring``.
    public var restoresBallots: Bool {
        if case .votes(let votes) = role { votes is any BallotRestoring } else { false }
    }

    /// Passes ballots to a component that ``restoresBallots``, beside `restore(_:)` with the changes of other records;
    /// may be called several times.
    public func restore(ballots: [Ballot]) {
        setDelegate(nil)
        if case .votes(let votes as any BallotRestoring) = role { votes.restore(ballots) }
    }

    /// Whether the component accepts comments in place of their records: see ``CommentRestoring``.
    public var restoresComments: Bool {
        if case .comments(let comments) = role { comments is any CommentRestoring } else { false }
    }

    /// Announces comments to a component that ``restoresComments``.
    ///
    /// - Parameter count: the number of its records, as far as it is known.
    public func reserve(comments count: Int) {
        if case .comments(let comments as any CommentRestoring) = role { comments.reserve(count) }
    }

    /// Passes comments to a component that ``restoresComments``, beside `restore(_:)` with the changes of other
    /// records; may be called several times.
    public func restore(comments: [Comment]) {
        setDelegate(nil)
        if case .comments(let own as any CommentRestoring) = role { own.restore(comments) }
    }

    /// Ends the restore: returns all items, tallies or counts as absolute values, in pieces.
    ///
    /// It may be called again at any time, to read the whole state again. For a source that is loading it returns
    /// nothing.
    public func finishRestore() -> ComponentState {
        setDelegate(collector)
        return switch role {
        case .contents(let source):
            // A queried source (`Querying`) reports items only in answers.
            source.isLoading || asks
                ? ComponentState() : ComponentState(items: source.items)
        case .filters: ComponentState()
        case .votes(let votes): ComponentState(tallies: votes.tallies)
        case .comments(let comments): ComponentState(counts: comments.counts)
        }
    }

    /// Whether the component can take other settings while it runs: the answer to ``ComponentQuery/canTake(_:)``.
    func canTake(_ settings: [String: Value]) -> Bool {
        guard let settings = checked(settings) else { return false }
        // A host may have prepared what a path names for the component that it made.
        let paths = type(of: component).settings.filter { $0.type == .path }.map(\.name)
        return paths.allSatisfy { settings.values[$0] == context.settings.values[$0] }
            && component.canTake(settings)
    }

    /// Gives the component new settings, after it answered ``ComponentQuery/canTake(_:)`` with true.
    ///
    /// Events that it reports meanwhile are returned by ``takeEvents()``.
    public func take(_ settings: [String: Value]) {
        guard let settings = checked(settings) else { return }
        let before = context.settings
        context.settings = settings
        component.settingsDidChange(from: before)
    }

    /// Returns settings as the component would get them; nil if they are wrong, or one is a secret, whose text the
    /// harness does not have.
    private func checked(_ settings: [String: Value]) -> Settings? {
        try? Settings(settings, declared: type(of: component).settings)
    }

    /// Resets the touched records to the store's values after a failed commit.
    ///
    /// Events that the component reports meanwhile are dropped: the delegate never received the change.
    ///
    /// - Parameter changes: the stored value of each touched key, or `removed`.
    public func undo(_ changes: [Change]) {
        collector.drop { for change in changes { component.apply(change) } }
    }

    /// Passes the values of observed fields to a filters component; other kinds ignore it.
    ///
    /// - Parameters:
    ///   - values: the distinct values, sorted, by field.
    ///   - cut: the fields that have more values than are passed: those of most items are passed.
    public func report(_ values: [String: [Value]], cut: Set<String> = []) {
        if case .filters(let filters) = role { filters.fieldValuesDidChange(values, cut: cut) }
    }

    /// Returns the events that the component raised by itself (from background work or an observed notification) since
    /// the last call.
    public func takeEvents() -> [ComponentEvent] { collector.takeOwn() }

    /// Calls a life-cycle method of the component.
    public func pass(_ phase: LifecyclePhase) {
        switch phase {
        case .willAttach: component.willAttach()
        case .didAttach: component.didAttach()
        case .willDetach: component.willDetach()
        case .didDetach:
            component.didDetach()
            setDelegate(nil)
        }
    }

    /// Makes the component read its source again.
    public func reload() { component.reload() }

    /// Whether the component is a source that is queried.
    public var asks: Bool {
        if case .contents(let source as any Querying) = role { source.isAsked } else { false }
    }

    /// Passes a question to a source that is queried; another component refuses.
    ///
    /// - Parameters:
    ///   - question: the question.
    ///   - reply: receives the answer, now or later; called for every reply of the source.
    public func ask(
        _ question: ContentQuestion,
        _ reply: @escaping (Result<ContentAnswer, Refusal>) -> Void
    ) {
        guard case .contents(let source as any Querying) = role, source.isAsked else {
            return reply(.failure(notForThisKind()))
        }
        source.ask(question, reply)
    }

    /// Passes the number of screens that show the component.
    public func reportAudience(_ screens: Int) { component.didChangeAudience(screens) }

    /// Runs work off the domain, as the component's own `background` does.
    func inBackground<Result: Sendable>(
        _ work: @escaping @Sendable () async throws -> Result,
        then: @escaping (Swift.Result<Result, any Error>) -> Void
    ) {
        context.background(work, then: then)
    }

    func notForThisKind() -> Refusal {
        Refusal(
            .refused,
            "The component '\(context.component)' is of the kind '\(kind.rawValue)', which does "
                + "not know this call; name a component of the right kind.")
    }

    private func setDelegate(_ delegate: EventCollector?) {
        switch role {
        case .contents(let source): source.delegate = delegate
        case .filters(let filters): filters.delegate = delegate
        case .votes(let votes): votes.delegate = delegate
        case .comments(let comments): comments.delegate = delegate
        }
    }
}

extension ComponentHarness.Role {
    /// The component's role; of a class with several kinds the first counts, in the order of
    /// ``Kind``, as in ``PluginEntry/kind``.
    init?(_ component: any Component) {
        if let source = component as? any ContentListing {
            self = .contents(source)
        } else if let filters = component as? any Filtering {
            self = .filters(filters)
        } else if let votes = component as? any Voting {
            self = .votes(votes)
        } else if let comments = component as? any Commenting {
            self = .comments(comments)
        } else {
            return nil
        }
    }

    var kind: Kind {
        switch self {
        case .contents: .contents
        case .filters: .filters
        case .votes: .votes
        case .comments: .comments
        }
    }
}
