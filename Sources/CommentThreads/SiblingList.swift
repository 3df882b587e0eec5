import AtriumKit

/// Where a comment stands among its siblings: by time, then in the order of posting, then by id, so
/// that the order is total.
struct SiblingKey: Comparable {
    let created: Timestamp
    let order: Int64
    let id: String

    static func < (one: SiblingKey, other: SiblingKey) -> Bool {
        (one.created, one.order, one.id) < (other.created, other.order, other.id)
    }
}

/// The replies to one comment that people see, in order.
typealias SiblingList = SplitOrder<SiblingKey>

/// A comment's id in the order of its bytes: that of texts is none where they say their accents in two ways.
struct CommentKey: Comparable {
    let id: String

    static func < (one: CommentKey, other: CommentKey) -> Bool {
        one.id.utf8.lexicographicallyPrecedes(other.id.utf8)
    }

    static func == (one: CommentKey, other: CommentKey) -> Bool {
        one.id.utf8.elementsEqual(other.id.utf8)
    }
}
