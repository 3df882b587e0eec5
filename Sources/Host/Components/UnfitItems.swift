import AtriumKit
import Index
import JSONCodec

/// Items that don't fit the fields when a component is started.
///
/// An earlier version of the definition accepted them, or their source ignores the fields. If they are records they
/// are shown nevertheless, and sorted as well as possible.
struct UnfitItems: Sendable, Hashable {
    /// The maximum number of items that are named, and checked again when the status is read.
    private static let named = 10

    private(set) var count = 0
    /// Whether the list does not contain them.
    private(set) var areLeftOut: Bool
    private var first: [FieldProblem] = []

    init(areLeftOut: Bool = false) { self.areLeftOut = areLeftOut }

    mutating func add(_ problem: FieldProblem) {
        count += 1
        if first.count < Self.named { first.append(problem) }
    }

    /// What to do; a list of what a source has takes no items from people.
    private var advice: String {
        guard areLeftOut else { return " Put each with a value that fits, or remove it" }
        return " Mend each in the list's source, or put it if the list takes items"
    }

    /// A sentence for people about the items that still don't fit, and what to do; nil: there are none.
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
        // What is left out may have an id or a parent that can't be, and values that fit.
        let state =
            if areLeftOut {
                "can't be shown as \(count == 1 ? "it is" : "they are")"
            } else {
                "can't be compared with others exactly until their values fit the fields"
            }
        return "has \(count) item\(count == 1 ? "" : "s") that \(state). \(example)"
            + (others.isEmpty ? "" : " Others: \(others)\(isCut ? ", …" : "").")
            + advice
    }
}
