/// Whether reading from a worker is paused, for one reason or for several, and since when.
struct Holds {
    private var count = 0
    /// The start of the pause, or of the part of it that was not taken yet.
    private var since: ContinuousClock.Instant?

    /// Whether reading is paused.
    var isHeld: Bool { count > 0 }

    /// Adds or removes a reason to pause.
    ///
    /// - Returns: whether reading has just been paused or resumed.
    mutating func set(_ isHeld: Bool, at now: ContinuousClock.Instant) -> Bool {
        let wasHeld = self.isHeld
        count += isHeld ? 1 : -1
        guard wasHeld != self.isHeld else { return false }
        since = self.isHeld ? now : nil
        return true
    }

    /// Returns the start of the part of the pause that was not taken yet; nil: reading is not paused.
    mutating func takeBegin(until now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard let begin = since else { return nil }
        since = now
        return begin
    }
}
