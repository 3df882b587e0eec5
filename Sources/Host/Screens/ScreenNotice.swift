import AtriumKit

/// The messages of a screen's delegates to its user, until a revision is sent with them.
///
/// It is held back while a delegate, the screen's own or that of a part, decides on choices.
struct ScreenNotice {
    /// The length at which messages are cut, in Unicode scalars; few of them take more than four bytes.
    private static let length = 500

    private var message: String?
    private var lead: ScreenLead?
    /// How many delegates are deciding.
    private var holds = 0
    /// Increased when all holds end: an earlier one then has nothing to release.
    private var series = 0

    /// Whether there is something to send now.
    var isDue: Bool { holds == 0 && (message != nil || lead != nil) }

    /// Sets the message, in place of an earlier one.
    mutating func set(message text: String) {
        message = String(String.UnicodeScalarView(text.unicodeScalars.prefix(Self.length)))
    }

    /// Sets the lead, in place of an earlier one.
    mutating func set(lead: ScreenLead) { self.lead = lead }

    /// Holds everything back until ``release(_:)`` or ``endHolds()``.
    mutating func hold() -> NoticeHold {
        holds += 1
        return NoticeHold(series: series)
    }

    /// Ends one hold, unless all were ended since.
    mutating func release(_ hold: NoticeHold) { if hold.series == series { holds -= 1 } }

    /// Ends all holds.
    mutating func endHolds() {
        holds = 0
        series += 1
    }

    /// Removes and returns what is to be sent now; nothing while it is held back.
    mutating func take() -> (message: String?, lead: ScreenLead?) {
        guard holds == 0 else { return (nil, nil) }
        defer { (message, lead) = (nil, nil) }
        return (message, lead)
    }
}
