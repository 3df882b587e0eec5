import AtriumKit

/// Reads and writes the texts of `time` fields, as seconds since 1970-01-01T00:00:00Z.
package enum TimeText {
    /// Returns the seconds since 1970 of an RFC 3339 text, to the millisecond, or of a date, which stands for its first
    /// moment in UTC; nil for any other text.
    package static func seconds(_ text: String) -> Double? {
        Timestamp(text).map { Double($0.milliseconds) / 1_000 }
    }

    /// The canonical text of a moment: a date for a midnight, else RFC 3339, UTC, with
    /// milliseconds where there are any.
    static func text(seconds: Double) -> String {
        Timestamp(milliseconds: Int64((seconds * 1_000).rounded())).shortText
    }
}
