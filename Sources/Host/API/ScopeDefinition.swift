/// A named part of a container that screens go to, as to a tab: which of its lists are shown.
///
/// Filters, votes and comments are the container's in all of its scopes.
public struct ScopeDefinition: Sendable, Hashable {
    /// Its name in the container.
    public var name: String
    /// What people read; nil: the name.
    public var title: String?
    /// The contents components that it shows.
    public var lists: ListModes
    /// The name under which an item that is activated in it is posted; nil: the container's.
    public var activate: String?
    /// Who makes its delegate; nil: it has the container's.
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
