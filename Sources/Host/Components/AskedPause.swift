import AtriumKit

/// The pause before a question that got no answer is asked again.
enum AskedPause {
    /// The maximum pause.
    static let most = Duration.seconds(300)

    /// The pause after some failures in a row, at most `first` after the first one, and about twice as long after
    /// each further one.
    ///
    /// Up to half of it is subtracted, by an amount that differs between questions, failures and daemons: questions
    /// that failed together are not all asked again together. Within one daemon the result is always the same.
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
