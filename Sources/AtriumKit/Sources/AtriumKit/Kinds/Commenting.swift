/// The part of a subject's comment tree to read.
public struct ThreadQuery: Sendable, Hashable, Codable {
    /// The order among siblings.
    public enum Order: String, Sendable, Hashable, Codable {
        /// By time, and then by ``Comment/order``, oldest first.
        case oldest
        /// By time, and then by ``Comment/order``, newest first.
        case newest
    }

    /// The subject whose tree is read.
    public var subject: Subject
    /// The comment below which to read; nil: the whole tree.
    public var root: String?
    /// The order among siblings.
    public var order: Order
    /// The depth below the root; 0 is the first level only; nil: no limit.
    public var depth: Int?
    /// The maximum number of comments, from 1.
    public var limit: Int
    /// Continues after a page: that page's `next`, or a comment's `more`.
    public var cursor: String?
    /// Whether the page includes ``ThreadPage/held``; false by default.
    public var tellsHeld = false

    /// Creates a query; by default of the whole tree, oldest first, 100 comments.
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
        /// The depth: 0 for a comment on the subject itself.
        public var depth: Int
        /// The number of visible replies.
        public var replies: Int
        /// A cursor to the replies that this page leaves out; nil if none are.
        public var more: String?

        /// Creates an entry.
        public init(comment: Comment, depth: Int, replies: Int, more: String? = nil) {
            self.comment = comment
            self.depth = depth
            self.replies = replies
            self.more = more
        }
    }

    /// The comments in pre-order.
    public var entries: [Entry]
    /// The number of the subject's comments, without tombstones.
    public var total: Int
    /// A cursor to the next page; nil: this is the last.
    public var next: String?
    /// The subject's comments that are shown only to their authors; filled if ``ThreadQuery/tellsHeld`` is set.
    ///
    /// These are the comments that wait for a moderator, and the removed ones with a ``Comment/reason``, with text and
    /// author as the record has them, oldest first; of each author the last ``heldOfEach``.
    public var held: [Entry] = []

    /// The maximum number of comments of one author in ``held``.
    public static let heldOfEach = 10

    /// Creates a page.
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

    /// The comments that the component accepts; read once, when the component is made.
    var facts: CommentFacts { get }

    /// The type of ``counts``: an array, or any other sequence.
    associatedtype Counts: Sequence<(subject: Subject, count: Int)>

    /// The subjects that have comments, with the number of visible ones, in any order; read after a restore.
    ///
    /// The host iterates in pieces and calls the component in between, so the sequence must not change meanwhile
    /// (arrays, dictionaries and lazy maps of them do not). Return a lazy sequence if there are many subjects.
    var counts: Counts { get }

    /// Decides on a new comment.
    ///
    /// The host has answered a repetition (same id, actor and content) itself; an id that is taken is refused with code
    /// `conflict`. The changes are, here and below, of this comment's record only.
    func post(_ draft: CommentDraft, _ context: CommandContext) throws(Refusal) -> [Change]

    /// Decides on a new text for a comment.
    ///
    /// Only the author may change it: the host refuses everyone else before it calls this.
    func edit(_ id: String, text: String, _ context: CommandContext) throws(Refusal) -> [Change]

    /// Decides on deleting a comment, which its author and moderators may do.
    ///
    /// The record stays as a tombstone, without text.
    func delete(_ id: String, _ context: CommandContext) throws(Refusal) -> [Change]

    /// Decides on a moderator's change of a comment's state.
    func moderate(
        _ id: String, state: Comment.State, _ context: CommandContext
    ) throws(Refusal) -> [Change]

    /// Decides on a moderator's change of a comment's state, with the new ``Comment/reason``.
    ///
    /// The reason has at most ``Comment/reasonLength`` characters, which the host checks before. By default the
    /// component decides without the reason, and keeps none.
    func moderate(
        _ id: String, state: Comment.State, reason: String?, _ context: CommandContext
    ) throws(Refusal) -> [Change]

    /// Returns a page of the comments on any subject that wait for a moderator, oldest first.
    ///
    /// They have their texts and authors; the page's total is the number of waiting comments. By default the page is
    /// empty.
    ///
    /// A cursor is the `next` of the previous page; an invalid one is refused with code `cursorInvalid`.
    func pending(limit: Int, cursor: String?) throws(Refusal) -> ThreadPage

    /// Returns a comment with its place in the tree; nil if there is none.
    func entry(_ id: String) -> ThreadPage.Entry?

    /// Returns a page of a tree.
    func thread(_ query: ThreadQuery) throws(Refusal) -> ThreadPage

    /// Returns the number of visible comments on a subject.
    func count(of subject: Subject) -> Int

    /// Returns the keys of all records about a subject, for erasing them.
    func recordKeys(about subject: Subject) -> [String]

    /// Returns the keys of some records about a subject, in an order of the component's choice.
    ///
    /// Fewer than `limit` keys mean that no others follow. By default the first page has all keys.
    ///
    /// - Parameters:
    ///   - subject: the subject.
    ///   - after: the last key of the previous page, whose record may be gone by now; nil: from the first.
    ///   - limit: the approximate number of keys.
    /// - Returns: the keys.
    func recordKeys(about subject: Subject, after: String?, limit: Int) -> [String]
}

extension Commenting {
    /// By default, texts of any length, on items and the container, visible at once.
    public var facts: CommentFacts { CommentFacts() }

    /// Decides without the reason.
    public func moderate(
        _ id: String, state: Comment.State, reason: String?, _ context: CommandContext
    ) throws(Refusal) -> [Change] {
        try moderate(id, state: state, context)
    }

    /// Returns an empty page.
    public func pending(limit: Int, cursor: String?) throws(Refusal) -> ThreadPage {
        ThreadPage(entries: [], total: 0)
    }

    /// Returns all keys in the first page.
    public func recordKeys(about subject: Subject, after: String?, limit: Int) -> [String] {
        after == nil ? recordKeys(about: subject) : []
    }
}

/// Comments that are taken over at a start, in place of their records.
///
/// A host that has read records in the form of ``Comment/record`` may pass their comments, and call
/// ``Component/apply(_:)`` only for other records. It may also call `apply` for each.
public protocol CommentRestoring: Commenting {
    /// Makes room for comments that will be restored; called at most once, and before them.
    ///
    /// - Parameter count: the number of records, as far as it is known.
    func reserve(_ count: Int)

    /// Takes over some comments, as if their records had been applied; may be called several times, before any other
    /// call but `apply`.
    ///
    /// - Parameter comments: the comments, each with an id that no other has, in any order: a reply may come before
    ///   its parent.
    func restore(_ comments: [Comment])
}

extension CommentRestoring {
    /// Does nothing.
    public func reserve(_ count: Int) {}
}

/// The delegate that a ``Commenting`` asks before a change and notifies after it.
public protocol CommentingDelegate: AnyObject {
    /// A comment was posted or became visible.
    func commenting(_ comments: any Commenting, didPost comment: Comment)
    /// A comment's text or state changed to this.
    func commenting(_ comments: any Commenting, didEdit comment: Comment)
    /// A comment was removed; a tombstone may remain.
    func commenting(_ comments: any Commenting, didRemove comment: Comment)
    /// The number of visible comments on a subject changed to this.
    func commenting(_ comments: any Commenting, didChange count: Int, of subject: Subject)
}
