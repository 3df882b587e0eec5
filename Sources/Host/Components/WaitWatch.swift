import DequeModule

/// Notices that a component is at one call for long, and which calls have waited for too long.
///
/// It looks a few times within the time that a call has, and reads no clock: what came before a look is
/// known by its number.
struct WaitWatch {
    /// How often it looks within the time that a call has.
    static let looks = 5

    /// Whether another look is scheduled.
    private(set) var isOn = false
    /// Whether the component is at the same call as at the look before.
    private(set) var isSlow = false
    /// The call that the component was at.
    private var first: UInt64?
    /// The last number that was given before each of the last looks.
    private var marks: Deque<UInt64> = []

    /// A call was sent.
    ///
    /// - Parameter first: the number of the one that the component is at.
    /// - Returns: whether to look after a while.
    mutating func begin(at first: UInt64?) -> Bool {
        guard !isOn else { return false }
        isOn = true
        self.first = first
        return true
    }

    /// Compares what the component is at with the look before.
    ///
    /// - Parameters:
    ///   - first: the number of the call that the component is at; nil: it is at none.
    ///   - newest: the last number that was given.
    /// - Returns: calls up to this number have waited for as long as they may; nil: none has.
    mutating func look(at first: UInt64?, newest: UInt64) -> UInt64? {
        isSlow = first != nil && first == self.first
        self.first = first
        marks.append(newest)
        guard marks.count >= Self.looks else { return nil }
        return marks.popFirst()
    }

    /// The component has answered, or is gone.
    mutating func endSlow() { isSlow = false }

    /// Nothing waits.
    mutating func end() {
        isOn = false
        isSlow = false
        first = nil
        marks.removeAll()
    }
}
