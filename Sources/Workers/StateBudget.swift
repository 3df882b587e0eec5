internal import Host

extension EventParts.Size {
    /// The size of a part of a component's state, as a message of a worker.
    static let message = EventParts.Size.bytes(StateBudget.part)
}

/// Bounds the restored state that a worker returns in parts.
struct StateBudget {
    /// About how many bytes a part holds; a single item may be larger.
    static let part = 256 << 10
    /// The most items, tallies or counts in a part; more than fit into one, however small they are.
    static let items = 32_768
    /// About how many bytes all parts together may have.
    static let most = 1 << 30

    private var bytes = 0

    /// Counts a part, a small one as a full one, so that the number of parts is bounded, too; returns the problem, as
    /// the continuation of "answered with".
    mutating func charge(_ size: Int) -> String? {
        bytes += max(Self.part, size)
        guard bytes > Self.most else { return nil }
        return "\(bytes) bytes of state so far, where \(Self.most) are allowed"
    }
}
