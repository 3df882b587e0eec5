internal import AtriumKit
internal import Host

/// How much of a restored state a worker has given so far.
struct StateBudget {
    /// Roughly how many bytes all parts may have together.
    static let most = 1 << 30

    private var bytes = 0

    /// Takes a part in; one without much in it counts as a usual one, so that they come to an end.
    ///
    /// - Returns: what is wrong, as it follows on "answered with"; nil: nothing.
    mutating func take(_ part: [ComponentEvent]) -> String? {
        bytes += max(StateParts.bytes, part.reduce(0) { $0 + $1.roughSize })
        guard bytes > Self.most else { return nil }
        return "\(bytes) bytes of state so far, where \(Self.most) are allowed"
    }
}
