/// The messages of a screen's delegates to its user, until a revision is sent with them.
///
/// Sending is deferred while a delegate, the screen's own or that of a part, decides on choices.
struct PendingMessages {
    /// The length at which messages are cut, in Unicode scalars; few of them take more than four bytes.
    private static let length = 500

    private var message: String?
    private var navigation: NavigationTarget?
    /// How many delegates are deciding.
    private var deferrals = 0
    /// Increased when all deferrals end: an earlier one then has nothing to end.
    private var series = 0

    /// Whether there is something to send now.
    var isDue: Bool { deferrals == 0 && (message != nil || navigation != nil) }

    /// Sets the message, in place of an earlier one.
    mutating func set(message text: String) {
        message = String(String.UnicodeScalarView(text.unicodeScalars.prefix(Self.length)))
    }

    /// Sets the container that the client opens, in place of an earlier one.
    mutating func set(navigation: NavigationTarget) { self.navigation = navigation }

    /// Defers everything until ``end(_:)`` or ``endDeferrals()``.
    mutating func startDeferral() -> MessageDeferral {
        deferrals += 1
        return MessageDeferral(series: series)
    }

    /// Ends one deferral, unless all were ended since.
    mutating func end(_ deferral: MessageDeferral) {
        if deferral.series == series { deferrals -= 1 }
    }

    mutating func endDeferrals() {
        deferrals = 0
        series += 1
    }

    /// Removes and returns what is to be sent now; nothing while it is deferred.
    mutating func take() -> (message: String?, navigation: NavigationTarget?) {
        guard deferrals == 0 else { return (nil, nil) }
        defer { (message, navigation) = (nil, nil) }
        return (message, navigation)
    }
}

/// A reason not to send the messages of delegates to a screen's user yet; whoever gets it ends it.
struct MessageDeferral {
    /// The series of deferrals that it belongs to; they may all be ended at once.
    let series: Int
}
