/// Whether what a worker says waits to be read, for one reason or for several, and since when.
struct Holds {
    private var count = 0
    /// Since when it waits, as far as that time was not taken yet.
    private var since: ContinuousClock.Instant?

    /// Whether it waits.
    var isHeld: Bool { count > 0 }

    /// A reason to wait begins, or one is over.
    ///
    /// - Returns: whether it waits now and did not before, or the other way.
    mutating func set(_ isHeld: Bool, at now: ContinuousClock.Instant) -> Bool {
        let wasHeld = self.isHeld
        count += isHeld ? 1 : -1
        guard wasHeld != self.isHeld else { return false }
        since = self.isHeld ? now : nil
        return true
    }

    /// The begin of the time during which it waited, once; nil: it did not.
    mutating func takeBegin(until now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard let begin = since else { return nil }
        since = now
        return begin
    }
}
