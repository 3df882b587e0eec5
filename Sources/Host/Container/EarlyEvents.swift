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

extension ComponentEvent {
    /// About how many bytes it has.
    fileprivate var roughSize: Int {
        switch self {
        case .contents(.remove(let ids)): ids.reduce(100) { $0 + 20 + $1.utf8.count }
        case .contents(let change): change.items.reduce(100) { $0 + $1.roughSize }
        case .tally(let subject, let tally): 200 + subject.size + 50 * tally.histogram.count
        case .commentCount(let subject, _): 100 + subject.size
        case .didPost(let comment), .didEdit(let comment), .didRemove(let comment):
            500 + comment.subject.size + (comment.text?.utf8.count ?? 0)
        case .didSelect(let filter, let section, let selection, _),
            .didDeselect(let filter, let section, let selection, _):
            selection.sections.values.joined().reduce(
                200 + filter.utf8.count + section.utf8.count
            ) { $0 + 50 + $1.utf8.count }
        case .didClear: 100
        @unknown default: 100
        }
    }
}

extension Subject {
    fileprivate var size: Int { item?.utf8.count ?? 0 }
}
