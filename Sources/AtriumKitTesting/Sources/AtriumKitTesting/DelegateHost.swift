public import AtriumKit

/// A container for one delegate, in memory: what a plugin's own tests run it in.
///
/// It keeps what is chosen on each screen, and what the delegate said there. It has no components: what these
/// would report is passed to the delegate's own methods.
///
/// ```swift
/// let host = try DelegateHost(Agenda.self, settings: ["least": 2])
/// #expect(host.show(ScreenChoices(search: "a"), on: "s").search == "")
/// ```
///
/// It is not Sendable: use it where it was made.
public final class DelegateHost {
    /// The delegate.
    public let delegate: ContainerDelegate
    /// What the delegate logged, in order.
    public private(set) var logs: [String] = []

    private let memory: DelegateMemory

    /// Makes the delegate, and wires it.
    ///
    /// - Parameters:
    ///   - type: its class.
    ///   - settings: as a definition would give them.
    ///   - fields: the container's fields; by default those of the conformance suite.
    ///   - container: the container's name.
    ///   - scope: the scope that it is the delegate of; nil: the container.
    /// - Throws: what its `init` throws, or `SettingError`.
    public init(
        _ type: ContainerDelegate.Type, settings: [String: Value] = [:],
        fields: [Field] = Conformance.fields, container: String = "test", scope: String? = nil
    ) throws {
        let memory = DelegateMemory(name: container)
        self.memory = memory
        delegate = try type.init(
            context: DelegateContext(
                container: container, scope: scope,
                settings: Settings(settings, declared: type.settings), fields: fields
            ) { memory.logs.append("\($0.rawValue): \($1)") })
        delegate.attach(to: memory)
    }

    /// Does on a screen what a user would: the delegate is asked, and its answer is kept.
    ///
    /// - Parameters:
    ///   - next: what the user chose.
    ///   - screen: the screen; it is opened with these choices where it is not there.
    ///   - actor: whose screen it is.
    /// - Returns: what the screen shows.
    @discardableResult
    public func show(
        _ next: ScreenChoices, on screen: String, as actor: Int64 = 1
    ) -> ScreenChoices {
        let answer = delegate.screen(
            ScreenReference(id: screen, actor: ActorID(actor)), willShow: next,
            after: memory.screens[screen])
        memory.screens[screen] = answer
        return answer
    }

    /// Asks what a screen is to show, of which nothing is kept.
    ///
    /// - Parameters:
    ///   - screen: the screen.
    ///   - next: what the user chose.
    ///   - shown: what the screen shows until now; nil: it is being opened.
    /// - Returns: the answer, and what the delegate did meanwhile.
    func ask(
        _ screen: ScreenReference, _ next: ScreenChoices, after shown: ScreenChoices?
    ) -> (answer: ScreenChoices, deeds: [DelegateDeed]) {
        memory.deeds = []
        memory.screens = shown.map { [screen.id: $0] } ?? [:]
        let answer = delegate.screen(screen, willShow: next, after: shown)
        defer { (memory.deeds, memory.edits, memory.screens) = (nil, [], [:]) }
        // What is changed meanwhile is what the answer shows.
        memory.screens[screen.id] = answer
        for (screen, edit) in memory.edits {
            var choices = memory.screens[screen] ?? ScreenChoices()
            edit(&choices)
            memory.screens[screen] = choices
            memory.deeds?.append(.change(choices, on: screen))
        }
        return (answer, memory.deeds ?? [])
    }

    /// What is chosen on each screen.
    public var screens: [String: ScreenChoices] { memory.screens }
    /// What the delegate said last, by screen.
    public var messages: [String: String] { memory.messages }
    /// Where the delegate led last, by screen: the container, and an item of it.
    public var leads: [String: (container: String, item: String?)] { memory.leads }
    /// What the delegate published, in order.
    public var published: [(name: String, payload: [String: Value])] { memory.published }
    /// What the delegate had look at their sources again, in order; nil: all components.
    public var reloads: [String?] { memory.reloads }
}

/// What a delegate did while it was asked what a screen is to show.
enum DelegateDeed: Equatable {
    /// It sent a message.
    case message(String, on: String)
    /// It led to another container.
    case lead(to: String, item: String?, on: String)
    /// It changed what is chosen on a screen, to this.
    case change(ScreenChoices, on: String)
}

/// A container that only remembers.
private final class DelegateMemory: ContainerHandle {
    let name: String
    var screens: [String: ScreenChoices] = [:]
    var messages: [String: String] = [:]
    var leads: [String: (container: String, item: String?)] = [:]
    var published: [(name: String, payload: [String: Value])] = []
    var reloads: [String?] = []
    var logs: [String] = []
    /// What is done while the delegate is asked; nil: it is not.
    var deeds: [DelegateDeed]?
    /// The changes that are made once it has answered.
    var edits: [(screen: String, edit: (inout ScreenChoices) -> Void)] = []

    init(name: String) { self.name = name }

    func choices(of screen: String) -> ScreenChoices? { screens[screen] }

    func change(_ screen: String, _ edit: @escaping (inout ScreenChoices) -> Void) {
        guard deeds == nil else { return edits.append((screen, edit)) }
        if var choices = screens[screen] {
            edit(&choices)
            screens[screen] = choices
        }
    }

    func message(_ text: String, on screen: String) {
        messages[screen] = String(text.prefix(500))
        deeds?.append(.message(text, on: screen))
    }

    func lead(_ screen: String, to container: String, item: String?) {
        leads[screen] = (container, item)
        deeds?.append(.lead(to: container, item: item, on: screen))
    }

    func publish(_ name: String, _ payload: [String: Value]) { published.append((name, payload)) }

    func reload(_ component: String?) { reloads.append(component) }

    func updateList(of component: ComponentReference, with change: ContentChange) {}
    func updateTally(_ tally: Tally, of subject: Subject, from component: ComponentReference) {}
    func updateCommentCount(
        _ count: Int, of subject: Subject, from component: ComponentReference
    ) {}
}
