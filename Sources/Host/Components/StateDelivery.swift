import AtriumKit

/// What a loaded component told of tallies and counts, on its way into its container, a little at a
/// time; then what the container still shows of an earlier life of the component and the loaded one
/// did not tell.
final class StateDelivery {
    private static let length = 128

    private let slot: Slot
    private var parts: ArraySlice<[ComponentEvent]>
    private var place = 0
    /// What was told, where there is an earlier life.
    private var told = SplitDictionary<Subject, Bool>()
    /// Whether the container may show what was not told.
    private var isSearching: Bool
    /// What it shows, while that is looked through.
    private var shown: Shown?
    /// What was not told.
    private var stale: [ComponentEvent] = []

    /// What is left to be looked through of what is shown.
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

    /// The next events, a few or none; nil: there is nothing left.
    func next() -> [ComponentEvent]? {
        if let part = parts.first {
            let events = slice(of: part)
            if place == part.count {
                parts.removeFirst()
                place = 0
            }
            if isSearching { note(events) }
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

    private func note(_ events: [ComponentEvent]) {
        for event in events {
            switch event {
            case .tally(let subject, _), .commentCount(let subject, _): told[subject] = true
            default: break
            }
        }
    }

    /// Looks through a little of what is shown, by now with all that was told.
    ///
    /// Nothing of it changes meanwhile; it is let go of before it does, so that nothing is copied.
    private func search() {
        var rest =
            shown
            ?? Shown(
                tallies: (slot.own.votes?.tallies ?? SplitDictionary()).makeIterator(),
                counts: (slot.own.comments?.counts ?? SplitDictionary()).makeIterator())
        shown = nil
        var looked = 0
        while looked < Self.length, let (subject, _) = rest.tallies.next() {
            if told[subject] == nil { stale.append(.tally(subject, Tally())) }
            looked += 1
        }
        while looked < Self.length, let (subject, _) = rest.counts.next() {
            if told[subject] == nil { stale.append(.commentCount(subject, 0)) }
            looked += 1
        }
        if looked > 0 { shown = rest } else { isSearching = false }
    }
}
