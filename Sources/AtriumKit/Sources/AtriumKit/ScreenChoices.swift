/// A screen, as a delegate knows it.
public struct ScreenReference: Sendable, Hashable {
    /// The screen.
    public var id: String
    /// Whose screen it is: in this person's name items are chosen on it.
    public var actor: ActorID

    /// A reference.
    public init(id: String, actor: ActorID) {
        self.id = id
        self.actor = actor
    }
}

/// All that is chosen on a screen: what it shows is a function of this and of the data.
///
/// How much of each list it shows is no part of it: that is the front end's own.
public struct ScreenChoices: Sendable, Hashable {
    /// The scope; nil: the container has none.
    public var scope: String?
    /// The selected filters.
    public var selection: Selection
    /// What is searched; empty: nothing.
    public var search: String
    /// The fields that it is sorted by, each with a `-` before it for the other way round; empty: by id.
    public var sort: [String]
    /// The item that was entered, after those that it lies under, outermost first; empty: the top.
    ///
    /// The last one decides: what it lies under follows from the data.
    public var path: [String]
    /// The item whose votes and comments are shown; nil: the container's.
    public var focus: String?
    /// The components that this screen leaves out, beside those that the definition hides.
    public var hidden: Set<String>

    /// Choices; by default none.
    public init(
        scope: String? = nil, selection: Selection = Selection(), search: String = "",
        sort: [String] = [], path: [String] = [], focus: String? = nil, hidden: Set<String> = []
    ) {
        self.scope = scope
        self.selection = selection
        self.search = search
        self.sort = sort
        self.path = path
        self.focus = focus
        self.hidden = hidden
    }
}
