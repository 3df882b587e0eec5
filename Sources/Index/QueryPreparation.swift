/// Answers a query step by step while the index continues to change, for queries that read too much for one turn of the
/// loop.
///
/// First it finds the sets of search, selections and counted filters (``SelectionSearch``), then the total, the counts
/// and the first rows (``AnswerSearch``). Once ``step()`` returns false, everything is correct until the next change;
/// ``answer()`` applies later changes, if they are few.
package final class QueryPreparation {
    /// The index.
    package let index: ContentIndex
    /// The query.
    package let query: IndexQuery
    /// The number of restarts, because too much had changed.
    private(set) var restarts = 0

    /// A query begins again so often; where a list changes that fast, its caller is to try later.
    private static let mostRestarts = 8
    /// The maximum number of filters that are tested at once against rows that changed.
    private static let fewTests = 16_384

    private enum Stage {
        case selecting(SelectionSearch)
        case answering(AnswerSearch)
        case answered(AnswerSearch)
    }

    private var stage: Stage

    package init(_ query: IndexQuery, in index: ContentIndex) throws(IndexError) {
        _ = try RowOrder(query.sort, in: index).position(of: query)
        self.query = query
        self.index = index
        stage = .selecting(SelectionSearch(query, in: index))
        index.startLogging()
    }

    deinit { index.stopLogging() }

    /// Whether the index changes faster than it can be followed.
    package var isHopeless: Bool { restarts > Self.mostRestarts }

    /// Does one step; returns false if everything is found, and correct until the next change, or if it can't be
    /// finished.
    package func step() -> Bool {
        guard !isHopeless else { return false }
        switch stage {
        case .selecting(let selections):
            switch selections.step() {
            case .more: return true
            case .lost: return beginAgain()
            case .done:
                guard let answer = try? AnswerSearch(query, in: index, selections) else {
                    return beginAgain()
                }
                stage = .answering(answer)
                return true
            }
        case .answering(let answer), .answered(let answer):
            switch answer.step() {
            case .more: return true
            case .lost: return beginAgain()
            case .done:
                stage = .answered(answer)
                return false
            }
        }
    }

    /// Returns the answer, updated if little has changed since it was found; nil: further steps are needed.
    package func answer() -> AnswerSearch? {
        guard case .answered(let answer) = stage, let tests = answer.pendingTests,
            tests <= Self.fewTests, answer.catchUp()
        else { return nil }
        return answer
    }

    private func beginAgain() -> Bool {
        restarts += 1
        stage = .selecting(SelectionSearch(query, in: index))
        return !isHopeless
    }
}
