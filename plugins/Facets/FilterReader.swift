import AtriumKit

/// Reads one filter of a section: a value, or a range from one (included) to another (excluded).
struct FilterReader {
    let field: Field

    func read(_ object: SettingObject) throws(SettingError) -> Filter {
        let id = try object.requiredText("id", "what '--filter SECTION=ID' names it by")
        guard id.utf8.count <= 200, id.unicodeScalars.allSatisfy({ $0.value >= 0x20 }) else {
            throw object.error("id", "expected 200 bytes at most, without control characters")
        }
        return Filter(
            id: id, title: try object.text("title") ?? id, predicate: try predicate(object))
    }

    private func predicate(_ object: SettingObject) throws(SettingError) -> Predicate {
        guard let value = object["value"] else { return try range(object) }
        for name in ["from", "to"] where object[name] != nil {
            throw object.error(name, "a filter has a value or a range, not both")
        }
        guard field.takes(value) else {
            throw object.error("value", mismatch(value, field.expectedValue))
        }
        return .equals(field: field.name, value: value)
    }

    private func range(_ object: SettingObject) throws(SettingError) -> Predicate {
        let from = try position("from", in: object)
        let to = try position("to", in: object)
        guard from != nil || to != nil else {
            throw SettingError(object.path, "expected 'value', 'from', 'to', or both of these")
        }
        if let from, let to, from >= to {
            throw object.error("to", "expected more than 'from', as it is not in the range itself")
        }
        return .range(
            field: field.name, lower: from.map { Predicate.Bound($0) },
            upper: to.map { Predicate.Bound($0, isIncluded: false) })
    }

    private func position(
        _ name: String, in object: SettingObject
    ) throws(SettingError) -> Double? {
        guard let value = object[name] else { return nil }
        guard field.hasRanges else {
            throw object.error(
                name,
                "a range needs a number, integer, duration, time or date; '\(field.name)' is of the "
                    + "type \(field.type.rawValue)")
        }
        guard let position = field.position(value) else {
            let expected =
                field.type == .duration
                ? field.expectedValue : "a value of the type \(field.type.rawValue)"
            throw object.error(name, mismatch(value, expected))
        }
        return position
    }

    private func mismatch(_ value: Value, _ expected: String) -> String {
        let found = value.plainText.map { "'\($0)'" } ?? value.typeName
        return "expected \(expected), as '\(field.name)' has, found \(found)"
    }
}
