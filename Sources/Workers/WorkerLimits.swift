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

    /// How many bytes a worker's processes may have in memory, where its cgroup can hold them to it.
    ///
    /// Default: nil, as many as there are.
    public var memory: Int?

    /// How many processes and threads a worker may be, where its cgroup can hold it to that.
    ///
    /// Default: 1,000; nil is as many as the machine takes.
    public var tasks: Int? = 1_000

    /// The defaults.
    public init() {}
}
