public import AtriumKit
internal import DequeModule
internal import Store

/// What a comment says, as its record has it: notifications about it hold no text of their own.
public struct CommentText: Sendable, Hashable {
    /// The text.
    public var text: String
    /// Whether it waits for a moderator: then it is told to those alone who see restricted parts.
    public var isHeld: Bool
    /// The item that it is about; nil: the container.
    public var item: String?

    /// A text.
    public init(text: String, isHeld: Bool = false, item: String? = nil) {
        self.text = text
        self.isHeld = isHeld
        self.item = item
    }

    /// What a comment says; nil where it was deleted.
    public init?(_ comment: Comment) {
        guard comment.state != .removed, let text = comment.text else { return nil }
        self.init(text: text, isHeld: comment.state == .pending, item: comment.subject.item)
    }
}

/// What the comments say that notifications in the ring are about, and which comments changed lately.
///
/// A text is told as it is when a subscriber is told, not as it was at the commit. So the ring's
/// notifications share one entry of this table a comment; and a part of the past, whose texts were read
/// on another thread, is used only where none of its comments changed after that.
struct CommentTexts {
    private struct Known {
        var text: CommentText?
        /// How many notifications of the ring are about it.
        var uses: Int
    }

    /// How many changes are remembered.
    private static let mostChanges = 4_096

    private var known: [RecordKey: Known] = [:]
    private var changes: [RecordKey: Int64] = [:]
    private var inOrder: Deque<(comment: RecordKey, sequence: Int64)> = []
    /// Changes through this sequence are not remembered one by one.
    private var base: Int64

    init(base: Int64) { self.base = base }

    var isEmpty: Bool { known.isEmpty }

    /// What a comment says now.
    ///
    /// - Parameter past: what was read of it with a part of the past.
    subscript(comment: RecordKey, past: CommentText?) -> CommentText? {
        guard let found = known[comment] else { return past }
        return found.text
    }

    /// Whether what was read through a sequence still says what a comment says.
    func isCurrent(_ comment: RecordKey, asOf sequence: Int64) -> Bool {
        guard known[comment] == nil else { return true }
        return sequence >= changes[comment] ?? base
    }

    /// A notification about a comment came into the ring.
    mutating func add(_ comment: RecordKey, _ text: CommentText?) {
        known[comment] = Known(text: text, uses: (known[comment]?.uses ?? 0) + 1)
    }

    /// A notification about a comment left the ring.
    mutating func release(_ comment: RecordKey) {
        guard var found = known[comment] else { return }
        found.uses -= 1
        known[comment] = found.uses == 0 ? nil : found
    }

    /// A comment's record changed at a sequence.
    ///
    /// - Returns: whether a notification in the ring is about it.
    mutating func change(_ comment: RecordKey, to text: CommentText?, at sequence: Int64) -> Bool {
        changes[comment] = sequence
        inOrder.append((comment, sequence))
        if inOrder.count > Self.mostChanges, let oldest = inOrder.popFirst() {
            base = oldest.sequence
            if changes[oldest.comment] == oldest.sequence { changes[oldest.comment] = nil }
        }
        guard known[comment] != nil else { return false }
        known[comment]?.text = text
        return true
    }

    /// Comments went with a sequence without being named one by one.
    mutating func forget(at sequence: Int64, where isGone: (RecordKey, CommentText) -> Bool) {
        base = max(base, sequence)
        changes.removeAll()
        inOrder.removeAll()
        for (comment, found) in known {
            guard let text = found.text, isGone(comment, text) else { continue }
            known[comment]?.text = nil
        }
    }
}
