import Foundation

/// A call as Foundation's reader finds it.
struct ReferenceCall {
    var members: [String]
    var method: String?
    var parameters: [String: Any]?
    /// `oneway`, `more` and `upgrade`.
    var flags: [Bool]
    /// What forbids it to be a call, in words; nil where nothing does.
    var complaint: String?

    /// Nil where Foundation reads no object.
    init?(_ frame: [UInt8]) {
        guard let tree = Reference.read(frame) as? [String: Any] else { return nil }
        members = Array(tree.keys)
        method = tree["method"] as? String
        parameters = tree["parameters"] as? [String: Any]
        let values = ["oneway", "more", "upgrade"].map { tree[$0] ?? NSNull() }
        flags = values.map { Self.bool($0) ?? false }
        complaint = Self.complaint(tree, values, flags)
    }

    private static func complaint(
        _ tree: [String: Any], _ values: [Any], _ flags: [Bool]
    ) -> String? {
        let parameters = tree["parameters"] ?? NSNull()
        let fits =
            (tree["method"] ?? "") is String
            && (parameters is NSNull || parameters is [String: Any])
            && values.allSatisfy { $0 is NSNull || bool($0) != nil }
        guard fits else { return "a wrong type" }
        guard tree["method"] != nil else { return "no method" }
        guard flags.count(where: { $0 }) <= 1 else { return "several flags" }
        let known: Set = ["method", "parameters", "oneway", "more", "upgrade"]
        return tree.keys.contains { !known.contains($0) && !$0.contains(".") }
            ? "an unknown member" : nil
    }

    /// A truth value; nil for numbers, 0 and 1 among them.
    private static func bool(_ value: Any) -> Bool? {
        guard let number = value as? NSNumber, String(cString: number.objCType) == "c" else {
            return nil
        }
        return number.boolValue
    }
}
