/// The calls of a connection that are not to be answered, until they have ended.
struct SilentCalls {
    /// The number of bytes of each call's frame.
    private var open: [UInt64: Int] = [:]
    private var last: UInt64 = 0

    /// The number of bytes of all calls.
    private(set) var bytes = 0

    /// The number of calls that have not ended.
    var count: Int { open.count }

    /// Adds a call.
    ///
    /// - Parameter bytes: The size of the call's frame.
    /// - Returns: The call's id.
    mutating func open(bytes: Int) -> UInt64 {
        last += 1
        open[last] = bytes
        self.bytes += bytes
        return last
    }

    /// Whether this call has not ended.
    func isOpen(_ id: UInt64) -> Bool { open[id] != nil }

    /// Ends a call; does nothing if it has ended.
    mutating func end(_ id: UInt64) { bytes -= open.removeValue(forKey: id) ?? 0 }
}
