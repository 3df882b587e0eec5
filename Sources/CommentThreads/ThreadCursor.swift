import AtriumKit

/// A place in a tree from which a page goes on.
///
/// It names comments and not positions, so that it stays right while comments come and go. As text:
/// the order, how to go on, the length of the root's id in bytes, a point, the root's id, the
/// other id.
struct ThreadCursor: Equatable {
    /// How to go on.
    enum Step: String {
        /// With the first reply to the root.
        case first = "f"
        /// After a comment, with its replies.
        case enter = "e"
        /// After a comment and all that is below it.
        case skip = "s"
    }

    /// The order of the pages.
    var order: ThreadQuery.Order
    /// Below which comment; nil: the whole tree.
    var root: String?
    /// How to go on.
    var step: Step
    /// After which comment; empty with `first`.
    var after: String

    init(order: ThreadQuery.Order, root: String?, step: Step, after: String = "") {
        self.order = order
        self.root = root
        self.step = step
        self.after = after
    }

    init?(_ text: String) {
        var rest = text.utf8[...]
        switch rest.popFirst() {
        case UInt8(ascii: "o"): order = .oldest
        case UInt8(ascii: "n"): order = .newest
        default: return nil
        }
        guard let letter = rest.popFirst(),
            let step = Step(rawValue: String(Unicode.Scalar(letter))),
            let point = rest.firstIndex(of: UInt8(ascii: ".")),
            let length = Int(Substring(rest[..<point])), length >= 0
        else { return nil }
        rest = rest[rest.index(after: point)...]
        guard length <= rest.count else { return nil }
        self.step = step
        root = length == 0 ? nil : String(decoding: rest.prefix(length), as: UTF8.self)
        after = String(decoding: rest.dropFirst(length), as: UTF8.self)
        guard (step == .first) == after.isEmpty else { return nil }
    }

    var text: String {
        let letter = order == .oldest ? "o" : "n"
        return "\(letter)\(step.rawValue)\(root?.utf8.count ?? 0).\(root ?? "")\(after)"
    }
}
