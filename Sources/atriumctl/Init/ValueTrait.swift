import AtriumFormats

/// A form that a value of a column may have, such as a whole number or a date.
enum ValueTrait: Hashable {
    case integer
    case number
    /// Digits that begin with a zero: a code, no number.
    case leadingZero
    case boolean
    /// A date or a moment as fields of the type time have it.
    case time
    /// A moment that does not say in which zone.
    case timeWithoutZone
    /// A date in another order, such as 03/04/2021.
    case otherDate
    /// A length with units, or of three parts.
    case duration
    /// 2:30, a length or a time of day.
    case clock
    case url
    case picture

    /// All forms that a text has.
    static func of(_ text: String, allowsDecimalComma: Bool) -> Set<ValueTrait> {
        var traits: Set<ValueTrait> = []
        let number = allowsDecimalComma ? text.replacing(",", with: ".") : text
        if Double(number)?.isFinite == true, text.allSatisfy({ "0123456789+-.,eE".contains($0) }) {
            traits.insert(.number)
            if Int64(text) != nil { traits.insert(.integer) }
            if text.wholeMatch(of: #/0\d+/#) != nil { traits.insert(.leadingZero) }
        }
        if ["true", "false", "yes", "no"].contains(text.lowercased()) { traits.insert(.boolean) }
        traits.formUnion(moments(text))
        if text.wholeMatch(of: #/https?://\S+/#) != nil {
            traits.insert(.url)
            if text.wholeMatch(of: #/\S+\.(?i:jpe?g|png|gif|webp|avif|svg)(\?\S*)?/#) != nil {
                traits.insert(.picture)
            }
        }
        return traits
    }

    private static func moments(_ text: String) -> Set<ValueTrait> {
        guard text.utf8.count <= 40, text.contains(where: \.isNumber) else { return [] }
        if let date = text.wholeMatch(
            of: #/\d{4}-(\d\d)-(\d\d)([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(\S*))?/#),
            (1...12).contains(Int(date.1) ?? 0), (1...31).contains(Int(date.2) ?? 0)
        {
            let isWhole = date.3.map { $0.hasPrefix("T") && date.4 != nil } ?? true
            let hasZone = date.6.map { $0.wholeMatch(of: #/Z|[+-]\d\d:\d\d/#) != nil } ?? true
            return isWhole && hasZone ? [.time] : [.timeWithoutZone]
        }
        if FieldValues.date(text) != nil { return [.time] }
        if text.wholeMatch(of: #/\d{1,4}([./-])\d{1,2}\1\d{1,4}( .*)?/#) != nil {
            return [.otherDate]
        }
        if text.wholeMatch(of: #/\d+:\d\d/#) != nil { return [.clock] }
        if text.contains(where: { "hms:".contains($0) }), FieldValues.duration(text) != nil {
            return [.duration]
        }
        return []
    }
}
