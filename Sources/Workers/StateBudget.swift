internal import Host

extension EventParts.Size {
    /// A part of what a component tells, as a message of a worker.
    static let message = EventParts.Size.bytes(StateBudget.part)
}

/// How much of a restored state a worker has given so far.
struct StateBudget {
    /// About how many bytes a part has; a single item may have more.
    static let part = 256 << 10
    /// How many items, tallies or counts a part may have: more than fit into one, however little each is.
    static let items = 32_768
    /// Roughly how many bytes all parts may have together.
    static let most = 1 << 30

    private var bytes = 0

    /// Takes a part in; one without much in it counts as a usual one, so that they come to an end.
    ///
    /// - Parameter size: roughly its bytes.
    /// - Returns: what is wrong, as it follows on "answered with"; nil: nothing.
    mutating func take(_ size: Int) -> String? {
        bytes += max(Self.part, size)
        guard bytes > Self.most else { return nil }
        return "\(bytes) bytes of state so far, where \(Self.most) are allowed"
    }
}
