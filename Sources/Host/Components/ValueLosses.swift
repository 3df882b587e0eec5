import AtriumKit

/// The workers of a filters component, in a row, that ended while they took the values of the observed fields.
///
/// The values are not the call of anybody, so no call is blamed for such an end. Values at which two workers ended are
/// not sent again. Other values are sent after a pause, which doubles with each further end. Until some were taken, the
/// component offers what it offers without values, and its container is degraded.
struct ValueLosses {
    /// The number of ends after which the values are not sent again.
    private static let most = 2

    /// The number of ends in a row, without values that were taken in between.
    private(set) var count = 0
    /// The version of the values at the last end.
    private var version: UInt64?
    private var fields: [String] = []
    private var reason = ""
    /// When other values may be sent.
    private var next: Timestamp?

    /// Records that the worker ended while it took this version of the values of these fields.
    ///
    /// - Parameters:
    ///   - version: the version that was sent last.
    ///   - fields: the observed fields.
    ///   - reason: how it ended, as a sentence.
    ///   - now: the present time.
    ///   - longest: the longest pause before other values are sent.
    /// - Returns: the pause; nil: any values may be sent at once.
    mutating func add(
        _ version: UInt64?, of fields: [String], because reason: String, at now: Timestamp,
        longest: Duration
    ) -> Duration? {
        count += 1
        (self.version, self.fields, self.reason) = (version, fields, reason)
        guard count >= Self.most else { return nil }
        let pause = min(.milliseconds(100 << min(count - Self.most, 20)), longest)
        next = now.after(pause)
        return pause
    }

    /// Whether this version may be sent.
    func mayReport(_ version: UInt64, at now: @autoclosure () -> Timestamp) -> Bool {
        guard count >= Self.most else { return true }
        return version != self.version && next.map { $0 <= now() } ?? true
    }

    /// The problem, as the continuation of "It"; nil: there is none.
    func problem(hasDetails: Bool) -> String? {
        guard count >= Self.most else { return nil }
        let names = fields.map { "'\($0)'" }.joined(separator: ", ")
        let sentence =
            "ended \(count) times in a row when it was sent the values of \(names), and is sent "
            + "values again once they change"
        return hasDetails ? "\(sentence): \(reason)" : sentence
    }
}
