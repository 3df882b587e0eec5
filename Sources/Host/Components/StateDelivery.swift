import AtriumKit

/// Delivers the tallies and counts that a loaded component reported, a few at a time.
///
/// Then it resets those that the container still shows from before the restart, and that the component did not
/// report.
final class StateDelivery {
    private static let length = 128

    private let slot: Slot
    private var parts: ArraySlice<[ComponentEvent]>
    private var place = 0
    /// The reported subjects, if something from before the restart is shown.
    private var reported = SplitDictionary<Subject, Bool>()
    /// Whether the container may show something that was not reported.
    private var isSearching: Bool
    /// The shown tallies and counts, while they are searched.
    private var shown: Shown?
    /// Events that reset what was not reported.
    private var stale: [ComponentEvent] = []

    /// The remaining part of a search.
    private struct Shown {
        var tallies: SplitDictionary<Subject, Tally>.Iterator
        var counts: SplitDictionary<Subject, Int>.Iterator
    }

    init(_ parts: [[ComponentEvent]], to slot: Slot) {
        self.slot = slot
        self.parts = parts[...]
        isSearching =
            !(slot.own.votes?.tallies.isEmpty ?? true)
            || !(slot.own.comments?.counts.isEmpty ?? true)
    }

    /// The next few events, possibly none; nil: there are no more.
    func next() -> [ComponentEvent]? {
        if let part = parts.first {
            let events = slice(of: part)
            if place == part.count {
                parts.removeFirst()
                place = 0
            }
            if isSearching { record(events) }
            return events
        }
        if isSearching {
            search()
            return []
        }
        guard place < stale.count else { return nil }
        return slice(of: stale)
    }

    private func slice(of events: [ComponentEvent]) -> [ComponentEvent] {
        let end = min(place + Self.length, events.count)
        defer { place = end }
        return Array(events[place..<end])
    }

    private func record(_ events: [ComponentEvent]) {
        for event in events {
            switch event {
            case .tally(let subject, _), .commentCount(let subject, _): reported[subject] = true
            default: break
            }
        }
    }

    /// Searches a few of the shown tallies and counts, which include the reported ones by now.
    ///
    /// They don't change meanwhile. The iterators are dropped before they do, because a shared dictionary would be
    /// copied.
    private func search() {
        var rest =
            shown
            ?? Shown(
                tallies: (slot.own.votes?.tallies ?? SplitDictionary()).makeIterator(),
                counts: (slot.own.comments?.counts ?? SplitDictionary()).makeIterator())
        shown = nil
        var looked = 0
        while looked < Self.length, let (subject, _) = rest.tallies.next() {
            if reported[subject] == nil { stale.append(.tally(subject, Tally())) }
            looked += 1
        }
        while looked < Self.length, let (subject, _) = rest.counts.next() {
            if reported[subject] == nil { stale.append(.commentCount(subject, 0)) }
            looked += 1
        }
        if looked > 0 { shown = rest } else { isSearching = false }
    }
}
