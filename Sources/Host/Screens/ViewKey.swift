import AtriumKit

/// The choices made on a screen that decide what is shared with other screens.
///
/// Copies share their memory until one of them changes, and are hashed once together: each step of a choice copies
/// its key and looks its view up.
@dynamicMemberLookup
struct ViewKey: Hashable {
    /// An item on the path of a screen: a list shows its children.
    struct PathItem: Hashable {
        var component: String
        var item: String
    }

    struct Members: Hashable {
        /// Nil: the container has no scopes.
        var scope: String?
        var selection = Selection()
        var search = ""
        var sort: [String] = []
        /// The entered item after its ancestors, outermost first.
        var path: [PathItem] = []
        /// The most entries of each list.
        var limit = 50
        /// Other limits, by component.
        var limits: [String: Int] = [:]
        /// Hidden components, without those that the definition hides.
        var hidden: Set<String> = []
    }

    private final class Storage {
        var members: Members {
            didSet { hash = nil }
        }
        private var hash: Int?

        init(_ members: Members) { self.members = members }

        var hashOfMembers: Int {
            if let hash { return hash }
            let made = members.hashValue
            hash = made
            return made
        }
    }

    private var storage: Storage

    init(_ members: Members = Members()) { storage = Storage(members) }

    subscript<Value>(dynamicMember path: WritableKeyPath<Members, Value>) -> Value {
        @inline(__always) get { storage.members[keyPath: path] }
        set {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.members) }
            storage.members[keyPath: path] = newValue
        }
    }

    static func == (one: ViewKey, other: ViewKey) -> Bool {
        one.storage === other.storage
            || one.storage.hashOfMembers == other.storage.hashOfMembers
                && one.storage.members == other.storage.members
    }

    func hash(into hasher: inout Hasher) { hasher.combine(storage.hashOfMembers) }

    /// The most entries of a component's list.
    func mostEntries(of component: String) -> Int { self.limits[component] ?? self.limit }

    /// Goes to another scope, at the top.
    mutating func go(to scope: String?) {
        guard scope != self.scope else { return }
        self.scope = scope
        self.path = []
    }

    /// Which lists the screen shows, as long as its scope exists.
    var mode: ListMode {
        ListMode(isInside: !self.path.isEmpty, isSearching: !self.search.isEmpty)
    }
}
