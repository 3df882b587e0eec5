/// A screen, for a delegate.
public struct ScreenReference: Sendable, Hashable {
    /// The screen's id.
    public var id: String
    /// The screen's user: items are chosen on it in this person's name.
    public var actor: ActorID

    /// Creates a reference.
    public init(id: String, actor: ActorID) {
        self.id = id
        self.actor = actor
    }
}

/// All choices on a screen: what it shows is a function of these and of the data.
///
/// The number of entries that it shows of each list is not included: front ends keep it.
///
/// A copy shares its memory with the original until one of them is changed; comparing two that share it takes constant
/// time.
@frozen
public struct ScreenChoices: Sendable, Hashable {
    /// The scope; nil: the container has no scopes.
    public var scope: String? {
        get { storage.members.scope }
        set { change { $0.scope = newValue } }
    }
    /// The selected filters.
    public var selection: Selection {
        get { storage.members.selection }
        set { change { $0.selection = newValue } }
    }
    /// The search text; empty: no search.
    public var search: String {
        get { storage.members.search }
        set { change { $0.search = newValue } }
    }
    /// The fields that it is sorted by, with `-` before for descending; empty: by id.
    public var sort: [String] {
        get { storage.members.sort }
        set { change { $0.sort = newValue } }
    }
    /// The entered item, after its ancestors, outermost first; empty: the top.
    ///
    /// The last one decides: its ancestors follow from the data.
    public var path: [String] {
        get { storage.members.path }
        set { change { $0.path = newValue } }
    }
    /// The item whose votes and comments are shown; nil: those of the container.
    public var focus: String? {
        get { storage.members.focus }
        set { change { $0.focus = newValue } }
    }
    /// The components that this screen hides, beside those that the definition hides.
    public var hidden: Set<String> {
        get { storage.members.hidden }
        set { change { $0.hidden = newValue } }
    }

    @usableFromInline
    internal var storage: Storage

    /// Creates choices; by default none.
    public init(
        scope: String? = nil, selection: Selection = Selection(), search: String = "",
        sort: [String] = [], path: [String] = [], focus: String? = nil, hidden: Set<String> = []
    ) {
        storage = Storage(
            Members(
                scope: scope, selection: selection, search: search, sort: sort, path: path,
                focus: focus, hidden: hidden))
    }

    /// Whether all choices are equal.
    public static func == (one: ScreenChoices, other: ScreenChoices) -> Bool {
        one.storage === other.storage || one.storage.members == other.storage.members
    }

    /// Hashes all choices.
    public func hash(into hasher: inout Hasher) { hasher.combine(storage.members) }

    private mutating func change(_ edit: (inout Members) -> Void) {
        if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.members) }
        edit(&storage.members)
    }

    fileprivate struct Members: Hashable {
        var scope: String?
        var selection: Selection
        var search: String
        var sort: [String]
        var path: [String]
        var focus: String?
        var hidden: Set<String>
    }

    /// Unchecked: the members change only while one value refers to them.
    @usableFromInline
    internal final class Storage: @unchecked Sendable {
        fileprivate var members: Members

        fileprivate init(_ members: Members) { self.members = members }
    }
}
