public import AtriumKit
internal import DequeModule
internal import Store

/// A comment's text from its record; notifications about the comment hold no copy.
public struct CommentText: Sendable, Hashable {
    /// The text.
    public var text: String
    /// Whether the comment waits for a moderator; the text is then delivered only with restricted parts.
    public var isHeld = false
    /// The item that the comment is about; nil: the container.
    public var item: String?
}

extension CommentText {
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
final class CommentTexts {
    /// A comment that is in use, or changed lately, or both.
    private final class Known {
        let key: Key
        /// The text, while the comment is in use.
        var text: CommentText?
        /// How many notifications in the ring are about the comment.
        var uses = 0
        /// The sequence of its last change, if that is among those that are remembered.
        var changed: Int64?

        init(_ key: Key) { self.key = key }
    }

    /// A comment's key, hashed by its id alone: there are few components whose comments have the same one.
    private struct Key: Hashable {
        let comment: RecordKey

        static func == (one: Key, other: Key) -> Bool {
            one.comment.key == other.comment.key
                && one.comment.component == other.comment.component
                && one.comment.container == other.comment.container
        }

        func hash(into hasher: inout Hasher) { hasher.combine(comment.key) }
    }

    /// How many of the latest changes are remembered.
    private static let mostChanges = 4_096

    private var known: [Key: Known] = [:]
    private var changes: Deque<(comment: Known, sequence: Int64)> = []
    /// Changes through this sequence are no longer remembered one by one.
    private var base: Int64
    /// How many comments are in use.
    private var used = 0

    init(base: Int64) { self.base = base }

    /// Whether no notification in the ring is about a comment.
    var isEmpty: Bool { used == 0 }

    /// The current text of a comment; one from a read of the past counts when the ring has no notification about it.
    subscript(comment: RecordKey, past: CommentText?) -> CommentText? {
        guard let found = known[Key(comment: comment)], found.uses > 0 else { return past }
        return found.text
    }

    /// Whether a comment's text that was read at a sequence is still current.
    func isCurrent(_ comment: RecordKey, asOf sequence: Int64) -> Bool {
        guard let found = known[Key(comment: comment)] else { return sequence >= base }
        return found.uses > 0 || sequence >= found.changed ?? base
    }

    /// Records that a notification about a comment was added to the ring.
    func add(_ comment: RecordKey, _ text: CommentText?) {
        let found = find(Key(comment: comment))
        found.text = text
        found.uses += 1
        if found.uses == 1 { used += 1 }
    }

    /// Records that the ring evicted a notification about a comment.
    func release(_ comment: RecordKey) {
        guard let found = known[Key(comment: comment)], found.uses > 0 else { return }
        found.uses -= 1
        guard found.uses == 0 else { return }
        found.text = nil
        used -= 1
        drop(found)
    }

    /// Records that a comment's record changed at a sequence; returns whether a notification in the ring is about it.
    func change(_ comment: RecordKey, to text: CommentText?, at sequence: Int64) -> Bool {
        let found = find(Key(comment: comment))
        found.changed = sequence
        changes.append((found, sequence))
        if changes.count > Self.mostChanges, let oldest = changes.popFirst() {
            base = oldest.sequence
            if oldest.comment.changed == oldest.sequence {
                oldest.comment.changed = nil
                drop(oldest.comment)
            }
        }
        guard found.uses > 0 else { return false }
        found.text = text
        return true
    }

    /// Records that comments were removed at a sequence without being listed one by one.
    func remove(at sequence: Int64, where isGone: (RecordKey, CommentText) -> Bool) {
        base = max(base, sequence)
        changes.removeAll()
        for found in known.values {
            found.changed = nil
            if let text = found.text, isGone(found.key.comment, text) { found.text = nil }
            drop(found)
        }
    }

    /// Finds a comment, or begins to know it; the table is looked through once.
    private func find(_ key: Key) -> Known {
        func same(_ known: inout Known) -> Known { known }
        return same(&known[key, default: Known(key)])
    }

    /// Forgets a comment of which there is nothing to know.
    private func drop(_ comment: Known) {
        if comment.uses == 0, comment.changed == nil { known[comment.key] = nil }
    }
}
