public import AtriumKit

/// A screen as another process needs it for a handover: its owner and what was chosen on it.
public struct KeptScreen: Sendable, Hashable {
    /// The screen, which keeps its id.
    public var id: ScreenID
    /// The container that it shows.
    public var container: String
    /// Its user.
    public var owner: String
    /// The actor whose ballots are `mine`.
    public var actor: String?
    /// The actor for whom items are chosen on it.
    public var agent: String
    /// Its last revision; after a crash, possibly an earlier one.
    public var revision = 0
    /// A digest of the state that its reader was last sent; nil: not known.
    public var digest: Int?

    /// The scope; nil: its container had none.
    public var scope: String?
    /// The selected filters.
    public var selection = Selection()
    /// The text that is searched for.
    public var search = ""
    /// The fields that it is sorted by.
    public var sort: [String] = []
    /// The entered item after its ancestors, outermost first, each with its list.
    public var path: [PathItem] = []
    /// The most entries of each list.
    public var limit = 50
    /// Other limits, by component.
    public var limits: [String: Int] = [:]
    /// The components that it hides.
    public var hidden: Set<String> = []
    /// The item that it is focused on; nil: the container.
    public var subject: String?
    /// The choices made on its parts, by path.
    public var parts: [String: KeptScreen] = [:]

    /// An item on the path of a screen: a list shows its children.
    public struct PathItem: Sendable, Hashable {
        /// The list.
        public var component: String
        /// The item.
        public var item: String

        /// An item on a path.
        public init(component: String, item: String) {
            self.component = component
            self.item = item
        }
    }

    /// A screen on which nothing was chosen.
    public init(
        id: ScreenID, container: String, owner: String, actor: String?, agent: String
    ) {
        self.id = id
        self.container = container
        self.owner = owner
        self.actor = actor
        self.agent = agent
    }
}

/// A change of a screen that another process would need to know.
public enum ScreenNote: Sendable, Hashable {
    /// The screen was opened, or something was chosen on it.
    case chosen(KeptScreen)
    /// The screen was closed.
    case gone(ScreenID)
}

extension KeptScreen {
    /// The screen as it is now; nil if its container was removed.
    init?(_ screen: Screen) {
        guard let container = screen.home?.container else { return nil }
        self.init(
            id: screen.id, container: container.name, owner: screen.owner, actor: screen.actor,
            agent: screen.agent)
        revision = screen.sent.number
        let view = screen.choices.view
        scope = view.scope
        selection = view.selection
        search = view.search
        sort = view.sort
        path = view.path.map { PathItem(component: $0.component, item: $0.item) }
        limit = view.limit
        limits = view.limits
        hidden = view.hidden
        subject = screen.choices.subject.item
        guard screen.partState == nil else { return }
        screen.forEachPart { part in
            guard let state = part.partState, state.isOpen else { return }
            parts[state.path] = KeptScreen(part)
        }
    }

    /// Its own container, then those of its parts, each once.
    var ownAndOthers: [String] {
        [container] + Set(parts.values.map(\.container)).subtracting([container]).sorted()
    }

    /// Its choices.
    var choices: Screen.Choices {
        let view = ViewKey.Members(
            scope: scope, selection: selection, search: search, sort: sort,
            path: path.map { ViewKey.PathItem(component: $0.component, item: $0.item) },
            limit: limit, limits: limits, hidden: hidden)
        return Screen.Choices(view: ViewKey(view), subject: Subject(item: subject))
    }

    /// The request that would open it anew, with as many of its choices as a request can have.
    public var request: ScreenRequest {
        ScreenRequest(
            container: container, scope: scope, selection: selection, search: search, sort: sort,
            limit: limit, actor: actor, agent: agent,
            resume: .init(screen: id, revision: revision))
    }
}
