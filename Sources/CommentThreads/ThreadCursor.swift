import AtriumKit

/// A place in a tree at which the next page begins.
///
/// It names comments and not positions, so that it stays valid while comments are added and removed. As text it has the
/// order, the step, the length of the root's id in bytes, a point, the root's id, and the other id.
struct ThreadCursor: Equatable {
    /// The step from the comment named ``after`` to the first one of the page.
    enum Step: String {
        /// The page begins with the first reply to the root.
        case first = "f"
        /// The page begins after a comment, with its replies.
        case enter = "e"
        /// The page begins after a comment and all replies below it.
        case skip = "s"
    }

    /// The order of the pages.
    var order: ThreadQuery.Order
    /// The comment whose replies the pages show; nil: the whole tree.
    var root: String?
    /// The step to the first comment of the page.
    var step: Step
    /// The id of the comment after which the page begins; empty with `first`.
    var after = ""
}

extension ThreadCursor {
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
