import AtriumKit
import Index

/// The events that a component sent before it was part of its container: kept until it is, up to a limit in bytes.
final class EarlyEvents {
    /// The reports, each with the events that were reported together; small ones that follow each other are one.
    private var reports: [[ComponentEvent]] = []
    private var bytes = 0
    /// Whether the limit was exceeded: nothing is kept any more.
    private var isOver = false

    /// Keeps events; their bytes are charged with ``charge(_:atMost:)``.
    func keep(_ more: [ComponentEvent]) {
        guard !isOver else { return }
        let last = reports.count - 1
        if last >= 0, reports[last].count + more.count <= ReportedEvents.piece {
            reports[last] += more
        } else {
            reports.append(more)
        }
    }

    /// Charges the bytes of some of the kept events; returns false when the limit is exceeded, once.
    func charge(_ some: [ComponentEvent], atMost limit: Int) -> Bool {
        guard !isOver else { return true }
        bytes += some.reduce(0) { $0 + $1.roughSize }
        isOver = bytes > limit
        if isOver {
            Discard.later(reports)
            reports = []
        }
        return !isOver
    }

    /// Returns the kept reports and starts over.
    func takeAll() -> [[ComponentEvent]] {
        defer { (reports, bytes, isOver) = ([], 0, false) }
        return reports
    }
}
