public import CoreMetrics
public import LogMessages

/// The metrics of a server's calls, recorded through swift-metrics.
///
/// They are `<prefix>_calls_total`, a counter by `method` and `outcome`, and `<prefix>_call_seconds`, a timer by
/// `method`.
///
/// The outcome is `ok`, the error's name, or `dropped` if the connection ended before the reply. Calls of unknown
/// methods are counted under the method `unknown`, so that peers can't make up labels. A call with `more` counts with
/// its first reply. Calls that arrived together are answered together: each took as long as all of them.
public struct VarlinkMetrics: Sendable {
    /// The prefix of the names; `varlink` by default.
    public var prefix: String

    /// The factory of the meters; by default the one that the process has set up.
    public var factory: any MetricsFactory

    /// The notes about the event loop's present turn, which calls are added to; nil, the default: none.
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
