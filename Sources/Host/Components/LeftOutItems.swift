import AtriumKit
import Index

/// Items that a source reported individually and that don't fit the fields.
///
/// The list keeps their earlier values, or does not have them, until the source reports them again, or all its items.
struct LeftOutItems {
    /// The maximum number of items that are remembered.
    private static let most = 1_000

    private var problems: [String: FieldProblem] = [:]
    /// The problem that people are shown: that of the first item by id.
    private var example: FieldProblem?
    /// Whether anything has changed since ``begin()``.
    private var isChanged = false
    /// A sentence for people, as of the last ``end()``; nil if all items fit.
    private(set) var problem: String?

    /// Begins a batch of reported changes.
    mutating func begin() { isChanged = false }

    /// Ends the batch; returns whether ``problem`` has changed.
    mutating func end() -> Bool {
        guard isChanged else { return false }
        // Once for the whole batch, because it searches all problems.
        example = example ?? problems.values.min { $0.item < $1.item }
        let before = problem
        problem = sentence
        return problem != before
    }

    /// Returns a change without the items that don't fit.
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
        // What is wrong may be a value, or the id or parent.
        let (noun, state) = problems.count == 1 ? ("item", "it is") : ("items", "they are")
        return "has \(count) \(noun) that can't be shown as \(state) now. \(example)"
    }
}
