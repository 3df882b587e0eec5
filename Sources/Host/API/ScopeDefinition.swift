/// A named mode of a container: which of its lists are shown, as the container's definition says.
///
/// Filters, votes and comments are the container's in all of its scopes.
public struct ScopeDefinition: Sendable, Hashable {
    /// Its name in the container.
    public var name: String
    /// What people read; nil: the name.
    public var title: String?
    /// The contents components that it shows, in order.
    ///
    /// One that was detached is left out until it is attached again.
    public var contents: [String]
    /// The name under which an item that is activated in it is posted; nil: the container's.
    public var activate: String?
    /// Who makes its delegate; nil: it has the container's.
    public var delegate: DelegateDefinition?

    /// A scope.
    public init(
        name: String, title: String? = nil, contents: [String], activate: String? = nil,
        delegate: DelegateDefinition? = nil
    ) {
        self.name = name
        self.title = title
        self.contents = contents
        self.activate = activate
        self.delegate = delegate
    }
}
