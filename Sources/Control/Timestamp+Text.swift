import AtriumKit

extension Timestamp {
    /// RFC 3339, UTC, milliseconds: `2026-01-31T20:15:00.000Z`.
    ///
    /// Days are counted as Howard Hinnant's `civil_from_days` does (chrono-compatible low-level
    /// date algorithms): eras of 400 years from March 1st.
    var text: String {
        let (days, inDay) = floorDivide(milliseconds, 86_400_000)
        let (era, dayOfEra) = floorDivide(days + 719_468, 146_097)
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        let civilMonth = month < 10 ? month + 3 : month - 9
        let year = yearOfEra + era * 400 + (civilMonth <= 2 ? 1 : 0)
        let seconds = inDay / 1_000
        return padded(year, 4) + "-" + padded(civilMonth, 2) + "-" + padded(day, 2) + "T"
            + padded(seconds / 3_600, 2) + ":" + padded(seconds / 60 % 60, 2) + ":"
            + padded(seconds % 60, 2) + "." + padded(inDay % 1_000, 3) + "Z"
    }

    private func floorDivide(_ value: Int64, _ divisor: Int64) -> (Int64, Int64) {
        let remainder = value % divisor
        return remainder < 0
            ? (value / divisor - 1, remainder + divisor) : (value / divisor, remainder)
    }

    private func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
