import Interfaces

/// Comments in pre-order as a tree with lines.
struct CommentTree {
    /// The columns there are; nil: nothing is wrapped.
    var width: Int?
    var color = false
    /// Seconds since 1970, from which ages count.
    var now = WireTime.now

    func lines(_ comments: [Comment]) -> [String] {
        let depths = comments.map(\.depth)
        let base = depths.min() ?? 0
        return comments.enumerated().flatMap { index, comment in
            let rails = rails(at: index, depths, base: base)
            return lines(comment, rails)
        }
    }

    /// The lines of the reader's own comments that others are not shown, under a line that says so; none: there are none.
    func held(_ comments: [Comment]) -> [String] {
        guard !comments.isEmpty else { return [] }
        return [Style.bold("Yours, not shown to others", enabled: color)] + lines(comments)
    }

    /// What stands before a comment's first line, and before those below it.
    struct Rails {
        var first: String
        var rest: String
    }

    /// Whether a sibling follows, at each level from the base to the comment's own.
    private func rails(at index: Int, _ depths: [Int], base: Int) -> Rails {
        var follows = Array(repeating: false, count: depths[index] - base + 1)
        var level = depths[index]
        for depth in depths[(index + 1)...] where depth <= level {
            follows[depth - base] = true
            level = depth - 1
            if level < base { break }
        }
        let outer = follows.dropLast().map { $0 ? "│  " : "   " }.joined()
        let isFollowed = follows.last ?? false
        return Rails(
            first: outer + (isFollowed ? "├─ " : "└─ "), rest: outer + (isFollowed ? "│  " : "   "))
    }

    private func lines(_ comment: Comment, _ rails: Rails) -> [String] {
        let dim = { (text: String) in Style.dim(text, enabled: color) }
        let author = comment.author.map { PrintableText.line(ActorName.shown($0)) } ?? "(nobody)"
        var head = "\(Style.bold(author, enabled: color)) · "
        head += dim(WireTime.age(of: comment.created, now: now))
        if comment.edited != nil { head += dim(" · edited") }
        if comment.state == .pending { head += " · waits for a moderator" }
        head += dim(" · \(PrintableText.line(comment.id))")
        let text = comment.text.map(PrintableText.lines) ?? [absence(comment)]
        let body = text.flatMap { wrap($0, room: width.map { $0 - DisplayWidth.of(rails.rest) }) }
        var lines = [rails.first + head] + body.map { rails.rest + $0 }
        if let reason = comment.reason {
            let said = PrintableText.line("reason: \(reason)")
            lines += wrap(said, room: width.map { $0 - DisplayWidth.of(rails.rest) })
                .map { rails.rest + dim($0) }
        }
        if comment.more != nil {
            lines.append(
                rails.rest + dim("… more replies: thread --root \(PrintableText.line(comment.id))"))
        }
        return lines
    }

    /// What stands for a text that is not shown.
    private func absence(_ comment: Comment) -> String {
        if comment.state == .pending { return "(not shown yet)" }
        return comment.reason == nil ? "(deleted)" : "(removed by a moderator)"
    }

    /// The text in lines of so many columns, broken between words where there are any.
    private func wrap(_ text: String, room: Int?) -> [String] {
        guard let room, room >= 16 else { return [text] }
        return DisplayWidth.wrap(text, to: room)
    }
}

extension [Comment] {
    /// These with what the reader alone is shown: whose places stand among them are filled, the rest comes apart.
    func filled(with held: [Comment]) -> (comments: [Comment], rest: [Comment]) {
        guard !held.isEmpty else { return (self, []) }
        var (comments, rest) = (self, [Comment]())
        for var own in held {
            if let place = comments.firstIndex(where: { $0.id == own.id }) {
                (own.depth, own.replies, own.more) = (
                    comments[place].depth, comments[place].replies, comments[place].more
                )
                comments[place] = own
            } else {
                // What it replies to stands elsewhere.
                own.depth = 0
                rest.append(own)
            }
        }
        return (comments, rest)
    }
}
