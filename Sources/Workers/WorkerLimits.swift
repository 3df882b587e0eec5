/// The limits of a worker.
public struct WorkerLimits: Sendable, Hashable {
    /// How long one call may take before the worker is killed.
    ///
    /// Default: nil, which is the host's limit. The time of earlier calls does not count.
    public var call: Duration?

    /// How long one call that makes or restores the component may take.
    ///
    /// Default: 30 seconds.
    public var start: Duration = .seconds(30)

    /// How long a call must take to be logged as slow.
    ///
    /// Default: 1 second.
    public var slow: Duration = .seconds(1)

    /// How long a worker that was asked to end may take before it is killed.
    ///
    /// Default: 2 seconds.
    public var end: Duration = .seconds(2)

    /// How many bytes of memory a worker's processes may use together, if its cgroup can enforce that.
    ///
    /// Otherwise it limits how many bytes each process may allocate. Default: nil, which is no limit.
    public var memory: Int?

    /// How many processes and threads a worker may have, if its cgroup can enforce that.
    ///
    /// Default: 1,000; nil is no limit.
    public var tasks: Int? = 1_000

    /// How much processor time a worker may use, in hundredths of one processor, if its cgroup can enforce that.
    ///
    /// Default: 100; nil is no limit.
    public var processor: Int? = 100

    /// The defaults.
    public init() {}
}
