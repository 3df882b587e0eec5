import AtriumKit
import Index

/// Items that a source told of by themselves and that don't fit the fields: the list has them as they were before, or
/// not at all, until the source tells of them again, or of all.
struct LeftOutItems {
    /// How many are kept in mind.
    private static let most = 1_000

    private var problems: [String: FieldProblem] = [:]
    /// The one that people are told of: the first by its id.
    private var example: FieldProblem?
    /// Whether any is another since ``begin()``.
    private var isChanged = false
    /// What is wrong with them, for people, as of the last ``end()``; nil: there are none.
    private(set) var problem: String?

    /// What a source told is about to be looked through.
    mutating func begin() { isChanged = false }

    /// It was looked through.
    ///
    /// - Returns: whether the problem is another by that.
    mutating func end() -> Bool {
        guard isChanged else { return false }
        // Looked for once for all that was told.
        example = example ?? problems.values.min { $0.item < $1.item }
        let before = problem
        problem = sentence
        return problem != before
    }

    /// A change without the items that don't fit.
    mutating func follow(_ change: ContentChange, _ checker: FieldChecker) -> ContentChange {
        switch change {
        case .insert(let items): return .insert(fitting(items, checker))
        case .update(let items): return .update(fitting(items, checker))
        case .remove(let ids): for id in ids { set(nil, of: id) }
        default: break
        }
        return change
    }

    private mutating func fitting(_ items: [Item], _ checker: FieldChecker) -> [Item] {
        items.filter { item in
            let problem = checker.check(item)
            if problem == nil || problems.count < Self.most { set(problem, of: item.id) }
            return problem == nil
        }
    }

    private mutating func set(_ problem: FieldProblem?, of id: String) {
        guard problem != nil || !problems.isEmpty else { return }
        let before = problems[id]
        guard problem != nil || before != nil else { return }
        problems[id] = problem
        isChanged = true
        if let problem, example.map({ problem.item <= $0.item }) ?? (problems.count == 1) {
            example = problem
        } else if example?.item == id {
            example = nil
        }
    }

    private var sentence: String? {
        guard let example else { return nil }
        let count = "\(problems.count)\(problems.count < Self.most ? "" : " or more")"
        return "has \(count) item\(problems.count == 1 ? "" : "s") that can't be shown as they are "
            + "now until their values fit the fields. \(example)"
    }
}
