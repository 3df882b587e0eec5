import AtriumKit
import Index
import JSONCodec

/// Items that don't fit the fields when a component is started: an earlier version took them, or a source
/// that does not keep to the fields has them.
///
/// Those that are records are shown as they are, and compared as well as they can be.
struct UnfitItems: Sendable, Hashable {
    /// How many are named, and looked at again when somebody asks.
    private static let named = 10

    private(set) var count = 0
    /// Whether the list is without them.
    private(set) var areLeftOut: Bool
    private var first: [FieldProblem] = []

    init(areLeftOut: Bool = false) { self.areLeftOut = areLeftOut }

    /// Notes an item.
    mutating func add(_ problem: FieldProblem) {
        count += 1
        if first.count < Self.named { first.append(problem) }
    }

    /// What is wrong with those that still don't fit, and what to do, for people; nil: nothing is.
    func problem(in list: ContentIndex?, _ checker: FieldChecker) -> String? {
        guard count > 0, let list else { return nil }
        let present = first.filter { problem in
            guard let stored = list.item(problem.item) else { return areLeftOut }
            guard let fields: [String: Value] = try? JSON.decode(from: stored.fields) else {
                return true
            }
            let item = Item(id: stored.id, fields: fields, parent: stored.parent)
            return checker.check(item) != nil
        }
        let count = present.count + count - first.count
        guard let example = present.first else { return nil }
        let others = present.dropFirst().map { "'\($0.item)'" }.joined(separator: ", ")
        let isCut = count > present.count
        return "has \(count) item\(count == 1 ? "" : "s") that "
            + (areLeftOut ? "can't be shown" : "can't be compared with others exactly")
            + " until their values fit the fields. \(example)"
            + (others.isEmpty ? "" : " Others: \(others)\(isCut ? ", …" : "").")
            + " Put each with a value that fits, or remove it"
    }
}
