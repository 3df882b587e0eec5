package import AtriumKit

/// A problem with an item, in the words of the wire's `FieldInvalid`.
public struct FieldProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The item's id, as it was given.
    public var item: String
    /// The field, or `id` or `parent`.
    public var field: String
    /// The expected value.
    public var expected: String
    /// The value that was found.
    public var found: String

    /// One sentence.
    public var description: String {
        "Item '\(item)', field '\(field)': expected \(expected), found \(found)."
    }
}

/// Checks items against a container's declared fields, before any component sees them.
package struct FieldChecker {
    package let fields: [Field]
    private let rules: FieldRules

    package init(fields: [Field]) {
        self.fields = fields
        rules = FieldRules(fields)
    }

    /// The first thing wrong with an item; nil when it may be put.
    ///
    /// A field that is null counts as absent.
    package func check(_ item: Item) -> FieldProblem? {
        rules.fit(item) ? nil : problem(with: item)
    }

    private func problem(with item: Item) -> FieldProblem? {
        if let found = ItemID.problem(in: item.id) {
            return FieldProblem(
                item: item.id, field: "id", expected: ItemID.expectation, found: found)
        }
        if let parent = item.parent, let found = ItemID.problem(in: parent) {
            return FieldProblem(
                item: item.id, field: "parent", expected: ItemID.expectation, found: found)
        }
        var first: FieldProblem?
        var declared = 0
        for field in fields {
            let value = item.fields[field.name]
            if value != nil { declared += 1 }
            if first == nil { first = check(value, as: field, of: item) }
        }
        return declared == item.fields.count ? first : undeclared(in: item) ?? first
    }

    private func undeclared(in item: Item) -> FieldProblem? {
        let names = Set(fields.map(\.name))
        guard let name = item.fields.keys.filter({ !names.contains($0) }).min() else { return nil }
        let known = fields.map(\.name).sorted().joined(separator: ", ")
        return FieldProblem(
            item: item.id, field: name,
            expected: known.isEmpty ? "no field (none is declared)" : "a declared field (\(known))",
            found: "an undeclared one")
    }

    private func check(_ value: Value?, as field: Field, of item: Item) -> FieldProblem? {
        func problem(_ expected: String, _ found: String) -> FieldProblem {
            FieldProblem(item: item.id, field: field.name, expected: expected, found: found)
        }
        if let derivation = field.derivation {
            guard let value, !value.isNull else { return nil }
            return problem("nothing, as it follows from '\(derivation.of)'", value.inWords)
        }
        guard let value, !value.isNull else {
            return field.required ? problem(field.type.expectation, "nothing") : nil
        }
        guard field.type.accepts(value) else {
            let local = field.zone.map { ", or a local time of \($0)" } ?? ""
            return problem(field.type.expectation + local, value.inWords)
        }
        if !field.type.isExact(value), let expected = field.type.exactness {
            return problem(expected, value.inWords)
        }
        guard field.type.isBounded, let number = value.number else { return nil }
        if let least = field.min, number < least {
            return problem("at least \(Value.number(least).inWords)", value.inWords)
        }
        if let greatest = field.max, number > greatest {
            return problem("at most \(Value.number(greatest).inWords)", value.inWords)
        }
        return nil
    }
}

extension Field.FieldType {
    /// The description of a value of this type, for errors.
    fileprivate var expectation: String {
        switch self {
        case .text: "text"
        case .keywords: "a list of texts"
        case .number: "a finite number"
        case .integer: "a whole number"
        case .boolean: "true or false"
        case .duration: "a duration in seconds, 0 or more"
        case .time: "a time (RFC 3339) or a date (2026-01-31)"
        case .url: Address.expectation
        case .image: PictureText.expectation
        case .markdown: "text in Markdown"
        case .date: "a date (2026-01-31)"
        @unknown default: "a value of type \(rawValue)"
        }
    }

    /// Whether `min` and `max` are about it.
    var isBounded: Bool { self == .number || self == .integer || self == .duration }

    /// Whether a value is of this type.
    func accepts(_ value: Value) -> Bool {
        switch self {
        case .text, .markdown: value.text != nil
        case .keywords: value.list?.allSatisfy { $0.text != nil } ?? false
        case .number: value.number?.isFinite ?? false
        case .integer: value.int != nil
        case .boolean: value.bool != nil
        case .duration: value.number.map { $0.isFinite && $0 >= 0 } ?? false
        case .time: value.text.flatMap(TimeText.seconds) != nil
        case .url: value.text.map(Address.isAddress) ?? false
        case .image: value.text.map(PictureText.isPicture) ?? false
        case .date: value.text.map(Timestamp.isDate) ?? false
        @unknown default: true
        }
    }
}

extension Field.FieldType {
    /// The greatest whole number up to which each has a representation of its own.
    private static let greatestExact: Int64 = 1 << 53

    /// The description of the values of this type that can be compared exactly; nil: all of them.
    fileprivate var exactness: String? {
        switch self {
        case .number, .duration:
            "a number that a 64-bit float holds exactly (a field of the type text keeps every digit)"
        case .integer:
            "a whole number from -\(Self.greatestExact) to \(Self.greatestExact)"
        case .time: "a time to the millisecond, in UTC from the year 0 to 9999"
        case .text, .keywords, .boolean, .date, .url, .image, .markdown: nil
        @unknown default: nil
        }
    }

    /// Whether a value that is of this type is compared as it was put.
    func isExact(_ value: Value) -> Bool {
        let exact = -Self.greatestExact...Self.greatestExact
        return switch self {
        case .integer: value.int.map(exact.contains) ?? true
        case .number, .duration:
            if case .int(let int) = value { Int64(exactly: Double(int)) == int } else { true }
        case .time: value.text.map(Timestamp.isExact) ?? true
        default: true
        }
    }
}

extension Value {
    /// The value as an error shows it: short, and its type where that is not plain to see.
    fileprivate var inWords: String {
        switch self {
        case .null: "null"
        case .bool(let bool): "\(bool)"
        case .int(let int): "\(int)"
        case .number(let number): Int64(exactly: number).map { "\($0)" } ?? "\(number)"
        case .text(let text) where text.count > 40: "text '\(text.prefix(40))…'"
        case .text(let text): "text '\(text)'"
        case .list(let list):
            list.first { $0.text == nil }.map { "a list with \($0.inWords)" } ?? "a list"
        case .object: "an object"
        }
    }
}
