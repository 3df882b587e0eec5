import AtriumKit
import Index

/// The items of an answer that don't fit the container's fields.
struct UnfitAnswer {
    private(set) var ids: Set<String> = []
    private var first: FieldProblem?

    /// The items that fit; the others are noted.
    mutating func fitting(_ items: some Sequence<Item>, _ checker: FieldChecker) -> [Item] {
        items.filter { item in
            guard let problem = checker.check(item) else { return true }
            ids.insert(item.id)
            first = first ?? problem
            return false
        }
    }

    /// A sentence about those that don't fit; nil: there are none.
    var problem: String? {
        first.map {
            "answered items that don't fit the fields are left out, \(ids.count) in all; the first: \($0)"
        }
    }
}
