/// The resources that a connection uses, and its progress.
struct ConnectionUsage {
    /// The bytes of a connection up to which its user is not charged, for calls and in total.
    static var unnoticed: Int { 16 << 10 }

    /// Calls that were started.
    private(set) var calls = 0

    /// The number of bytes written to the channel since it was last asked how many wait.
    private(set) var unmeasured = 0

    /// The bytes that the server had sent in all when it last sent some here; orders connections by their last use.
    private(set) var lastUse = 0

    /// The number of bytes that its user is charged with for it.
    private(set) var charged = 0

    /// The value of ``calls`` at the last sweep, and the number of sweeps since it changed.
    private var callsSwept = 0
    private var idleSweeps = 0

    mutating func startCall() { calls += 1 }

    /// Sets the number of calls started by the previous process.
    mutating func restore(calls: Int) {
        self.calls = calls
        callsSwept = calls
    }

    /// Records that bytes were written to the channel; `total` is the number that the server has sent in all.
    mutating func send(_ bytes: Int, ofAll total: Int) {
        unmeasured += bytes
        lastUse = total
    }

    /// Records that the channel was asked how many bytes wait.
    mutating func measure() { unmeasured = 0 }

    /// Sets the bytes that its user is charged with for it; returns the increase.
    mutating func charge(_ bytes: Int) -> Int {
        defer { charged = bytes }
        return bytes - charged
    }

    /// Records a sweep at which nothing was to be expected of the peer.
    mutating func beBusy() { idleSweeps = 0 }

    /// Records a sweep; returns for how many sweeps the peer has not made or ended a call that it is waited for.
    mutating func sweep(isWaitedFor: Bool) -> Int {
        let isIdle = isWaitedFor && calls == callsSwept
        callsSwept = calls
        idleSweeps = isIdle ? idleSweeps + 1 : 0
        return idleSweeps
    }
}
