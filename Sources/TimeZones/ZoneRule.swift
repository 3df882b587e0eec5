/// The rule by which clocks are changed each year: a POSIX `TZ` text such as `CET-1CEST,M3.5.0,M10.5.0/3`, with
/// the hours beyond a day that RFC 9636 allows.
struct ZoneRule: Sendable, Hashable {
    /// A day of each year.
    enum Day: Sendable, Hashable {
        /// The 1st to the 365th, never February 29: `J60`.
        case withoutLeapDay(Int64)
        /// From 0, February 29 counted: `59`.
        case withLeapDay(Int64)
        /// A weekday, Sunday is 0, in a month: the first to the fourth, or 5 for the last: `M3.5.0`.
        case weekday(month: Int64, week: Int64, weekday: Int64)
    }

    /// When clocks are changed.
    struct Switch: Sendable, Hashable {
        var day: Day
        /// Seconds after that day's midnight, as clocks show them until then.
        var time: Int64
    }

    /// When clocks are ahead of standard time.
    struct Summer: Sendable, Hashable {
        var offset: Int64
        var start: Switch
        var end: Switch
    }

    /// By how many seconds clocks are ahead of UTC when it is not summer.
    var standard: Int64
    /// Nil: clocks are not changed.
    var summer: Summer?

    /// By how many seconds clocks are ahead of UTC at a moment.
    func offset(at moment: Int64) -> Int64 {
        guard let summer else { return standard }
        let year = CivilDate(days: (moment + standard).dividedDown(by: 86_400)).year
        var (latest, offset) = (Int64.min, standard)
        // A switch may lie a week outside its year.
        for year in year - 1...year + 1 {
            let end = summer.end.seconds(in: year) - summer.offset
            if end <= moment, end > latest { (latest, offset) = (end, standard) }
            // Where summer begins as it ends, it goes on.
            let start = summer.start.seconds(in: year) - standard
            if start <= moment, start >= latest { (latest, offset) = (start, summer.offset) }
        }
        return offset
    }
}

extension ZoneRule.Switch {
    /// What clocks show then, in a year: seconds from 1970-01-01T00:00:00.
    fileprivate func seconds(in year: Int64) -> Int64 { day.days(in: year) * 86_400 + time }
}

extension ZoneRule.Day {
    /// The day in a year: how many after 1970-01-01.
    fileprivate func days(in year: Int64) -> Int64 {
        let newYear = CivilDate(year: year, month: 1, day: 1).days
        switch self {
        case .withoutLeapDay(let day):
            return newYear + day - (day < 60 || !CivilDate.isLeap(year) ? 1 : 0)
        case .withLeapDay(let day): return newYear + day
        case .weekday(let month, let week, let weekday):
            let first = CivilDate(year: year, month: month, day: 1).days
            let next =
                month == 12
                ? CivilDate(year: year + 1, month: 1, day: 1).days
                : CivilDate(year: year, month: month + 1, day: 1).days
            // 1970-01-01 was a Thursday.
            let firstWeekday = (first + 4) - (first + 4).dividedDown(by: 7) * 7
            let day = first + (weekday - firstWeekday + 7) % 7 + (week - 1) * 7
            return day < next ? day : day - 7
        }
    }
}

// MARK: Reading

extension ZoneRule {
    /// The rule that a text gives; nil for any other text.
    init?(_ text: some Collection<UInt8>) {
        var reader = RuleReader(bytes: Array(text))
        guard reader.name(), let standard = reader.offset() else { return nil }
        self.standard = -standard
        if reader.isAtEnd { return }
        guard reader.name() else { return nil }
        var offset = self.standard + 3_600
        if !reader.isNext(",") {
            guard let written = reader.offset() else { return nil }
            offset = -written
        }
        guard reader.consume(","), let start = reader.change(), reader.consume(","),
            let end = reader.change(), reader.isAtEnd
        else { return nil }
        summer = Summer(offset: offset, start: start, end: end)
    }
}

/// Reads the parts of a POSIX `TZ` text.
private struct RuleReader {
    let bytes: [UInt8]
    var position = 0

    var isAtEnd: Bool { position == bytes.count }

    func isNext(_ character: Unicode.Scalar) -> Bool {
        position < bytes.count && UInt32(bytes[position]) == character.value
    }

    mutating func consume(_ character: Unicode.Scalar) -> Bool {
        guard isNext(character) else { return false }
        position += 1
        return true
    }

    /// Passes over a name: letters, or anything a name may have between `<` and `>`.
    mutating func name() -> Bool {
        let isQuoted = consume("<")
        let start = position
        while position < bytes.count, isName(bytes[position], isQuoted) { position += 1 }
        guard position - start >= 3 else { return false }
        return !isQuoted || consume(">")
    }

    private func isName(_ byte: UInt8, _ isQuoted: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"): isQuoted
        default: false
        }
    }

    mutating func number(in range: ClosedRange<Int64>) -> Int64? {
        var value: Int64 = 0
        let start = position
        while position < bytes.count, (0x30...0x39).contains(bytes[position]) {
            // No number of a rule has more.
            guard position - start < 3 else { return nil }
            value = value * 10 + Int64(bytes[position] - 0x30)
            position += 1
        }
        return position > start && range.contains(value) ? value : nil
    }

    /// `+hh:mm:ss` in seconds; sign, minutes and seconds may be left out.
    private mutating func time(hours: ClosedRange<Int64>) -> Int64? {
        let isNegative = consume("-")
        if !isNegative { _ = consume("+") }
        guard let hour = number(in: hours) else { return nil }
        var seconds = hour * 3_600
        if consume(":") {
            guard let minute = number(in: 0...59) else { return nil }
            seconds += minute * 60
            if consume(":") {
                guard let second = number(in: 0...59) else { return nil }
                seconds += second
            }
        }
        return isNegative ? -seconds : seconds
    }

    /// Seconds by which the clock is behind UTC.
    mutating func offset() -> Int64? { time(hours: 0...24) }

    mutating func change() -> ZoneRule.Switch? {
        guard let day = day() else { return nil }
        guard consume("/") else { return ZoneRule.Switch(day: day, time: 2 * 3_600) }
        return time(hours: 0...167).map { ZoneRule.Switch(day: day, time: $0) }
    }

    private mutating func day() -> ZoneRule.Day? {
        if consume("J") { return number(in: 1...365).map(ZoneRule.Day.withoutLeapDay) }
        guard consume("M") else { return number(in: 0...365).map(ZoneRule.Day.withLeapDay) }
        guard let month = number(in: 1...12), consume("."), let week = number(in: 1...5),
            consume("."),
            let weekday = number(in: 0...6)
        else { return nil }
        return .weekday(month: month, week: week, weekday: weekday)
    }
}
