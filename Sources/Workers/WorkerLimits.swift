/// What a worker may take.
public struct WorkerLimits: Sendable, Hashable {
    /// How long one call may take before the worker is killed.
    ///
    /// Default: 30 seconds. The time that calls before it took does not count.
    public var call: Duration = .seconds(30)

    /// How long a worker that was asked to end may take before it is killed.
    ///
    /// Default: 2 seconds.
    public var end: Duration = .seconds(2)

    /// The defaults.
    public init() {}
}
