/// What a worker may take.
public struct WorkerLimits: Sendable, Hashable {
    /// How long one call may take before the worker is killed.
    ///
    /// Default: nil, as long as the host's limits say. The time that calls before it took does not count.
    public var call: Duration?

    /// How long one call may take with which the component is made and given its records.
    ///
    /// Default: 30 seconds.
    public var start: Duration = .seconds(30)

    /// From when on a call is slow, and logged.
    ///
    /// Default: 1 second.
    public var slow: Duration = .seconds(1)

    /// How long a worker that was asked to end may take before it is killed.
    ///
    /// Default: 2 seconds.
    public var end: Duration = .seconds(2)

    /// How many bytes a worker's processes may have in memory, where its cgroup can hold them to it; else
    /// how many each may ask for.
    ///
    /// Default: nil, as many as there are.
    public var memory: Int?

    /// How many processes and threads a worker may be, where its cgroup can hold it to that.
    ///
    /// Default: 1,000; nil is as many as the machine takes.
    public var tasks: Int? = 1_000

    /// How much of one processor a worker may take, in hundredths, where its cgroup can hold it to that.
    ///
    /// Default: 100; nil is as much as there is.
    public var processor: Int? = 100

    /// The defaults.
    public init() {}
}
