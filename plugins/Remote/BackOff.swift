/// How long a service that fails is left alone: twice as long each time, and never as long as others leave it.
struct BackOff: Sendable {
    /// The longest time between two attempts, in seconds.
    static let most = 300.0
    /// The longest time that a service may want to be left alone.
    static let mostWanted = 3_600.0
    private static let first = 1.0

    /// How often in a row it failed.
    private(set) var failures = 0

    /// The service answered.
    mutating func succeed() { failures = 0 }

    /// The service failed: returns how many seconds to leave it alone, at most an hour if it says so itself; by
    /// chance from 0 to 1, so that who asks with others does not ask at the same time.
    mutating func fail(wanted: Double? = nil, chance: Double) -> Double {
        let longest = min(Self.first * Double(1 << min(failures, 20)), Self.most)
        failures += 1
        return max(longest * (0.5 + chance / 2), min(wanted ?? 0, Self.mostWanted))
    }
}
