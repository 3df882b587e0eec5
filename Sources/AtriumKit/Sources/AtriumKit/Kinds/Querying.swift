/// What a source is asked: which of its items a screen, or a call, is to show.
///
/// All that was chosen is in it, as a front end made it; whose choice it is, is not.
public struct ContentQuestion: Sendable, Hashable, Codable {
    /// How many items an answer has at most.
    public static let mostItems = 1_000
    /// How many bytes the cursor of an answer has at most.
    public static let cursorBytes = 4_096

    /// What is searched; empty: nothing.
    public var search: String
    /// The filters that are selected, by section.
    public var selection: Selection
    /// The entered item, after what it lies under, outermost first; empty: at the top.
    public var path: [String]
    /// What to order by, first things first: field names, `-` before for descending; empty: as the source likes.
    public var sort: [String]
    /// At most so many items, 1 to 1,000.
    public var limit: Int
    /// Where to go on: what an answer to the same question gave as ``ContentAnswer/next``; nil: from the first item.
    public var cursor: String?

    /// A question; by default for the first 50 items at the top.
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

/// What a source answers to a ``ContentQuestion``.
public struct ContentAnswer: Sendable, Hashable, Codable {
    /// The items in order, each once, and no more than were asked for.
    public var items: [Item]
    /// How many there are in all, those on other pages included; nil: that is not known.
    public var total: Int?
    /// Where the next items begin, at most 4,096 bytes; nil: there are no more.
    public var next: String?

    /// An answer; by default nobody knows how many there are, and there are no more.
    public init(items: [Item], total: Int? = nil, next: String? = nil) {
        self.items = items
        self.total = total
        self.next = next
    }
}

/// A source that is asked, as a search engine or a directory is: it does not know all its items, but
/// those that somebody wants to see.
///
/// The container's list does not search, filter and sort its items: it asks, and shows what was answered, in
/// that order. Screens that want the same share one question. An answered item is one as any other from
/// then on: it may be voted and commented on, focused and entered; the host keeps the 10,000 that were shown
/// last, or fewer where these have more than 64 MiB, and all that a screen shows. What the source reports to its delegate
/// later (``ContentChange/update(_:)``, ``ContentChange/remove(_:)``) is shown at once; after
/// ``ContentChange/replaceAll`` all that is on screens is asked for again, at most once a second, and so it is after
/// ``Component/reload()``.
///
/// It has no ``ContentListing/items`` to report at its start, takes no items, and keeps no records, unless it
/// says otherwise.
public protocol Querying: ContentListing {
    /// Whether it is asked; false for one that, by its settings, knows all its items: then it is a
    /// ``ContentListing`` as any other.
    ///
    /// Always the same for a component.
    var isAsked: Bool { get }

    /// Finds what is asked for, in the background where that takes time, and replies with it, once.
    ///
    /// Several questions may be open at a time: at most 32 that somebody waits for, and 64 with those that nobody
    /// waits for any more. The first of a typed text comes 200 ms after the last
    /// keystroke. A reply within 30 seconds of this call counts; one that comes later, or a second time, is
    /// dropped, as is one to a
    /// question that nobody asks any more.
    ///
    /// - Parameters:
    ///   - question: what to find.
    ///   - reply: takes the answer, on the domain; or a ``Refusal`` whose reason people read beside the list. A
    ///     cursor that is not known any more is refused as `cursorInvalid`: then it is asked from the first item.
    func ask(
        _ question: ContentQuestion,
        _ reply: @escaping (Result<ContentAnswer, Refusal>) -> Void)
}

extension Querying {
    /// It is.
    public var isAsked: Bool { true }
    /// None: it is asked.
    public var items: [Item] { [] }
    /// It takes no items.
    public var readOnlyReason: String? { "Its items are those of the source that it asks." }
    /// Takes none.
    public func put(
        _ items: [Item], _ context: CommandContext
    ) throws(Refusal) -> ContentDecision { throw Refusal(.readOnly, readOnlyReason ?? "") }
    /// Removes none.
    public func remove(
        _ ids: [String], _ context: CommandContext
    ) throws(Refusal) -> [Change] { throw Refusal(.readOnly, readOnlyReason ?? "") }
    /// Does nothing: it keeps no records.
    public func apply(_ change: Change) {}
}
