import Interfaces

/// What is known of what the screen is focused on: fields that stand in no column, and the comments.
struct ThreadPane {
    /// A comment, or the part above the first comment.
    struct Block {
        var comment: Comment?
        var rows: [ViewRow]
    }

    private(set) var blocks: [Block] = []
    /// The block that is chosen.
    private(set) var cursor = 0
    /// The first row in sight.
    private(set) var offset = 0
    /// The comments whose replies are not shown.
    private(set) var folded: Set<String> = []
    /// The time at which the age of a comment changes; nil: none is shown.
    private(set) var nextAge: Double?
    /// The comment that was sent and is not shown yet: it is chosen once it is.
    private var awaited: String?

    var count: Int { blocks.reduce(0) { $0 + $1.rows.count } }

    /// The comment that is chosen.
    var comment: Comment? { blocks.indices.contains(cursor) ? blocks[cursor].comment : nil }

    /// Lays comments out, below the details of what they are about; the one that was chosen stays chosen, unless they
    /// are about something else than those before.
    mutating func update(
        _ comments: [Comment], held: [Comment], details: [(name: String, text: String)],
        _ layout: ThreadLayout, isNew: Bool
    ) {
        let before = comment?.id
        let (filled, own) = comments.filled(with: held)
        nextAge = WireTime.nextAge(of: (comments + own).map(\.created), now: layout.now)
        blocks = [layout.block(details: details)].compactMap(\.self)
        blocks += layout.blocks(filled) + layout.blocks(own)
        if isNew {
            offset = 0
            cursor = blocks.firstIndex { $0.comment != nil } ?? 0
        } else if let before, let place = blocks.firstIndex(where: { $0.comment?.id == before }) {
            cursor = place
        } else {
            cursor = max(0, min(cursor, blocks.count - 1))
        }
    }

    /// Has a comment chosen once it is shown; nil: none.
    mutating func setAwaited(_ comment: String?) { awaited = comment }

    /// Chooses the awaited comment if it is here, and scrolls so that it is in sight.
    mutating func chooseAwaited(height: Int) {
        guard let awaited, let place = blocks.firstIndex(where: { $0.comment?.id == awaited })
        else { return }
        cursor = place
        show(place, height)
        self.awaited = nil
    }

    /// Whether the end is within so many rows from the first in sight.
    func isNearEnd(within rows: Int) -> Bool { offset + rows >= count }

    /// Shows or hides the replies to the chosen comment.
    mutating func fold() {
        guard let comment, comment.replies > 0 else { return }
        if folded.remove(comment.id) == nil { folded.insert(comment.id) }
    }

    /// Goes on by a comment, or by a row of one that does not fit.
    mutating func move(down: Bool, height: Int) {
        guard blocks.indices.contains(cursor) else { return }
        let (start, end) = rows(of: cursor)
        if down {
            if end > offset + height {
                offset += 1
            } else if cursor < blocks.count - 1 {
                cursor += 1
                show(cursor, height)
            }
        } else if start < offset {
            offset -= 1
        } else if cursor > 0 {
            cursor -= 1
            let (start, end) = rows(of: cursor)
            if start < offset { offset = max(start, end - height) }
        }
    }

    /// Scrolls by rows, and chooses what is in sight then.
    mutating func scroll(by rows: Int, height: Int) {
        offset = max(0, min(offset + rows, count - height))
        let here = self.rows(of: cursor)
        if here.end <= offset || here.start >= offset + height {
            cursor = block(at: rows < 0 ? min(count, offset + height) - 1 : offset) ?? cursor
        }
    }

    mutating func moveToStart() { (cursor, offset) = (0, 0) }

    mutating func moveToEnd(height: Int) {
        cursor = max(0, blocks.count - 1)
        offset = max(0, count - height)
    }

    mutating func point(at block: Int) {
        if blocks.indices.contains(block) { cursor = block }
    }

    /// Scrolls so that it is not beyond its end.
    mutating func limitOffset(height: Int) { offset = max(0, min(offset, count - height)) }

    /// The rows in sight, each with its block.
    func visible(_ height: Int) -> [(block: Int, row: ViewRow)] {
        var rows: [(block: Int, row: ViewRow)] = []
        var start = 0
        for (index, block) in blocks.enumerated() {
            if start + block.rows.count > offset {
                rows += block.rows.dropFirst(max(0, offset - start)).map { (index, $0) }
            }
            start += block.rows.count
            if rows.count >= height { break }
        }
        return Array(rows.prefix(max(0, height)))
    }

    private mutating func show(_ block: Int, _ height: Int) {
        let (start, end) = rows(of: block)
        if end > offset + height { offset = min(start, end - height) }
        if start < offset { offset = start }
    }

    private func rows(of block: Int) -> (start: Int, end: Int) {
        let start = blocks.prefix(block).reduce(0) { $0 + $1.rows.count }
        return (start, start + (blocks.indices.contains(block) ? blocks[block].rows.count : 0))
    }

    private func block(at row: Int) -> Int? {
        var start = 0
        for (index, block) in blocks.enumerated() {
            start += block.rows.count
            if row < start { return index }
        }
        return nil
    }
}
