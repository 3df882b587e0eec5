public import AtriumKit

/// A container for one delegate, in memory, for a plugin's own tests.
///
/// It keeps the choices of each screen, and the delegate's messages. It has no components: a test calls the delegate's
/// methods for their reports itself.
///
/// ```swift
/// let host = try DelegateHost(Agenda.self, settings: ["least": 2])
/// #expect(host.show(ScreenChoices(search: "a"), on: "s").search == "")
/// ```
///
/// It is not Sendable: use it in the isolation domain that created it.
public final class DelegateHost {
    /// The delegate.
    public let delegate: ContainerDelegate
    /// The messages that the delegate logged, in order.
    public private(set) var logs: [String] = []

    private let memory: DelegateMemory

    /// Creates the delegate and attaches it.
    ///
    /// - Parameters:
    ///   - type: the delegate's class.
    ///   - settings: the settings, as in a definition.
    ///   - fields: the container's fields; by default those of the conformance suite.
    ///   - container: the container's name.
    ///   - scope: the delegate's scope; nil: it is the container's.
    /// - Throws: the errors of its `init`, or `SettingError`.
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

    /// Makes a user's choice on a screen: calls the delegate and keeps its answer.
    ///
    /// - Parameters:
    ///   - next: the user's choices.
    ///   - screen: the screen; it is opened with these choices if it does not exist.
    ///   - actor: the screen's user.
    /// - Returns: the choices that the screen shows.
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

    /// Asks the delegate what a screen shows, without keeping anything.
    ///
    /// - Parameters:
    ///   - screen: the screen.
    ///   - next: the user's choices.
    ///   - shown: the choices that the screen shows now; nil while it is being opened.
    /// - Returns: the delegate's answer, and its actions during the call.
    func ask(
        _ screen: ScreenReference, _ next: ScreenChoices, after shown: ScreenChoices?
    ) -> (answer: ScreenChoices, deeds: [DelegateDeed]) {
        memory.deeds = []
        memory.screens = shown.map { [screen.id: $0] } ?? [:]
        let answer = delegate.screen(screen, willShow: next, after: shown)
        defer { (memory.deeds, memory.edits, memory.screens) = (nil, [], [:]) }
        // Changes during the call apply to the answer.
        memory.screens[screen.id] = answer
        for (screen, edit) in memory.edits {
            var choices = memory.screens[screen] ?? ScreenChoices()
            edit(&choices)
            memory.screens[screen] = choices
            memory.deeds?.append(.change(choices, on: screen))
        }
        return (answer, memory.deeds ?? [])
    }

    /// The choices of each screen.
    public var screens: [String: ScreenChoices] { memory.screens }
    /// The delegate's last message, by screen.
    public var messages: [String: String] { memory.messages }
    /// The delegate's last lead, by screen: the container, and an item of it.
    public var leads: [String: (container: String, item: String?)] { memory.leads }
    /// The notifications that the delegate published, in order.
    public var published: [(name: String, payload: [String: Value])] { memory.published }
    /// The components that the delegate reloaded, in order; nil: all components.
    public var reloads: [String?] { memory.reloads }
}

/// An action of a delegate while it was asked what a screen is to show.
enum DelegateDeed: Equatable {
    /// It sent a message.
    case message(String, on: String)
    /// It led the client to another container.
    case lead(to: String, item: String?, on: String)
    /// It changed the choices of a screen to these.
    case change(ScreenChoices, on: String)
}

/// A container that only records calls.
private final class DelegateMemory: ContainerHandle {
    let name: String
    var screens: [String: ScreenChoices] = [:]
    var messages: [String: String] = [:]
    var leads: [String: (container: String, item: String?)] = [:]
    var published: [(name: String, payload: [String: Value])] = []
    var reloads: [String?] = []
    var logs: [String] = []
    /// The actions while the delegate is called; nil outside of a call.
    var deeds: [DelegateDeed]?
    /// The changes to make after the delegate has answered.
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
