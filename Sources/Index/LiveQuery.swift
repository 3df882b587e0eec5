/// A query whose answer is kept up to date while the index changes; screens with the same query share one.
///
/// It shows the first ``IndexQuery/limit`` items, the total and the counts, all as of the last ``advance()``. It
/// notifies its ``holder`` of a change that affects it, and the holder calls `advance`; until then its answer stays
/// the same.
///
/// The filters that a section offers are fixed. If they come from the values of a field, the holder notices by
/// ``FieldValues/version(of:atMost:)`` that these changed, and makes a new query.
///
/// How it keeps up. The index records the changes of each row with the values before. From both follow the changes of
/// total and counts, and whether the row enters the window, leaves it, or moves within. Some rows behind the window are
/// kept as well, to move up when one leaves. Only when they run out, or after very many changes, does the query run on
/// the index anew.
package final class LiveQuery: LiveReader {
    /// The query that it answers.
    let query: IndexQuery
    /// The number of items that match.
    package private(set) var total = 0
    /// The first of them, in order.
    package private(set) var window: [IndexedItem] = []
    /// The counts, for each section and each filter that it offers: the number of items that would match if this filter
    /// were the only one selected in its section.
    ///
    /// Empty unless the query requests counts.
    package private(set) var counts: [[Int]] = []
    /// Whether it must be made anew, since running the query again would read too much for one turn.
    package private(set) var isOutdated = false

    /// The owner, which calls `advance()` after changes.
    package weak var holder: (any LiveQueryHolder)?
    /// Whether a change affects it that it does not show yet.
    private(set) var isStale = false

    private let index: ContentIndex
    private var number = -1
    private let order: RowOrder
    private var judge: RowJudge
    private let orderParts: ChangedParts
    private var front = Front()
    private var position: UInt64 = 0

    /// Answers a query, and keeps the answer up to date: its limit is the window's length, its cursor is ignored.
    ///
    /// Nil if finding the answer costs more than one turn allows.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - index: The index.
    ///   - answer: The present answer, found ahead; nil: it is found at once.
    ///   - looks: The number of rows that may be read for that; reduced by the number that were read.
    /// - Throws: ``IndexError/sortFieldUnknown(field:known:)``.
    package init?(
        _ query: IndexQuery, in index: ContentIndex, _ answer: AnswerSearch? = nil,
        within looks: inout Int
    ) throws(IndexError) {
        var query = query
        query.cursor = nil
        self.query = query
        self.index = index
        order = try RowOrder(query.sort, in: index)
        orderParts = order.parts
        judge = RowJudge(query, in: index)
        index.startLogging()
        number = index.live.join(
            self, parts: index.columns.parts(of: query).union(orderParts))
        if let answer {
            show(answer.page, total: answer.total, counts: answer.counts)
        } else if !askAnew(within: &looks) {
            return nil
        }
    }

    deinit {
        index.live.leave(number, isStale: isStale, knowing: front.rows)
        index.stopLogging()
    }

    func markStale(from start: UInt64, to end: UInt64) -> Bool {
        guard !isStale, position < end else { return false }
        position = max(position, start)
        isStale = true
        return true
    }

    /// Updates the answer to the index's present state, reading at most `looks` rows, which are subtracted; returns
    /// whether anything that it shows has changed.
    package func advance(within looks: inout Int) -> Bool {
        if isStale {
            isStale = false
            index.live.advanced(number)
        } else {
            // What came up to there did not affect it.
            position = max(position, index.live.position)
        }
        guard position != index.log.end, !isOutdated else { return false }
        guard let pending = index.log.count(since: position),
            pending <= max(64, index.count / 512), pending * judge.weight <= LiveQuery.mostTests
        else { return jump(within: &looks) }
        if judge.isOutdated { judge = RowJudge(query, in: index) }
        let changes = index.log.changes(since: position)
        position = index.log.end
        let old = (total, counts)
        var arrivals: ContiguousArray<Int32> = []
        var isFrontTouched = false
        for change in changes {
            switch relevance(of: change, isAlone: changes.count == 1) {
            case .elsewhere: continue
            case .content:
                isFrontTouched = true
                touch(change.row, stays: true)
                continue
            case .judged: break
            }
            let verdict = judge.verdict(on: change, in: index, order: orderParts)
            guard verdict.isRelevant else { continue }
            total += verdict.totalChange
            judge.count(change, verdict, into: &counts, in: index)
            if verdict.passedBefore, front.rows.contains(change.row) {
                isFrontTouched = true
                touch(change.row, stays: verdict.passesNow && !verdict.mayMove)
            }
            if verdict.passesNow, verdict.mayMove { arrivals.append(change.row) }
        }
        // All that moved are out of the front by now, so that what is left is in order.
        for row in arrivals where insert(row) { isFrontTouched = true }
        front.isComplete = front.rows.count == total
        let isChanged = (total, counts) != old
        guard isFrontTouched || front.rows.count < min(query.limit, total) else { return isChanged }
        if front.rows.count < min(query.limit, total) {
            guard !query.isLong(in: index), refill(within: &looks) else { return fallBehind() }
        }
        return showFront() || isChanged
    }
}

// MARK: Classifying changes

extension LiveQuery {
    private enum Relevance {
        /// The change affects nothing in sight.
        case elsewhere
        /// Fields of a known row changed, and none that the query depends on.
        case content
        /// The row has to be tested.
        case judged
    }

    /// Classifies a change without testing the query's selections, which is enough for most changes.
    private func relevance(of change: RowChange, isAlone: Bool) -> Relevance {
        guard change.parts.isDisjoint(with: judge.parts) else { return .judged }
        let isKnown = front.rows.contains(change.row)
        if change.parts.isDisjoint(with: orderParts) { return isKnown ? .content : .elsewhere }
        // A row that moves behind the last one known was not in sight and is not now. With other
        // changes at once, that last one may itself have moved.
        guard isAlone, !isKnown else { return .judged }
        if query.limit == 0 { return .elsewhere }
        guard !front.isComplete, let last = front.rows.last else { return .judged }
        return order.compare(Int(change.row), Int(last)) > 0 ? .elsewhere : .judged
    }
}

// MARK: The window

extension LiveQuery {
    /// The first rows in order with their items: the window and some behind it.
    private struct Front {
        var rows: ContiguousArray<Int32> = []
        var items: [IndexedItem] = []
        /// Whether there are no others.
        var isComplete = false
    }

    /// A row of the front has changed: it stays where it is, or is taken out.
    private func touch(_ row: Int32, stays: Bool) {
        guard let place = front.rows.firstIndex(of: row) else { return }
        if stays {
            front.items[place] = index.item(row: Int(row))
        } else {
            front.rows.remove(at: place)
            front.items.remove(at: place)
            index.live.forget(row, by: number)
        }
    }

    /// Inserts a row at its place, and returns true, unless it comes behind the last known row: other rows may come
    /// before it there.
    private func insert(_ row: Int32) -> Bool {
        guard query.limit > 0 else { return false }
        if !front.isComplete {
            guard let last = front.rows.last, order.compare(Int(row), Int(last)) < 0 else {
                return false
            }
        }
        var (low, high) = (0, front.rows.count)
        while low < high {
            let middle = (low + high) / 2
            if order.compare(Int(front.rows[middle]), Int(row)) < 0 {
                low = middle + 1
            } else {
                high = middle
            }
        }
        front.rows.insert(row, at: low)
        front.items.insert(index.item(row: Int(row)), at: low)
        index.live.know(row, by: number)
        return true
    }

    /// Finds the rows behind the known ones; returns false if that would read too much.
    private func refill(within looks: inout Int) -> Bool {
        let matches = Matches(query, by: index.finder)
        let page = order.page(
            of: matches.rows, total: matches.total,
            after: front.rows.last.map { order.position(of: Int($0)) },
            limit: query.limit + query.spare - front.rows.count, within: &looks)
        guard let page else { return false }
        append(page)
        return true
    }

    private func append(_ page: RowOrder.Page) {
        for row in page.rows {
            front.rows.append(Int32(row))
            front.items.append(index.item(row: row))
            index.live.know(Int32(row), by: number)
        }
        front.isComplete = page.isLast
    }

    /// Makes the window show the first rows; returns whether the window has changed.
    private func showFront() -> Bool {
        if front.rows.count > query.limit + query.spare * 2 {
            let surplus = front.rows.count - query.limit - query.spare
            for row in front.rows.suffix(surplus) { index.live.forget(row, by: number) }
            front.rows.removeLast(surplus)
            front.items.removeLast(surplus)
            front.isComplete = false
        }
        let old = window
        window = Array(front.items.prefix(query.limit))
        return window != old
    }

    /// Runs the query on the index again; returns false if that would read too much.
    private func askAnew(within looks: inout Int) -> Bool {
        let matches = Matches(query, by: index.finder)
        guard let counts = matches.counts(of: query, by: index.finder, within: &looks),
            let page = order.page(
                of: matches.rows, total: matches.total, after: nil,
                limit: query.limit == 0 ? 0 : query.limit + query.spare, within: &looks)
        else { return false }
        judge = RowJudge(query, in: index)
        show(page, total: matches.total, counts: counts)
        return true
    }

    private func show(_ page: RowOrder.Page, total: Int, counts: [[Int]]) {
        position = index.log.end
        (self.total, self.counts) = (total, counts)
        for row in front.rows { index.live.forget(row, by: number) }
        front = Front()
        guard query.limit > 0 else { return }
        append(page)
        _ = showFront()
    }

    /// The maximum number of changed rows, times filters, that are followed one by one; beyond it, the query runs on
    /// the index anew.
    private static let mostTests = 65_536

    private func fallBehind() -> Bool {
        isOutdated = true
        return false
    }

    private func jump(within looks: inout Int) -> Bool {
        let old = (total, counts, window)
        guard !query.isLong(in: index), askAnew(within: &looks) else { return fallBehind() }
        return (total, counts, window) != old
    }
}
