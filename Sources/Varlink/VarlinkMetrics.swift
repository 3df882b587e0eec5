public import CoreMetrics
public import LogMessages

/// What a server records of its calls through swift-metrics: `<prefix>_calls_total`, a counter by
/// `method` and `outcome`, and `<prefix>_call_seconds`, a timer by `method`.
///
/// The outcome is `ok`, the error's name, or `dropped` where the connection ended before the reply.
/// Calls of methods that there are not stand under the method `unknown`, so that peers can't
/// make up labels. A call with `more` counts with its first reply. Calls that came at once are answered
/// at once: each took as long as all of them together.
public struct VarlinkMetrics: Sendable {
    /// What the names begin with; `varlink` by default.
    public var prefix: String

    /// What keeps the numbers; by default what the process set up before.
    public var factory: any MetricsFactory

    /// Where the event loop's present turn is noted; nil, the default, for nowhere.
    public var turns: TurnNotes?

    /// Creates the metrics' configuration.
    ///
    /// - Parameters:
    ///   - prefix: The prefix of the names.
    ///   - factory: The backend that keeps the numbers.
    ///   - turns: The notes of the event loop's present turn; nil: none.
    public init(
        prefix: String = "varlink", factory: any MetricsFactory = MetricsSystem.factory,
        turns: TurnNotes? = nil
    ) {
        self.prefix = prefix
        self.factory = factory
        self.turns = turns
    }
}
