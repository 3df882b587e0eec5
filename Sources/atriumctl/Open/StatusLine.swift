/// The line above the keys: why the connection is lost, or a notice that is shown for a while.
struct StatusLine {
    private struct Notice {
        var text: String
        var isError: Bool
        /// Seconds since 1970.
        var end: Double
    }

    /// How long a notice is shown, in seconds.
    private static let duration = 6.0

    private var notice: Notice?
    /// Why the connection is lost; nil: it is not.
    private var lost: String?
    /// Seconds since 1970.
    private var now = 0.0

    /// The time at which the notice goes; nil: there is none.
    var end: Double? { notice?.end }

    /// Whether what is shown is old, because the connection is lost.
    var isLost: Bool { lost != nil }

    var row: ViewRow {
        if let lost { return ViewRow([Span("reconnecting… (\(lost))", .warning)]) }
        guard let notice else { return ViewRow() }
        return ViewRow([Span(notice.text, notice.isError ? Look(color: .red) : .plain)])
    }

    /// Shows a notice in place of the last one.
    mutating func say(_ text: String, isError: Bool = false) {
        notice = Notice(text: text, isError: isError, end: now + Self.duration)
    }

    /// Adds to the notice that is shown, if there is one.
    mutating func add(_ text: String) { notice?.text += text }

    mutating func lose(_ reason: String) { lost = reason }

    /// Ends the loss of the connection; returns whether it was lost.
    mutating func reconnect() -> Bool {
        defer { lost = nil }
        return lost != nil
    }

    /// Drops the notice once its time is over.
    mutating func pass(to time: Double) {
        now = time
        if let notice, notice.end <= time { self.notice = nil }
    }
}
