import AtriumKit
import Index

/// Items that a source told of by themselves and that don't fit the fields: the list has them as they were before, or
/// not at all, until the source tells of them again, or of all.
struct LeftOutItems {
    /// How many are kept in mind.
    private static let most = 1_000

    private var problems: [String: FieldProblem] = [:]

    /// A change without the items that don't fit.
    mutating func follow(_ change: ContentChange, _ checker: FieldChecker) -> ContentChange {
        switch change {
        case .insert(let items): return .insert(fitting(items, checker))
        case .update(let items): return .update(fitting(items, checker))
        case .remove(let ids): for id in ids { problems[id] = nil }
        default: break
        }
        return change
    }

    private mutating func fitting(_ items: [Item], _ checker: FieldChecker) -> [Item] {
        items.filter { item in
            let problem = checker.check(item)
            if problem == nil || problems.count < Self.most { problems[item.id] = problem }
            return problem == nil
        }
    }

    /// What is wrong with them, for people; nil: there are none.
    var problem: String? {
        guard let example = problems.values.min(by: { $0.item < $1.item }) else { return nil }
        let count = "\(problems.count)\(problems.count < Self.most ? "" : " or more")"
        return "has \(count) item\(problems.count == 1 ? "" : "s") that can't be shown as they are "
            + "now until their values fit the fields. \(example)"
    }
}
