/// Numbers and amounts as people read them.
enum Wording {
    /// An integer in groups of three: `12,345`.
    static func count(_ number: Int) -> String {
        var digits = Array(String(number.magnitude))
        var index = digits.count - 3
        while index > 0 {
            digits.insert(",", at: index)
            index -= 3
        }
        return (number < 0 ? "-" : "") + String(digits)
    }

    /// How many of something: `1 item`, `5 items`.
    static func count(_ number: Int, _ noun: String) -> String {
        "\(count(number)) \(noun)\(number == 1 ? "" : "s")"
    }

    /// How many of something: `1 reply`, `5 replies`.
    static func count(_ number: Int, _ one: String, _ several: String) -> String {
        "\(count(number)) \(number == 1 ? one : several)"
    }

    /// How many items of a list were printed: `3 of 125`; `100 items` where there are more and nobody knows how many.
    ///
    /// A source that does not know its total says the items of each page.
    static func shown(_ items: Int, of total: Int, hasMore: Bool) -> String {
        guard total < items || hasMore && total == items else {
            return "\(count(items)) of \(count(total))"
        }
        return hasMore ? count(items, "item") : "\(count(items)) of \(count(items))"
    }

    /// A name as an error quotes it, as much as anybody reads: ids have 200 bytes at most.
    static func cut(_ name: String) -> String {
        name.utf8.count > 200 ? "\(name.prefix(60))…" : name
    }

    /// A number without needless zeros: `4`, `4.5`.
    static func number(_ number: Double) -> String {
        Int(exactly: number).map { String($0) } ?? "\(number)"
    }

    /// A number with so many decimals at most: `4.33`.
    static func rounded(_ number: Double, decimals: Int) -> String {
        var factor = 1.0
        for _ in 0..<decimals { factor *= 10 }
        let rounded = (number * factor).rounded() / factor
        return rounded.isFinite && number.isFinite ? self.number(rounded) : self.number(number)
    }

    /// Bytes in binary units: `1.5 MiB`.
    static func bytes(_ count: Int) -> String {
        let units = ["B", "KiB", "MiB", "GiB", "TiB"]
        var (amount, unit) = (Double(count), 0)
        while amount >= 1024, unit < units.count - 1 {
            amount /= 1024
            unit += 1
        }
        return "\(rounded(amount, decimals: amount < 10 ? 1 : 0)) \(units[unit])"
    }

    /// A length of time: `1h57m`, `2m05s`, `45s`.
    static func duration(_ seconds: Double) -> String {
        guard seconds.isFinite, abs(seconds) < 1e15 else { return number(seconds) }
        let whole = Int(seconds.rounded())
        let (days, hours, minutes) = (whole / 86400, whole / 3600 % 24, whole / 60 % 60)
        if days > 0 { return "\(days)d\(twoDigits(hours))h" }
        if hours > 0 { return "\(hours)h\(twoDigits(minutes))m" }
        if minutes > 0 { return "\(minutes)m\(twoDigits(whole % 60))s" }
        return "\(rounded(seconds, decimals: 1))s"
    }

    /// When to try again: `try again`, where that need not wait, or `try again in 5s`.
    static func retry(after seconds: Double) -> String {
        seconds >= 0.05 ? "try again in \(duration(seconds))" : "try again"
    }

    /// How long ago something was: `just now`, `3 min ago`, `2 days ago`.
    static func age(_ seconds: Double) -> String {
        let whole = Int(max(0, seconds))
        return switch whole {
        case 0..<10: "just now"
        case 10..<60: "\(whole) s ago"
        case 60..<3600: "\(whole / 60) min ago"
        case 3600..<86400: "\(whole / 3600) h ago"
        case 86400..<(86400 * 60): count(whole / 86400, "day") + " ago"
        case (86400 * 60)..<(86400 * 730): count(whole / (86400 * 30), "month") + " ago"
        default: count(whole / (86400 * 365), "year") + " ago"
        }
    }

    private static func twoDigits(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
