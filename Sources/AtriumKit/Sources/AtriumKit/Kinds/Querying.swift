/// A request for items of a source.
///
/// Contains all choices of a screen or call, but not the user.
public struct ContentQuestion: Sendable, Hashable, Codable {
    /// The maximum number of items in an answer.
    public static let mostItems = 1_000
    /// The maximum size of an answer's cursor in bytes.
    public static let cursorBytes = 4_096

    /// The search text; empty: no search.
    public var search: String
    /// The selected filters, by section.
    public var selection: Selection
    /// The entered item, after its ancestors, outermost first; empty: at the top.
    public var path: [String]
    /// The sort keys, most significant first: field names, `-` before for descending; empty: the source's own order.
    public var sort: [String]
    /// The maximum number of items, 1 to 1,000.
    public var limit: Int
    /// The cursor to continue at: ``ContentAnswer/next`` of an answer to the same question; nil: from the first item.
    public var cursor: String?

    /// Creates a question; by default for the first 50 items at the top.
    public init(
        search: String = "", selection: Selection = Selection(), path: [String] = [],
        sort: [String] = [], limit: Int = 50, cursor: String? = nil
    ) {
        self.search = search
        self.selection = selection
        self.path = path
        self.sort = sort
        self.limit = limit
        self.cursor = cursor
    }
}

/// A source's answer to a ``ContentQuestion``.
public struct ContentAnswer: Sendable, Hashable, Codable {
    /// The items in order, each once, at most as many as requested.
    public var items: [Item]
    /// The total number of items, including other pages; nil if unknown.
    public var total: Int?
    /// The cursor to the next items, at most 4,096 bytes; nil: there are no more.
    public var next: String?

    /// Creates an answer; by default with an unknown total, and no more items.
    public init(items: [Item], total: Int? = nil, next: String? = nil) {
        self.items = items
        self.total = total
        self.next = next
    }
}

/// A source that is queried, such as a search engine or a directory: it does not list all its items, but finds those
/// that a screen or call requests.
///
/// The container's list does not search, filter and sort its items: it queries the source, and shows the answer in the
/// source's order. Screens that request the same share one question. After that an answered item can be voted and
/// commented on, focused and entered, like any other; the host keeps the 10,000 that were shown last, or fewer if these
/// exceed 64 MiB, and all that a screen shows. Later changes that the source reports to its delegate
/// (``ContentChange/update(_:)``, ``ContentChange/remove(_:)``) are shown at once; after ``ContentChange/replaceAll``
/// and after ``Component/reload()`` the host queries again all that is on screens, at most once a second.
///
/// By default it has no ``ContentListing/items`` to report at its start, accepts no items, and keeps no records.
public protocol Querying: ContentListing {
    /// Whether it is queried; false for one that, by its settings, knows all its items: then it is an ordinary
    /// ``ContentListing``.
    ///
    /// Must not change during a component's life.
    var isAsked: Bool { get }

    /// Finds the requested items, in the background if that takes time, and replies once.
    ///
    /// Several questions may be open at a time: at most 32 that somebody waits for, and 64 with those that nobody waits
    /// for any more. The first question for a typed text comes 200 ms after the last keystroke. A reply within 30
    /// seconds of this call counts; a later or second one is dropped, and so is one to a question that nobody waits for
    /// any more.
    ///
    /// - Parameters:
    ///   - question: the request.
    ///   - reply: receives the answer, on the domain; or a ``Refusal`` whose reason people read beside the list. Refuse
    ///     an unknown cursor as `cursorInvalid`: the host then asks again from the first item.
    func ask(
        _ question: ContentQuestion,
        _ reply: @escaping (Result<ContentAnswer, Refusal>) -> Void)
}

extension Querying {
    /// True.
    public var isAsked: Bool { true }
    /// Empty.
    public var items: [Item] { [] }
    /// The source accepts no items.
    public var readOnlyReason: String? { "Its items are those of the source that it asks." }
    /// Refuses the items.
    public func put(
        _ items: [Item], _ context: CommandContext
    ) throws(Refusal) -> ContentDecision { throw Refusal(.readOnly, readOnlyReason ?? "") }
    /// Refuses to remove items.
    public func remove(
        _ ids: [String], _ context: CommandContext
    ) throws(Refusal) -> [Change] { throw Refusal(.readOnly, readOnlyReason ?? "") }
    /// Does nothing: it keeps no records.
    public func apply(_ change: Change) {}
}
