import Interfaces

/// Lays comments out in blocks of rows.
struct ThreadLayout {
    var width: Int
    var folded: Set<String>
    /// Seconds since 1970, from which ages count.
    var now: Double
    var highlights: Highlights

    /// A block for each comment in sight, in pre-order.
    func blocks(_ comments: [Comment]) -> [ThreadPane.Block] {
        let base = comments.map(\.depth).min() ?? 0
        var blocks: [ThreadPane.Block] = []
        var folding: (depth: Int, block: Int, count: Int)?
        for comment in comments {
            if let open = folding {
                if comment.depth > open.depth {
                    folding?.count += 1
                    continue
                }
                close(open, &blocks)
                folding = nil
            }
            blocks.append(block(comment, depth: comment.depth - base))
            if folded.contains(comment.id) { folding = (comment.depth, blocks.count - 1, 0) }
        }
        if let folding { close(folding, &blocks) }
        return blocks
    }

    /// Fields with their values, before the first comment.
    func block(details: [(name: String, text: String)]) -> ThreadPane.Block? {
        guard !details.isEmpty else { return nil }
        let rows = details.flatMap { name, text in
            let (name, lines) = (Span("\(name): ", .dim), wrapped(text, to: width - 2))
            // What does not fit beside its name stands beneath it.
            guard lines.count == 1, name.text.width + lines[0].width <= width - 2 else {
                return [ViewRow([name])] + lines.map { ViewRow([Span($0)]) }
            }
            return [ViewRow([name, Span(lines[0])])]
        }
        return ThreadPane.Block(comment: nil, rows: rows)
    }

    private func close(
        _ folding: (depth: Int, block: Int, count: Int), _ blocks: inout [ThreadPane.Block]
    ) {
        blocks[folding.block].rows[0].spans.append(
            Span(" [+\(Wording.count(folding.count, "reply", "replies"))]", .key))
    }

    private func block(_ comment: Comment, depth: Int) -> ThreadPane.Block {
        let rail = Span(String(repeating: "│ ", count: min(depth, max(1, width / 8))), .dim)
        let author = comment.author.map { ActorName.shown($0) } ?? "(nobody)"
        var head = [rail, Span(author, highlights.contains(comment.id) ? .warning : .bold)]
        var facts = " · \(WireTime.age(of: comment.created, now: now))"
        if comment.edited != nil { facts += " · edited" }
        head.append(Span(facts, .dim))
        if comment.state == .pending { head.append(Span(" · waits for a moderator", .warning)) }
        if comment.state == .removed { head.append(Span(" · removed", .warning)) }
        var rows = [ViewRow(head)]
        let text = comment.text ?? (comment.state == .pending ? "(not shown yet)" : "(deleted)")
        let look: Look = comment.text == nil ? .dim : .plain
        rows += wrapped(text, to: width - 2 - rail.text.width).map {
            ViewRow([rail, Span($0, look)])
        }
        if let reason = comment.reason {
            rows += wrapped("reason: \(reason)", to: width - 2 - rail.text.width).map {
                ViewRow([rail, Span($0, .warning)])
            }
        }
        if comment.more != nil {
            rows.append(ViewRow([rail, Span("… more replies: enter", .key)]))
        }
        return ThreadPane.Block(comment: comment, rows: rows)
    }

    private func wrapped(_ text: String, to room: Int) -> [CellText] {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .flatMap { CellText(String($0)).wrapped(to: room) }
    }
}
