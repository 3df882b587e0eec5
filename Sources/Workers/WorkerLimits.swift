/// The limits of a worker.
public struct WorkerLimits: Sendable, Hashable {
    /// The time that one call may take before the worker is killed.
    ///
    /// Default: nil, which is the host's limit. The time of earlier calls does not count.
    public var call: Duration?

    /// The time that one call may take that makes or restores the component.
    ///
    /// Default: 30 seconds.
    public var start: Duration = .seconds(30)

    /// The time from which on a call is logged as slow.
    ///
    /// Default: 1 second.
    public var slow: Duration = .seconds(1)

    /// The time that a worker may take to end before it is killed.
    ///
    /// Default: 2 seconds.
    public var end: Duration = .seconds(2)

    /// The bytes of memory that a worker's processes may use together, if its cgroup can enforce that.
    ///
    /// Otherwise it limits the bytes that each process may allocate. Default: nil, which is no limit.
    public var memory: Int?

    /// The number of processes and threads that a worker may have, if its cgroup can enforce that.
    ///
    /// Default: 1,000; nil is no limit.
    public var tasks: Int? = 1_000

    /// The processor time that a worker may use, in hundredths of one processor, if its cgroup can enforce that.
    ///
    /// Default: 100; nil is no limit.
    public var processor: Int? = 100

    /// The defaults.
    public init() {}
}
