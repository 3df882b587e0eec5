public import AtriumKit
internal import DequeModule
internal import Store

/// A comment's text from its record; notifications about the comment hold no copy.
public struct CommentText: Sendable, Hashable {
    /// The text.
    public var text: String
    /// Whether the comment waits for a moderator; the text is then delivered only with restricted parts.
    public var isHeld: Bool
    /// The item that the comment is about; nil: the container.
    public var item: String?

    /// Makes a text.
    public init(text: String, isHeld: Bool = false, item: String? = nil) {
        self.text = text
        self.isHeld = isHeld
        self.item = item
    }

    /// Takes the text out of a comment; nil when the comment was deleted.
    public init?(_ comment: Comment) {
        guard comment.state != .removed, let text = comment.text else { return nil }
        self.init(text: text, isHeld: comment.state == .pending, item: comment.subject.item)
    }
}

/// The texts of the comments that the ring's notifications are about, and the comments that changed lately.
///
/// A notification is delivered with the comment's text at that moment, not with the text at the commit. So all
/// of a comment's notifications in the ring share one entry here. A part of the past, whose texts were read on
/// another thread, is used only if none of its comments has changed since.
struct CommentTexts {
    private struct Known {
        var text: CommentText?
        /// How many notifications in the ring are about the comment.
        var uses: Int
    }

    /// How many of the latest changes are remembered.
    private static let mostChanges = 4_096

    private var known: [RecordKey: Known] = [:]
    private var changes: [RecordKey: Int64] = [:]
    private var inOrder: Deque<(comment: RecordKey, sequence: Int64)> = []
    /// Changes through this sequence are no longer remembered one by one.
    private var base: Int64

    init(base: Int64) { self.base = base }

    var isEmpty: Bool { known.isEmpty }

    /// The current text of a comment.
    ///
    /// - Parameter past: the text from a read of the past, which counts when the ring has no notification about it.
    subscript(comment: RecordKey, past: CommentText?) -> CommentText? {
        guard let found = known[comment] else { return past }
        return found.text
    }

    /// Whether a comment's text that was read at a sequence is still current.
    func isCurrent(_ comment: RecordKey, asOf sequence: Int64) -> Bool {
        guard known[comment] == nil else { return true }
        return sequence >= changes[comment] ?? base
    }

    /// Notes that a notification about a comment was added to the ring.
    mutating func add(_ comment: RecordKey, _ text: CommentText?) {
        known[comment] = Known(text: text, uses: (known[comment]?.uses ?? 0) + 1)
    }

    /// Notes that the ring evicted a notification about a comment.
    mutating func release(_ comment: RecordKey) {
        guard var found = known[comment] else { return }
        found.uses -= 1
        known[comment] = found.uses == 0 ? nil : found
    }

    /// Notes that a comment's record changed at a sequence.
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

    /// Notes that comments were removed at a sequence without being listed one by one.
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
