import AtriumKit

extension Field {
    /// Fields that the host derives from votes and comments; a section may be about them too.
    static let derived = [
        Field(name: "votes.score", type: .number), Field(name: "votes.count", type: .integer),
        Field(name: "comments.count", type: .integer),
    ]

    /// The filter for the present day, week or month; nil where the field has no dates.
    var present: Filter? {
        switch derivation?.by {
        case .day: Filter(id: "today", title: "Today", presentOf: name)
        case .week: Filter(id: "this-week", title: "This week", presentOf: name)
        case .month: Filter(id: "this-month", title: "This month", presentOf: name)
        default: nil
        }
    }

    /// Whether the field's values can be compared, and so lie in ranges.
    var hasRanges: Bool {
        switch type {
        case .number, .integer, .duration, .time, .date: true
        case .text, .keywords, .boolean, .url, .image, .markdown: false
        @unknown default: false
        }
    }

    /// Whether the field's values are texts, which may be looked through.
    var hasTexts: Bool { [.text, .keywords, .url, .markdown].contains(type) }

    /// The value that a filter's id stands for, nil when it is none of this field's type.
    func value(writtenAs text: String) -> Value? {
        switch type {
        case .text, .keywords, .url, .markdown: text.isEmpty ? nil : .text(text)
        case .image: nil
        case .integer: Int64(text).flatMap { $0.magnitude <= 1 << 53 ? .int($0) : nil }
        case .number, .duration: exactNumber(text)
        case .boolean: text == "true" ? true : text == "false" ? false : nil
        case .time: Timestamp.isExact(text) ? Timestamp(text).map { .text($0.shortText) } : nil
        case .date: hasDate(text) ? .text(text) : nil
        @unknown default: nil
        }
    }

    /// Whether items may have this value in this field.
    func takes(_ value: Value) -> Bool {
        switch type {
        case .text, .keywords, .url, .markdown: value.text.map { !$0.isEmpty } ?? false
        case .image: false
        case .integer: value.int != nil
        case .number, .duration: value.number != nil
        case .boolean: value.bool != nil
        case .time: value.text.map { Timestamp($0) != nil } ?? false
        case .date: value.text.map(hasDate) ?? false
        @unknown default: false
        }
    }

    /// Whether items may have this date: of those derived by week or month only the first days.
    private func hasDate(_ text: String) -> Bool {
        guard Timestamp.isDate(text), let date = Timestamp(text) else { return false }
        switch derivation?.by {
        // 1970-01-05 was a Monday.
        case .week: return (date.milliseconds / 86_400_000 - 4).isMultiple(of: 7)
        case .month: return text.hasSuffix("-01")
        default: return true
        }
    }

    /// What values it takes, as the object of a sentence.
    var expectedValue: String {
        switch derivation?.by {
        case .week: "a Monday, as in 2026-03-30"
        case .month: "the first of a month, as in 2026-03-01"
        default:
            switch type {
            case .boolean: "true or false"
            case .duration: "a number of seconds"
            default: "a value of the type \(type.rawValue)"
            }
        }
    }

    /// A range as a person may write it, with its unit.
    var exampleRange: String {
        switch type {
        case .time, .date: "2020-01-01..2020-12-31"
        case .duration: "5400..7200 in seconds"
        default: "6..8"
        }
    }

    /// The end of a range that a person wrote; a date as the last day is in it as a whole.
    func bound(writtenAs text: String, isUpper: Bool) -> Predicate.Bound? {
        guard type == .time || type == .date else {
            return finiteNumber(text).map { Predicate.Bound($0) }
        }
        guard let seconds = seconds(text) else { return nil }
        return isUpper && Timestamp.isDate(text)
            ? Predicate.Bound(seconds + 86_400, isIncluded: false) : Predicate.Bound(seconds)
    }

    /// The end of a range as the settings give it, in the unit of the index.
    func position(_ value: Value) -> Double? {
        type == .time || type == .date ? value.text.flatMap(seconds) : value.number
    }

    private func seconds(_ text: String) -> Double? {
        if type == .date, !Timestamp.isDate(text) { return nil }
        return Timestamp(text).map { Double($0.milliseconds) / 1000 }
    }

    /// A number; nil for a whole one that can't be distinguished from its neighbours.
    private func exactNumber(_ text: String) -> Value? {
        guard let int = Int64(text) else {
            // A whole number that 64 bits don't hold would be rounded.
            let isWhole = !text.utf8.contains { $0 == UInt8(ascii: ".") || $0 | 0x20 == 0x65 }
            return isWhole ? nil : finiteNumber(text).map(Value.number)
        }
        if int.magnitude <= 1 << 53 { return .int(int) }
        return Int64(exactly: Double(int)) == int ? .number(Double(int)) : nil
    }

    /// A number in decimal notation: `Double` also reads hexadecimal ones, and words for what is not finite.
    private func finiteNumber(_ text: String) -> Double? {
        guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }) else { return nil }
        return Double(text).flatMap { $0.isFinite ? $0 : nil }
    }
}

/// A range as a person writes it: `6..8`, `6..` or `..8`, both ends included.
struct WrittenRange {
    /// Which items lie in it.
    let predicate: Predicate

    init?(_ text: String, in field: Field) {
        guard let dots = text.firstRange(of: "..") else { return nil }
        let (from, to) = (String(text[..<dots.lowerBound]), String(text[dots.upperBound...]))
        let lower = field.bound(writtenAs: from, isUpper: false)
        let upper = field.bound(writtenAs: to, isUpper: true)
        guard from.isEmpty == (lower == nil), to.isEmpty == (upper == nil),
            lower != nil || upper != nil
        else { return nil }
        if let lower, let upper, lower.value > upper.value { return nil }
        predicate = .range(field: field.name, lower: lower, upper: upper)
    }
}
