/// A named part of a container that screens go to, like a tab: it decides which lists are shown.
///
/// Filters, votes and comments are those of the container in all scopes.
public struct ScopeDefinition: Sendable, Hashable {
    /// Its name in the container.
    public var name: String
    /// The title that people read; nil: the name.
    public var title: String?
    /// The contents components that it shows.
    public var lists: ListModes
    /// The name under which an item activated in it is posted; nil: the container's.
    public var activate: String?
    /// The plugin that makes its delegate; nil: it has the container's.
    public var delegate: DelegateDefinition?

    /// A scope; by default it shows the same lists everywhere.
    public init(
        name: String, title: String? = nil, contents: [String], entered: [String] = [],
        searched: [String] = [], activate: String? = nil, delegate: DelegateDefinition? = nil
    ) {
        self.name = name
        self.title = title
        lists = ListModes(contents: contents, entered: entered, searched: searched)
        self.activate = activate
        self.delegate = delegate
    }
}
