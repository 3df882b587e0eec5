package import AtriumFormats
package import AtriumKit
package import JSONCodec

/// The values of fields.
package struct ItemValues: Sendable {
    /// The character that separates keywords in a text; nil: texts are not split.
    package let separator: Character?
    package var texts = FieldValues()

    package init(separator: Character?) { self.separator = separator }

    /// Returns the field's value for a JSON value, or for the text of a cell; nil if it stands for none.
    ///
    /// - Throws: a misfit for a value that items of the container can't have, as far as that can be decided here.
    package func value(_ json: JSONValue, of field: Field) throws(FieldValues.Misfit) -> Value? {
        let found: JSONValue?
        if let separator, field.type == .keywords, let text = json.string {
            found = .array(ItemText.words(text, by: separator).map { .string($0) })
        } else {
            found = try texts.value(json, type: field.type.rawValue)
        }
        guard let value = found.map(Value.init(json:)) else { return nil }
        if let expected = Self.expected(value, of: field) {
            throw FieldValues.Misfit(expected: expected, found: Self.text(json))
        }
        return value
    }

    /// Returns what is expected of a value that does not fit; nil if it fits, or is checked elsewhere.
    private static func expected(_ value: Value, of field: Field) -> String? {
        switch field.type {
        case .text, .url, .image, .markdown: value.text == nil ? "a text" : nil
        case .keywords:
            value.list?.allSatisfy({ $0.text != nil }) == true ? nil : "a list of texts"
        case .number, .duration, .integer: expectedNumber(value, field)
        case .boolean: value.bool == nil ? "true or false" : nil
        // Local times are for who knows the zone.
        case .time where field.zone != nil: value.text == nil ? "a time" : nil
        case .time:
            value.text.flatMap { Timestamp($0) } == nil
                ? "a time such as 2026-03-29T20:15:00Z, or a date"
                : value.text.map(Timestamp.isExact) == false
                    ? "a time to the millisecond, in UTC from the year 0 to 9999" : nil
        default: nil
        }
    }

    private static func expectedNumber(_ value: Value, _ field: Field) -> String? {
        let isWhole = field.type == .integer
        guard let number = isWhole ? value.int.map(Double.init) : value.number else {
            return isWhole ? "a whole number" : "a number"
        }
        if let whole = value.int {
            // Others can't be distinguished from their neighbours.
            let most = Int64(1) << 53
            guard !isWhole || (-most...most).contains(whole) else {
                return FieldValues.exactInteger
            }
            guard Int64(exactly: number) == whole else {
                return FieldValues.exactNumber
            }
        }
        if let min = field.min, number < min { return "\(plain(min)) at least" }
        if let max = field.max, number > max { return "\(plain(max)) at most" }
        return field.type == .duration && number < 0 ? "0 seconds at least" : nil
    }

    private static func plain(_ number: Double) -> String {
        Value.number(number).plainText ?? "\(number)"
    }

    /// A value as a message quotes it.
    private static func text(_ json: JSONValue) -> String {
        let text = json.string ?? String(decoding: JSON.encode(json), as: UTF8.self)
        return text.count > 60 ? text.prefix(60) + "…" : text
    }
}

extension Value {
    /// The same value.
    package init(json: JSONValue) {
        switch json {
        case .null: self = .null
        case .bool(let bool): self = .bool(bool)
        case .int(let int): self = .int(int)
        case .double(let number): self = .number(number)
        case .string(let text): self = .text(text)
        case .array(let elements): self = .list(elements.map(Value.init(json:)))
        case .object(let members):
            self = .object(
                Dictionary(members.map { ($0.name, Value(json: $0.value)) }) { first, _ in first })
        }
    }
}

/// Items of JSON objects.
package struct ObjectMapping {
    /// The role of a member.
    private enum Role {
        case ids([Int])
        case parent
        case field(Int)
        case fields
        case none
    }

    private let mapping: ItemMapping
    private let hasPointers: Bool
    private var roles: [String: Role] = [:]

    package init(_ mapping: ItemMapping) {
        self.mapping = mapping
        hasPointers =
            mapping.parent?.pointer != nil || mapping.ids.contains { $0.pointer != nil }
            || mapping.fields.contains { $0.location.pointer != nil }
    }

    /// Returns the item of a line or an element; nil for an empty line.
    ///
    /// Fields may be in a member `fields` of their own, as in exports.
    package mutating func item(_ bytes: [UInt8], _ piece: FormatPiece) throws(FormatProblem)
        -> Item?
    {
        guard bytes.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D && $0 != 0x0A }) else {
            return nil
        }
        let whole: JSONValue
        do throws(JSONError) {
            whole = try JSONValue(keepingDigits: bytes)
        } catch {
            throw FormatProblem(error, in: bytes, line: piece.line, column: piece.column)
        }
        return try item(whole, piece)
    }

    /// The item of an object; the error has the place of the piece.
    package mutating func item(
        _ whole: JSONValue, _ piece: FormatPiece
    ) throws(FormatProblem) -> Item {
        guard case .object(let members) = whole else {
            throw FormatProblem(
                line: piece.line, column: piece.column, reason: "expected an object for each item")
        }
        var found = Found(ids: Array(repeating: nil, count: mapping.ids.count))
        for member in members { try read(member, &found, piece) }
        if hasPointers { try point(into: whole, &found, piece) }
        return try mapping.item(
            found.ids.compactMap { $0 }, found.parent, found.fields, line: piece.line)
    }

    /// The values of an item that were found so far.
    private struct Found {
        var ids: [String?]
        var parent: String?
        var fields: [String: Value] = [:]
    }

    private mutating func read(
        _ member: JSONValue.Member, _ found: inout Found, _ piece: FormatPiece
    ) throws(FormatProblem) {
        switch role(of: member.name) {
        case .ids(let indices):
            let text = try name(member.value, member.name, piece)
            for index in indices { found.ids[index] = text }
            // A column that ids are made of may be a field too.
            if let field = field(called: member.name) {
                try put(member.value, field, &found, piece)
            }
        case .parent: found.parent = try name(member.value, member.name, piece)
        case .field(let index): try put(member.value, mapping.fields[index].field, &found, piece)
        case .fields:
            for inner in member.value.object ?? [] {
                if case .field(let index) = role(of: inner.name) {
                    try put(inner.value, mapping.fields[index].field, &found, piece)
                }
            }
        case .none: break
        }
    }

    private func point(
        into whole: JSONValue, _ found: inout Found, _ piece: FormatPiece
    ) throws(FormatProblem) {
        for (index, id) in mapping.ids.enumerated() {
            guard let value = id.pointer?.value(in: whole) else { continue }
            found.ids[index] = try name(value, id.name, piece)
        }
        if let parent = mapping.parent, let value = parent.pointer?.value(in: whole) {
            found.parent = try name(value, parent.name, piece)
        }
        for (field, location) in mapping.fields {
            guard let value = location.pointer?.value(in: whole) else { continue }
            try put(value, field, &found, piece)
        }
    }

    private func put(
        _ value: JSONValue, _ field: Field, _ found: inout Found, _ piece: FormatPiece
    ) throws(FormatProblem) {
        do throws(FieldValues.Misfit) {
            found.fields[field.name] = try mapping.values.value(value, of: field)
        } catch {
            throw FormatProblem(
                line: piece.line, column: piece.column, reason: "\(field.name): \(error.reason)")
        }
    }

    /// An id, as a text or a whole number; nil for null.
    private func name(
        _ value: JSONValue, _ name: String, _ piece: FormatPiece
    ) throws(FormatProblem) -> String? {
        switch value {
        case .null: return nil
        case .string(let text): return text
        case .int(let number): return "\(number)"
        default:
            throw FormatProblem(
                line: piece.line, column: piece.column,
                reason: "\(name): expected a text or a whole number")
        }
    }

    private mutating func role(of name: String) -> Role {
        if let role = roles[name] { return role }
        let role = find(name)
        // Who has members without end has them for nothing.
        if roles.count < 10_000 { roles[name] = role }
        return role
    }

    private func find(_ name: String) -> Role {
        let ids = mapping.ids.indices.filter { Self.isThere(mapping.ids[$0], name) }
        if !ids.isEmpty { return .ids(ids) }
        if let index = fieldIndex(name) { return .field(index) }
        if let parent = mapping.parent, Self.isThere(parent, name) { return .parent }
        return name == "fields" ? .fields : .none
    }

    private func field(called name: String) -> Field? {
        fieldIndex(name).map { mapping.fields[$0].field }
    }

    private func fieldIndex(_ name: String) -> Int? {
        mapping.fields.firstIndex { $0.location.pointer == nil && $0.location.name == name }
            ?? mapping.fields.firstIndex { Self.isThere($0.location, name) }
    }

    private static func isThere(_ location: ItemMapping.Location, _ name: String) -> Bool {
        location.pointer == nil && ItemText.isSame(location.name, name)
    }
}
