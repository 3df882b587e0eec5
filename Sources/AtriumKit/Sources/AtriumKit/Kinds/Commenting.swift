/// Which part of a subject's tree to read.
public struct ThreadQuery: Sendable, Hashable, Codable {
    /// The order among siblings.
    public enum Order: String, Sendable, Hashable, Codable {
        /// By time, and then by ``Comment/order``, oldest first.
        case oldest
        /// By time, and then by ``Comment/order``, newest first.
        case newest
    }

    /// Whose tree.
    public var subject: Subject
    /// Only below this comment; nil: the whole tree.
    public var root: String?
    /// The order among siblings.
    public var order: Order
    /// How deep below the root; 0 is the first level alone; nil: no limit.
    public var depth: Int?
    /// At most so many comments, from 1.
    public var limit: Int
    /// Continues after a page: that page's `next`, or a comment's `more`.
    public var cursor: String?
    /// Whether the page also has ``ThreadPage/held``; by default it does not.
    public var tellsHeld = false

    /// A query; by default the whole tree, oldest first, 100 comments.
    public init(
        subject: Subject, root: String? = nil, order: Order = .oldest, depth: Int? = nil,
        limit: Int = 100, cursor: String? = nil
    ) {
        self.subject = subject
        self.root = root
        self.order = order
        self.depth = depth
        self.limit = limit
        self.cursor = cursor
    }
}

/// A page of a tree, in pre-order.
public struct ThreadPage: Sendable, Hashable, Codable {
    /// A comment at its place in the tree.
    public struct Entry: Sendable, Hashable, Codable {
        /// The comment; text and author are nil for a tombstone.
        public var comment: Comment
        /// How deep: 0 for a comment on the subject itself.
        public var depth: Int
        /// How many replies it has that people see.
        public var replies: Int
        /// A cursor to the replies that this page leaves out; nil: none is left out.
        public var more: String?

        /// A comment at its place.
        public init(comment: Comment, depth: Int, replies: Int, more: String? = nil) {
            self.comment = comment
            self.depth = depth
            self.replies = replies
            self.more = more
        }
    }

    /// The comments in pre-order.
    public var entries: [Entry]
    /// How many comments the subject has in all, tombstones left out.
    public var total: Int
    /// The next page; nil: this is the last.
    public var next: String?
    /// The subject's comments that only their authors are shown, where they are asked for.
    ///
    /// Those that wait for a moderator, and the removed ones with a ``Comment/reason``, with text and author as the
    /// record has them, oldest first; of each author the last ``heldOfEach``. See ``ThreadQuery/tellsHeld``.
    public var held: [Entry] = []

    /// The most of one author's comments in ``held``.
    public static let heldOfEach = 10

    /// A page.
    public init(entries: [Entry], total: Int, next: String? = nil) {
        self.entries = entries
        self.total = total
        self.next = next
    }
}

/// The kind `comments`: keeps threads.
public protocol Commenting: Component {
    /// Asked before a change and notified after it; not called while records are restored.
    var delegate: (any CommentingDelegate)? { get set }

    /// Which comments it takes: asked once, when the component is made.
    var facts: CommentFacts { get }

    /// The type of ``counts``: an array, or any other sequence.
    associatedtype Counts: Sequence<(subject: Subject, count: Int)>

    /// Every subject that has comments, with how many people see, in any order: asked for after a restore.
    ///
    /// The host goes through them a few at a time, and calls the component in between: what it goes through must
    /// stay as it was when asked for. Arrays, dictionaries and what is made of these lazily do; of many subjects let
    /// it be lazy, so that nothing is done for all of them at once.
    var counts: Counts { get }

    /// Decides on a comment. The host has answered a repetition (same id, actor and content)
    /// itself; an id that is taken is refused with code `conflict`. The changes are, here and below, of
    /// this comment's record alone.
    func post(_ draft: CommentDraft, _ context: CommandContext) throws(Refusal) -> [Change]

    /// Decides on another text for a comment: its author's right alone, under whose name it stands. The
    /// host refuses everyone else before it asks.
    func edit(_ id: String, text: String, _ context: CommandContext) throws(Refusal) -> [Change]

    /// Decides on deleting a comment, its author's right and a moderator's. The record stays as a
    /// tombstone, without text.
    func delete(_ id: String, _ context: CommandContext) throws(Refusal) -> [Change]

    /// Decides on what a moderator says of a comment.
    func moderate(
        _ id: String, state: Comment.State, _ context: CommandContext
    ) throws(Refusal) -> [Change]

    /// Decides on what a moderator says of a comment, and why, as ``Comment/reason`` is to be from now on.
    ///
    /// The reason has ``Comment/reasonLength`` characters at most, which the host checks before it asks. By default
    /// the component decides without it, and keeps none.
    func moderate(
        _ id: String, state: Comment.State, reason: String?, _ context: CommandContext
    ) throws(Refusal) -> [Change]

    /// A page of the comments that wait for a moderator, whatever they are about, oldest first, with their texts and
    /// authors; its total is how many wait. By default nothing.
    ///
    /// A cursor is the `next` of the page before; one that is damaged is refused with code `cursorInvalid`.
    func pending(limit: Int, cursor: String?) throws(Refusal) -> ThreadPage

    /// A comment with its place in the tree; nil when there is none.
    func entry(_ id: String) -> ThreadPage.Entry?

    /// A page of a tree.
    func thread(_ query: ThreadQuery) throws(Refusal) -> ThreadPage

    /// How many comments of a subject people see.
    func count(of subject: Subject) -> Int

    /// The keys of all records about a subject, for erasing them.
    func recordKeys(about subject: Subject) -> [String]

    /// The keys of some records about a subject, in an order of the component's own; fewer than `limit` only where no
    /// others follow. By default the first page has all keys.
    ///
    /// - Parameters:
    ///   - subject: what they are about.
    ///   - after: the last key of the page before; nil: from the first. Its record may be gone by now.
    ///   - limit: about so many.
    /// - Returns: the keys.
    func recordKeys(about subject: Subject, after: String?, limit: Int) -> [String]
}

extension Commenting {
    /// Texts of any length, on anything, seen at once.
    public var facts: CommentFacts { CommentFacts() }

    /// What is decided without the reason.
    public func moderate(
        _ id: String, state: Comment.State, reason: String?, _ context: CommandContext
    ) throws(Refusal) -> [Change] {
        try moderate(id, state: state, context)
    }

    /// Nothing waits.
    public func pending(limit: Int, cursor: String?) throws(Refusal) -> ThreadPage {
        ThreadPage(entries: [], total: 0)
    }

    /// All keys are one page.
    public func recordKeys(about subject: Subject, after: String?, limit: Int) -> [String] {
        after == nil ? recordKeys(about: subject) : []
    }
}

/// What a ``Commenting`` asks before a change and notifies after it.
public protocol CommentingDelegate: AnyObject {
    /// A comment that was not there, or not seen, is.
    func commenting(_ comments: any Commenting, didPost comment: Comment)
    /// A comment's text or state is now this.
    func commenting(_ comments: any Commenting, didEdit comment: Comment)
    /// A comment is gone, or a tombstone.
    func commenting(_ comments: any Commenting, didRemove comment: Comment)
    /// How many comments of a subject people see is now this.
    func commenting(_ comments: any Commenting, didChange count: Int, of subject: Subject)
}
