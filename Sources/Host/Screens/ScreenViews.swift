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

/// One reader of a screen: a screen has one at a time, and a new one takes the place of the last.
public struct ScreenReader: Sendable, Hashable {
    /// The screen.
    public let screen: ScreenID
    let turn: Int
}

/// What a screen opens with.
public struct ScreenRequest: Sendable, Hashable {
    /// A screen that was open before, and the last revision that its reader has.
    public struct Resume: Sendable, Hashable {
        /// The screen.
        public var screen: ScreenID
        /// The revision.
        public var revision: Int

        /// What to go on with.
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
    /// Text to search; nil or empty: none.
    public var search: String?
    /// Field names, `-` before for descending.
    public var sort: [String]
    /// At most so many entries of each list, 1 to 1,000.
    public var limit: Int
    /// Whose ballots are `mine`: an actor's name.
    public var actor: String?
    /// In whose name items are chosen on it; nil: the caller's.
    public var agent: String?
    /// The screen to go on with; what else is asked for then counts only where it starts anew.
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

/// A component as screens show it; of a hidden one they show nothing else.
public struct ScreenComponent: Sendable, Hashable {
    /// Its name in the container.
    public var name: String
    /// What it does; nil while its plugin is not there.
    public var kind: Kind?
    /// The container that it is; nil: a plugin made it.
    public var container: String?
    /// What people read.
    public var title: String
    /// Whether the screen leaves it out.
    public var isHidden: Bool
    /// Why it does not answer at present, and the screen shows what it had; nil: it does.
    public var problem: String?
    /// Which votes or comments it takes; nil for other kinds, and until it was made once.
    public var facts: ComponentFacts?
    /// How front ends show the items of its list; nil: that is their own choice.
    public var present: Presentation?
    /// What its list is ordered by where the screen asks for no other order; empty: by id.
    public var sort: [String]
    /// What people read in place of its list while that has nothing; nil: that is the front end's choice.
    public var empty: String?
}

/// One step of a list's way from one revision to the next; places count after the steps before it.
public enum ListEdit<Entry: Sendable & Hashable>: Sendable, Hashable {
    /// A new entry.
    case insert(Entry, at: Int)
    /// An entry is gone.
    case remove(at: Int)
    /// An entry is elsewhere: it is taken out, and then put in.
    case move(at: Int, to: Int)
    /// An entry is another now.
    case update(Entry, at: Int)
}

/// What became of one list.
public struct ListChange<Entry: Sendable & Hashable>: Sendable, Hashable {
    /// The component that it belongs to.
    public var component: String
    /// How many entries there are in all.
    public var total: Int
    /// Whether there are more, and it is not known how many.
    public var hasMore = false
    /// Whether this is all that there is to show.
    public var state = ListState.ready
    /// From the window before to this one, in order.
    public var edits: [ListEdit<Entry>]
}

/// A change as it goes over the wire, for all who take part in it.
public struct ChangeBytes: Sendable {
    /// What the change says beside the lists, as members of an object.
    public var members: [UInt8]
    /// The lists, as elements of an array.
    public var lists: [UInt8]

    /// Encoded parts.
    public init(members: [UInt8] = [], lists: [UInt8] = []) {
        self.members = members
        self.lists = lists
    }
}

/// Where a delegate leads who has a screen: the client opens that container, focused on the item.
public struct ScreenLead: Sendable, Hashable {
    /// The container.
    public var container: String
    /// The item; nil: the container itself.
    public var item: String?
}

/// One revision of a screen: what became of it since the one before, all of one moment.
public struct ScreenRevision: Sendable {
    /// The screen.
    public var screen: ScreenID
    /// The revision that this one leads on from; nil: it is whole.
    public var base: Int?
    /// Counts up from 1.
    public var revision: Int
    /// The last durable sequence that this reflects.
    public var sequence: Int64
    /// How many commits of the container lie between both; 0 for the user's own choices alone.
    public var commits: Int
    /// Why a screen that was to be resumed starts anew.
    public var reset: String?
    /// What its delegate has to say to who has the screen.
    public var message: String?
    /// Where its delegate leads who has the screen.
    public var lead: ScreenLead?
    /// What changed, for all who take the same step.
    public var step: ScreenStep
    /// What became of its parts, in order.
    public var parts: [ScreenPart] = []
}

/// What became of one part of a screen: a container within that of the screen.
public struct ScreenPart: Sendable {
    /// The name of its component, after those of the parts that it lies in, separated by `/`.
    public var path: String
    /// The container.
    public var container: String
    /// Whether it starts anew: ``step`` says everything.
    public var isNew = false
    /// Whether it is not shown any more.
    public var isGone = false
    /// Why it can't be shown now; nil: it can.
    public var problem: String?
    /// What changed of it; nil: nothing of it is shown.
    public var step: ScreenStep?
}
