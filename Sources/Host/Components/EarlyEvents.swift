import AtriumKit

/// What a component told by itself before it was part of its container: kept until it is, up to a number
/// of bytes.
struct EarlyEvents {
    private var events: [ComponentEvent] = []
    private var bytes = 0
    /// Whether there was too much: nothing is kept any more.
    private var isOver = false

    /// Keeps events.
    ///
    /// - Returns: whether there is room; false once, when there is none any more.
    mutating func take(_ more: [ComponentEvent], atMost limit: Int) -> Bool {
        guard !isOver else { return true }
        bytes += more.reduce(0) { $0 + $1.roughSize }
        isOver = bytes > limit
        if isOver { events = [] } else { events += more }
        return !isOver
    }

    /// Hands out what was kept.
    mutating func takeAll() -> [ComponentEvent] {
        defer { self = EarlyEvents() }
        return events
    }
}
