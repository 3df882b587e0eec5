import DequeModule

/// Detects that a component handles one call for long, and which calls have waited for too long.
///
/// It checks several times within the time limit of a call, and reads no clock: calls that came before a check are
/// recognised by their numbers.
struct WaitWatch {
    /// The number of checks within the time limit of a call.
    static let checks = 5

    /// Whether another check is scheduled.
    private(set) var isOn = false
    /// Whether the component is handling the same call as at the last check.
    private(set) var isSlow = false
    /// The call that the component was handling then.
    private var first: UInt64?
    /// The newest number at each of the last checks.
    private var marks: Deque<UInt64> = []

    /// Records that a call was sent, while the component handles the call `first`; returns whether to schedule a
    /// check.
    mutating func begin(at first: UInt64?) -> Bool {
        guard !isOn else { return false }
        isOn = true
        self.first = first
        return true
    }

    /// Compares the call that the component is handling with that of the last check; returns the number up to which
    /// calls have waited for the whole time limit, nil if none has.
    mutating func check(at first: UInt64?, newest: UInt64) -> UInt64? {
        isSlow = first != nil && first == self.first
        self.first = first
        marks.append(newest)
        guard marks.count >= Self.checks else { return nil }
        return marks.popFirst()
    }

    /// Records that the component has answered, or is gone.
    mutating func endSlow() { isSlow = false }

    /// Ends the checks, because nothing waits.
    mutating func end() {
        isOn = false
        isSlow = false
        first = nil
        marks.removeAll()
    }
}
