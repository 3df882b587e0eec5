public import AtriumKit

/// Identifies a screen.
public struct ScreenID: Sendable, Hashable, CustomStringConvertible {
    /// The id on the wire.
    public let text: String
    /// The hash of the text, computed once: ids are looked up at each revision.
    private let textHash: Int

    /// Makes an id from its form on the wire.
    public init(_ text: String) {
        self.text = text
        textHash = text.hashValue
    }

    /// The id on the wire.
    public var description: String { text }

    /// Hashes the id.
    public func hash(into hasher: inout Hasher) { hasher.combine(textHash) }
}

/// One reader of a screen; a screen has one at a time, and a new one replaces it.
public struct ScreenReader: Sendable, Hashable {
    /// The screen.
    public let screen: ScreenID
    let turn: Int
}

/// A request to open a screen.
public struct ScreenRequest: Sendable, Hashable {
    /// A screen to resume, and the last revision that its reader has.
    public struct Resume: Sendable, Hashable {
        /// The screen.
        public var screen: ScreenID
        /// The revision.
        public var revision: Int

        /// Creates the description of a screen to resume.
        public init(screen: ScreenID, revision: Int) {
            self.screen = screen
            self.revision = revision
        }
    }

    /// The container.
    public var container: String
    /// The scope; nil: the container's first, if it has any.
    public var scope: String?
    /// The selected filters; nil: those that the definition preselects.
    public var selection: Selection?
    /// The text to search for; nil or empty: no search.
    public var search: String?
    /// Field names, with `-` before them for descending order.
    public var sort: [String]
    /// The most entries of each list, 1 to 1,000.
    public var limit: Int
    /// The actor whose ballots are `mine`, by name.
    public var actor: String?
    /// The actor for whom items are chosen on it; nil: the caller's.
    public var agent: String?
    /// The screen to resume; the other members then count only if that is not possible.
    public var resume: Resume?

    /// A request; by default the first 50 entries of each list, on a new screen.
    public init(
        container: String, scope: String? = nil, selection: Selection? = nil,
        search: String? = nil, sort: [String] = [], limit: Int = 50, actor: String? = nil,
        agent: String? = nil,
        resume: Resume? = nil
    ) {
        self.container = container
        self.scope = scope
        self.selection = selection
        self.search = search
        self.sort = sort
        self.limit = limit
        self.actor = actor
        self.agent = agent
        self.resume = resume
    }
}

/// A component as screens show it; for a hidden one this is all that they show.
public struct ScreenComponent: Sendable, Hashable {
    /// Its name in the container.
    public var name: String
    /// Its kind; nil while its plugin is not loaded.
    public var kind: Kind?
    /// The container that is a part; nil: the component is made by a plugin.
    public var container: String?
    /// The title that people read.
    public var title: String
    /// Whether the screen hides it.
    public var isHidden: Bool
    /// Why it does not answer now, so that the screen shows what it had; nil: it answers.
    public var problem: String?
    /// Which votes or comments it takes; nil for other kinds, and before its first start.
    public var facts: ComponentFacts?
    /// How front ends show the items of its list; nil: the front end chooses.
    public var present: Presentation?
    /// The default order of its list; empty: by id.
    public var sort: [String]
    /// The text that people read while its list is empty; nil: the front end chooses.
    public var empty: String?
}

/// An edit of a list from one revision to the next; indexes apply after the edits before it.
public enum ListEdit<Entry: Sendable & Hashable>: Sendable, Hashable {
    /// A new entry.
    case insert(Entry, at: Int)
    /// An entry was removed.
    case remove(at: Int)
    /// An entry has moved: it is removed, and then inserted.
    case move(at: Int, to: Int)
    /// An entry has changed.
    case update(Entry, at: Int)
}

/// The change of one list.
public struct ListChange<Entry: Sendable & Hashable>: Sendable, Hashable {
    /// The component that it belongs to.
    public var component: String
    /// The number of entries in total.
    public var total: Int
    /// Whether there are more entries, of unknown number.
    public var hasMore = false
    /// Whether the list shows everything that it should.
    public var state = ListState.ready
    /// The edits from the previous window to this one, in order.
    public var edits: [ListEdit<Entry>]
}

/// An encoded change, shared by all who receive it.
public struct ChangeBytes: Sendable {
    /// The change without its lists, as members of an object.
    public var members: [UInt8]
    /// The lists, as elements of an array.
    public var lists: [UInt8]

    /// Creates a change from its encoded parts.
    public init(members: [UInt8] = [], lists: [UInt8] = []) {
        self.members = members
        self.lists = lists
    }
}

/// The container that a delegate has a screen's client open, focused on the item; `lead` on the wire.
public struct NavigationTarget: Sendable, Hashable {
    /// The container.
    public var container: String
    /// The item; nil: the container itself.
    public var item: String?
}

/// One revision of a screen: the changes since the one before, all of one moment.
public struct ScreenRevision: Sendable {
    /// The screen.
    public var screen: ScreenID
    /// The revision on which this one is based; nil: it is whole.
    public var base: Int?
    /// The revision's number, counted from 1.
    public var revision: Int
    /// The last durable sequence that this reflects.
    public var sequence: Int64
    /// The number of the container's commits between both; 0 if only the user's choices changed.
    public var commits: Int
    /// Why a screen that should be resumed starts anew.
    public var reset: String?
    /// The delegate's message to the user.
    public var message: String?
    /// The container that the delegate has the client open.
    public var navigation: NavigationTarget?
    /// The changes, shared by all who take the same step.
    public var step: ScreenStep
    /// The changes of its parts, in order.
    public var parts: [ScreenPart] = []
}

/// The change of one part of a screen: a container within the screen's.
public struct ScreenPart: Sendable {
    /// The names of components from the screen to the part, separated by `/`.
    public var path: String
    /// The container.
    public var container: String
    /// Whether the part starts anew: ``step`` is then whole.
    public var isNew = false
    /// Whether the part is no longer shown.
    public var isGone = false
    /// Why it can't be shown now; nil: it can.
    public var problem: String?
    /// The changes of what it shows; nil: it shows nothing.
    public var step: ScreenStep?
}
