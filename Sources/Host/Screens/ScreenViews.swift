public import AtriumKit

/// Which screen.
public struct ScreenID: Sendable, Hashable, CustomStringConvertible {
    /// As it goes over the wire.
    public let text: String

    /// Wraps an id as it came over the wire.
    public init(_ text: String) { self.text = text }

    /// As it goes over the wire.
    public var description: String { text }
}

/// What a screen opens with.
public struct ScreenRequest: Sendable, Hashable {
    /// The container.
    public var container: String
    /// The selected filters.
    public var selection: Selection
    /// Text to search; nil or empty: none.
    public var search: String?
    /// Field names, `-` before for descending.
    public var sort: [String]
    /// At most so many items of each list, 1 to 1,000.
    public var limit: Int
    /// Whose ballots are `mine`: an actor's name.
    public var actor: String?

    /// A request; by default the first 50 items of each list.
    public init(
        container: String, selection: Selection = Selection(), search: String? = nil,
        sort: [String] = [], limit: Int = 50, actor: String? = nil
    ) {
        self.container = container
        self.selection = selection
        self.search = search
        self.sort = sort
        self.limit = limit
        self.actor = actor
    }
}

/// One revision of a screen, whole, all of one moment.
public struct ScreenSnapshot: Sendable, Hashable {
    /// A component as screens show it; of a hidden one they show nothing else.
    public struct ComponentView: Sendable, Hashable {
        /// Its name in the container.
        public var name: String
        /// What it does; nil while its plugin is not there.
        public var kind: Kind?
        /// What people read.
        public var title: String
        /// Whether the screen leaves it out.
        public var isHidden: Bool

        /// A component.
        public init(name: String, kind: Kind?, title: String, isHidden: Bool) {
            self.name = name
            self.kind = kind
            self.title = title
            self.isHidden = isHidden
        }
    }

    /// One list.
    public struct ListView: Sendable, Hashable {
        /// The component that it belongs to.
        public var component: String
        /// How many items match in all.
        public var total: Int
        /// The first of them, in order.
        public var items: [ItemView]

        /// A list.
        public init(component: String, total: Int, items: [ItemView]) {
            self.component = component
            self.total = total
            self.items = items
        }
    }

    /// The screen.
    public var screen: ScreenID
    /// Counts up from 1.
    public var revision: Int
    /// The last durable sequence that this reflects.
    public var sequence: Int64
    /// How many commits, or changes of the selection, this revision stands for.
    public var commits: Int
    /// The components, in order.
    public var components: [ComponentView]
    /// The sections with counts; nil where no filters component is shown.
    public var sections: [SectionView]?
    /// The lists that are shown, in order.
    public var lists: [ListView]
    /// The votes on the container itself; nil where no votes component is shown.
    public var tally: TallyView?

    /// A revision.
    public init(
        screen: ScreenID, revision: Int, sequence: Int64, commits: Int,
        components: [ComponentView], sections: [SectionView]?, lists: [ListView],
        tally: TallyView?
    ) {
        self.screen = screen
        self.revision = revision
        self.sequence = sequence
        self.commits = commits
        self.components = components
        self.sections = sections
        self.lists = lists
        self.tally = tally
    }
}
