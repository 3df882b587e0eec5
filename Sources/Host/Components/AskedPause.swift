import AtriumKit

/// How long is waited until a question without an answer is asked again.
enum AskedPause {
    /// The longest.
    static let most = Duration.seconds(300)

    /// The pause after a failure: each is about twice as long as the one before.
    ///
    /// Up to half of it is taken off, a part that is another one for each question, each failure and each daemon: what
    /// failed at one time is not asked again at one time. In a daemon the same gives the same.
    ///
    /// - Parameters:
    ///   - failures: How often in a row it had no answer, this time included.
    ///   - question: What is asked.
    ///   - first: The longest pause after the first.
    /// - Returns: How long is waited.
    static func after(
        _ failures: Int, at question: ContentQuestion, first: Duration
    ) -> Duration {
        var hasher = Hasher()
        hasher.combine(question)
        hasher.combine(failures)
        let part = Double(UInt(bitPattern: hasher.finalize()) & 0xFFFF) / 0x1_0000
        return min(first * (1 << min(max(failures, 1) - 1, 6)), most) * (1 - part / 2)
    }
}
