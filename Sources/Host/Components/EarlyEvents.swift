import AtriumKit

/// The events that a component sent before it was part of its container: kept until it is, up to a limit in bytes.
struct EarlyEvents {
    private var events: [ComponentEvent] = []
    private var bytes = 0
    /// Whether the limit was exceeded: nothing is kept any more.
    private var isOver = false

    /// Keeps events.
    ///
    /// - Returns: false when the limit is exceeded, once; true otherwise.
    mutating func take(_ more: [ComponentEvent], atMost limit: Int) -> Bool {
        guard !isOver else { return true }
        for event in more where bytes <= limit { bytes += event.roughSize(atMost: limit - bytes) }
        isOver = bytes > limit
        if isOver { events = [] } else { events += more }
        return !isOver
    }

    /// Returns the kept events and starts over.
    mutating func takeAll() -> [ComponentEvent] {
        defer { self = EarlyEvents() }
        return events
    }
}
