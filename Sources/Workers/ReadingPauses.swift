/// Whether reading from a worker is paused, for one reason or for several, and since when.
struct ReadingPauses {
    private var count = 0
    /// The start of the pause, or of the part of it that was not taken yet.
    private var since: ContinuousClock.Instant?

    var isPaused: Bool { count > 0 }

    /// Adds or removes a reason to pause; returns whether reading has just been paused or resumed.
    mutating func set(_ isPaused: Bool, at now: ContinuousClock.Instant) -> Bool {
        let wasPaused = self.isPaused
        count += isPaused ? 1 : -1
        guard wasPaused != self.isPaused else { return false }
        since = self.isPaused ? now : nil
        return true
    }

    /// Returns the start of the part of the pause that was not taken yet; nil: reading is not paused.
    mutating func takeBegin(until now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard let begin = since else { return nil }
        since = now
        return begin
    }
}
