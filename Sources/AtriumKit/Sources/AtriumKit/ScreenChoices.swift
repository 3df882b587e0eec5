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
///
/// A copy shares its memory with the original until one of them is changed, and two that share it are compared at once.
@frozen
public struct ScreenChoices: Sendable, Hashable {
    /// The scope; nil: the container has none.
    public var scope: String? {
        get { storage.members.scope }
        set { change { $0.scope = newValue } }
    }
    /// The selected filters.
    public var selection: Selection {
        get { storage.members.selection }
        set { change { $0.selection = newValue } }
    }
    /// What is searched; empty: nothing.
    public var search: String {
        get { storage.members.search }
        set { change { $0.search = newValue } }
    }
    /// The fields that it is sorted by, each with a `-` before it for the other way round; empty: by id.
    public var sort: [String] {
        get { storage.members.sort }
        set { change { $0.sort = newValue } }
    }
    /// The item that was entered, after those that it lies under, outermost first; empty: the top.
    ///
    /// The last one decides: what it lies under follows from the data.
    public var path: [String] {
        get { storage.members.path }
        set { change { $0.path = newValue } }
    }
    /// The item whose votes and comments are shown; nil: the container's.
    public var focus: String? {
        get { storage.members.focus }
        set { change { $0.focus = newValue } }
    }
    /// The components that this screen leaves out, beside those that the definition hides.
    public var hidden: Set<String> {
        get { storage.members.hidden }
        set { change { $0.hidden = newValue } }
    }

    @usableFromInline
    internal var storage: Storage

    /// Choices; by default none.
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
