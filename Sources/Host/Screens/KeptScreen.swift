public import AtriumKit

/// A screen as another process needs it: whose it is, and what was chosen on it.
public struct KeptScreen: Sendable, Hashable {
    /// The screen, which keeps its id.
    public var id: ScreenID
    /// What it shows.
    public var container: String
    /// The user whose it is.
    public var owner: String
    /// Whose ballots are `mine`.
    public var actor: String?
    /// In whose name items are chosen on it.
    public var agent: String
    /// The last revision that was made of it; of a process that crashed, one that was made earlier.
    public var revision = 0
    /// What tells what its reader was sent last from everything else; nil: not known.
    public var digest: Int?

    /// The scope; nil: its container had none.
    public var scope: String?
    /// The selected filters.
    public var selection = Selection()
    /// What is searched.
    public var search = ""
    /// What it is sorted by.
    public var sort: [String] = []
    /// The entered item, after those that it lay under, outermost first, and in which component.
    public var places: [Place] = []
    /// At most so many entries of each list.
    public var limit = 50
    /// Other limits, by component.
    public var limits: [String: Int] = [:]
    /// The components that it leaves out.
    public var hidden: Set<String> = []
    /// The item that it is focused on; nil: the container.
    public var subject: String?
    /// What was chosen on its parts, by their paths.
    public var parts: [String: KeptScreen] = [:]

    /// An item whose children a list shows.
    public struct Place: Sendable, Hashable {
        /// The list.
        public var component: String
        /// The item.
        public var item: String

        /// A place.
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

/// What becomes of the screens that another process would need to know.
public enum ScreenNote: Sendable, Hashable {
    /// It was opened, or something was chosen on it.
    case chosen(KeptScreen)
    /// It is gone.
    case gone(ScreenID)
}

extension KeptScreen {
    /// A screen as it is now; nil once its container is gone.
    init?(_ screen: Screen) {
        guard let container = screen.home?.container else { return nil }
        self.init(
            id: screen.id, container: container.name, owner: screen.owner, actor: screen.actor,
            agent: screen.agent)
        revision = screen.revision
        let view = screen.choices.view
        scope = view.scope
        selection = view.selection
        search = view.search
        sort = view.sort
        places = view.places.map { Place(component: $0.component, item: $0.item) }
        limit = view.limit
        limits = view.limits
        hidden = view.hidden
        subject = screen.choices.subject.item
        guard screen.place == nil else { return }
        screen.forEachPart { part in
            guard let place = part.place, place.isOpen else { return }
            parts[place.path] = KeptScreen(part)
        }
    }

    /// Its own container, then those of its parts, each once.
    var ownAndOthers: [String] {
        [container] + Set(parts.values.map(\.container)).subtracting([container]).sorted()
    }

    /// What was chosen.
    var choices: Screen.Choices {
        var view = ViewKey(
            scope: scope, selection: selection, search: search, sort: sort, limit: limit)
        view.places = places.map { ViewKey.Place(component: $0.component, item: $0.item) }
        view.limits = limits
        view.hidden = hidden
        return Screen.Choices(view: view, subject: Subject(item: subject))
    }

    /// What would open it anew, with the same choices as far as an opening has them.
    public var request: ScreenRequest {
        ScreenRequest(
            container: container, scope: scope, selection: selection, search: search, sort: sort,
            limit: limit, actor: actor, agent: agent,
            resume: .init(screen: id, revision: revision))
    }
}

/// A screen of another process that is being brought back.
final class ScreenRestoration {
    let kept: KeptScreen
    private var waiting: [() -> Void] = []

    init(_ kept: KeptScreen) { self.kept = kept }

    /// Goes on once it is known what the screen shows, or that it is gone.
    func whenOver(_ body: @escaping () -> Void) { waiting.append(body) }

    func end() {
        for body in waiting { body() }
        waiting = []
    }
}
