import Glibc

/// The times on the wire: RFC 3339 in UTC.
enum WireTime {
    /// How long ago a time was, in words; the text itself where it can't be read.
    static func age(of text: String, now: Double = WireTime.now) -> String {
        seconds(text).map { Wording.age(now - $0) } ?? text
    }

    /// When ages of times are to be shown anew: in a minute, or in an hour or a day where none of them is younger.
    static func nextAge(of texts: [String], now: Double) -> Double? {
        guard let youngest = texts.compactMap({ seconds($0) }).max() else { return nil }
        let age = max(0, now - youngest)
        return now + (age < 3600 ? 60 : age < 86400 ? 3600 : 86400)
    }

    /// Seconds since 1970 of a text such as `2026-01-31T12:00:00.123Z`; nil for anything else.
    static func seconds(_ text: String) -> Double? {
        guard text.hasSuffix("Z") else { return nil }
        let parts = text.dropLast().split { "-T:".contains($0) }
        guard parts.count == 6, let seconds = Double(parts[5]) else { return nil }
        let numbers = parts.prefix(5).compactMap { Int32($0) }
        guard numbers.count == 5 else { return nil }
        var time = tm()
        time.tm_year = numbers[0] - 1900
        time.tm_mon = numbers[1] - 1
        time.tm_mday = numbers[2]
        time.tm_hour = numbers[3]
        time.tm_min = numbers[4]
        return Double(timegm(&time)) + seconds
    }

    /// Seconds since 1970.
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
