/// Finds a query's total, counts and first rows in small steps, from sets that are correct when it is made, while the
/// index continues to change.
///
/// A row that changes meanwhile is removed, and then judged by itself: it is subtracted from the total and the counts
/// by its values before, and added by its values now. Once ``step()`` returns `.done`, everything is correct until the
/// next change.
package final class AnswerSearch {
    let query: IndexQuery
    let index: ContentIndex
    /// The number of items that match.
    private(set) var total: Int
    /// The counts, if the query requests them, as ``IndexPage/counts``.
    private(set) var counts: [[Int]]
    let order: RowOrder

    /// The maximum number of filter tests on changed rows in a step.
    private static let testsInStep = 2_048

    private let after: RowOrder.Position?
    private let limit: Int
    private var counting: FacetCounting
    private var judge: RowJudge
    /// The rows that match, apart from rows that are still to be judged.
    private var rows: Bitset
    private var best: BestRows
    /// The number of words of ``rows`` that were scanned; the scan is done when it is the number of all words.
    private var looked = 0
    private var isBegun = false
    /// The position in the log up to which changes are known and noted as to be judged.
    private var position: UInt64
    private var changed: [Int32: RowChange] = [:]

    /// Prepares the search for a query's answer, with the sets that were found ahead, as of now; the index's log is
    /// kept written.
    init(
        _ query: IndexQuery, in index: ContentIndex, _ selections: SelectionSearch
    ) throws(IndexError) {
        self.query = query
        self.index = index
        order = try RowOrder(query.sort, in: index)
        after = try order.position(of: query)
        limit = query.limit + query.spare
        let matches = Matches(query, by: index.finder, selections)
        counting = FacetCounting(query, matches, selections, by: index.finder)
        judge = RowJudge(query, in: index)
        (rows, total, counts) = (matches.rows, matches.total, counting.none)
        best = order.bestRows(limit: limit)
        position = index.log.end
    }

    /// The first rows in order, some more than the limit, and whether there are no others; valid once all is found.
    var page: RowOrder.Page {
        guard query.limit > 0 else { return ([], true) }
        var best = best
        return best.finish()
    }

    /// The number of filters to test against rows that changed; nil: too many changed.
    var pendingTests: Int? {
        index.log.count(since: position).map { ($0 + changed.count) * judge.weight }
    }

    func step() -> SelectionSearch.Progress {
        guard takeOutChanged() else { return .lost }
        return judgeChanged() || counting.step(into: &counts) || find() ? .more : .done
    }

    /// Applies the changes since everything was found, without reading other rows; returns false if so much changed
    /// that further steps are needed.
    func catchUp() -> Bool {
        guard takeOutChanged() else { return false }
        while judgeChanged() {}
        return query.limit == 0 || looked == .max && !isShort
    }

    /// Whether so many of the first rows were removed that rows which were turned away come next.
    private var isShort: Bool { best.isCut && best.count < query.limit }

    /// Removes the rows that changed; returns false if so many changed that the search has to begin again.
    private func takeOutChanged() -> Bool {
        guard let count = index.log.count(since: position) else { return false }
        guard count > 0 else { return true }
        for change in index.log.entries(since: position, atMost: count) {
            rows.remove(Int(change.row))
            changed[change.row, default: change].add(change)
        }
        position = index.log.end
        best.remove { changed[Int32($0)] != nil }
        return true
    }

    /// Judges some rows that changed; returns whether there were any.
    private func judgeChanged() -> Bool {
        guard !changed.isEmpty else { return false }
        if judge.isOutdated { judge = RowJudge(query, in: index) }
        for _ in 0..<max(Self.testsInStep / judge.weight, 1) {
            guard let (row, change) = changed.popFirst() else { break }
            let verdict = judge.verdict(on: change, in: index, order: order.parts)
            total += verdict.totalChange
            judge.count(change, verdict, into: &counts, in: index)
            if verdict.passesNow { takeIn(Int(row)) }
        }
        return true
    }

    private func takeIn(_ row: Int) {
        rows.insert(row)
        // What was not looked at yet will be.
        guard row / 64 < looked, after.map({ order.compare(row, $0) > 0 }) ?? true else { return }
        best.insert(row, key: order.head(of: row))
    }

    /// Reads some more rows to find the first ones; returns false if all rows were read.
    private func find() -> Bool {
        guard query.limit > 0 else { return false }
        if looked == .max {
            guard isShort else { return false }
            best = order.bestRows(limit: limit)
            (isBegun, looked) = (false, 0)
        }
        if !isBegun {
            isBegun = true
            if let page = order.walked(rows, total: total, after: after, limit: limit) {
                best.replaceAll(with: page, key: order.head)
                looked = .max
            }
            return true
        }
        let end = min(looked + order.wordsInStep, rows.words.count)
        order.scan(rows, words: looked..<end, after: after, into: &best)
        looked = end < rows.words.count ? end : .max
        return true
    }
}
