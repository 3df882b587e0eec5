import AtriumKit

/// A comment of the tree: its text follows its other properties in the same piece of memory, as UTF-8.
///
/// It is immutable, apart from the depth that is remembered: an edited comment is another node, with the same ``id``.
final class CommentNode: ManagedBuffer<CommentNode.Facts, UInt8> {
    /// All but the text.
    struct Facts {
        let id: CommentID
        let parent: CommentID?
        let subject: SharedSubject
        let created: Timestamp
        let order: Int64
        /// The author's number; 0 if there is none.
        fileprivate let author: Int64
        /// The depth in its tree, and the epoch in which it was found.
        var depth: (level: Int32, epoch: Int32) = (0, -1)
        // The small ones follow one another, so that there is no gap between them.
        fileprivate let rest: Rest
        fileprivate let hasAuthor: Bool
        let state: Comment.State
        /// The bytes of the text; -1 if there is none.
        fileprivate let textCount: Int32

        fileprivate var rarities: Rarities? {
            if case .rarities(let rarities) = rest { rarities } else { nil }
        }
    }

    /// The further properties of a comment.
    fileprivate enum Rest {
        /// Only a fingerprint, of these digits.
        case fingerprint(UInt64)
        case rarities(Rarities)
    }

    /// The properties that few comments have.
    fileprivate final class Rarities {
        let edited: Timestamp?
        let reason: String?
        let moderator: ActorID?
        let fingerprint: String

        init?(_ comment: Comment, hasDigits: Bool) {
            guard comment.edited != nil || comment.reason != nil || !hasDigits else { return nil }
            edited = comment.edited
            reason = comment.reason
            moderator = comment.moderator
            fingerprint = comment.fingerprint
        }
    }

    /// Makes a node of a comment, with its subject as all comments on that have it.
    static func make(
        _ comment: Comment, id: CommentID, parent: CommentID?, subject: SharedSubject
    ) -> CommentNode {
        let digits = fingerprintDigits(comment.fingerprint)
        let text = comment.text?.utf8
        let facts = Facts(
            id: id, parent: parent, subject: subject, created: comment.created,
            order: comment.order, author: comment.author?.number ?? 0,
            rest: Rarities(comment, hasDigits: digits != nil).map(Rest.rarities)
                ?? .fingerprint(digits ?? 0),
            hasAuthor: comment.author != nil, state: comment.state,
            textCount: text.map { Int32($0.count) } ?? -1)
        let buffer = CommentNode.create(minimumCapacity: text?.count ?? 0) { _ in facts }
        let node = unsafeDowncast(buffer, to: CommentNode.self)
        guard let text else { return node }
        node.withUnsafeMutablePointerToElements { bytes in
            _ = UnsafeMutableBufferPointer(start: bytes, count: text.count).initialize(from: text)
        }
        return node
    }

    var id: CommentID { header.id }
    var parent: CommentID? { header.parent }
    var subject: Subject { header.subject.value }
    var state: Comment.State { header.state }

    /// The place in its tree, without its position among its siblings.
    var place: ThreadTree.Place { parent.map { .comment($0) } ?? .subject(subject) }

    /// Whether only its author sees it: it waits for a moderator, or was removed with a reason.
    var isHeld: Bool {
        state == .pending || state == .removed && header.rarities?.reason != nil
    }

    var comment: Comment {
        let facts = header
        let fingerprint =
            switch facts.rest {
            case .fingerprint(let digits): Self.fingerprint(digits)
            case .rarities(let rarities): rarities.fingerprint
            }
        var comment = Comment(
            id: facts.id.text, subject: facts.subject.value, parent: facts.parent?.text,
            author: facts.hasAuthor ? ActorID(facts.author) : nil, text: text, state: facts.state,
            created: facts.created, order: facts.order, edited: facts.rarities?.edited,
            fingerprint: fingerprint)
        if let rarities = facts.rarities {
            comment.reason = rarities.reason
            comment.moderator = rarities.moderator
        }
        return comment
    }

    private var text: String? {
        withUnsafeMutablePointers { facts, bytes in
            let count = Int(facts.pointee.textCount)
            guard count >= 0 else { return nil }
            return String(
                decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
        }
    }

    /// The number with these 16 hexadecimal digits; nil for any other text.
    private static func fingerprintDigits(_ text: String) -> UInt64? {
        guard text.utf8.count == 16 else { return nil }
        var text = text
        return text.withUTF8 { bytes in
            var digits: UInt64 = 0
            for byte in bytes {
                switch byte {
                case 48...57: digits = digits << 4 | UInt64(byte - 48)
                case 97...102: digits = digits << 4 | UInt64(byte - 87)
                default: return nil
                }
            }
            return digits
        }
    }

    private static func fingerprint(_ digits: UInt64) -> String {
        String(unsafeUninitializedCapacity: 16) { text in
            for place in 0..<16 {
                let digit = UInt8(digits >> (60 - 4 * UInt64(place)) & 15)
                text[place] = digit < 10 ? 48 + digit : 87 + digit
            }
            return 16
        }
    }
}

/// A subject, once in memory for all comments on it.
final class SharedSubject {
    let value: Subject

    init(_ value: Subject) { self.value = value }
}

/// A comment among its siblings: by time, then in the order of posting, then by id, so that the order is total.
struct Sibling: Comparable {
    let node: CommentNode

    init(_ node: CommentNode) { self.node = node }

    static func < (one: Sibling, other: Sibling) -> Bool {
        // Field by field: a copy of all facts would count their references.
        let (one, other) = (one.node, other.node)
        if one.header.created != other.header.created {
            return one.header.created < other.header.created
        }
        if one.header.order != other.header.order { return one.header.order < other.header.order }
        return one.header.id < other.header.id
    }

    static func == (one: Sibling, other: Sibling) -> Bool {
        let (one, other) = (one.node, other.node)
        return one === other
            || one.header.created == other.header.created
                && one.header.order == other.header.order && one.header.id == other.header.id
    }
}

/// The replies to one comment that people see, in order.
typealias SiblingList = SplitOrder<Sibling>
