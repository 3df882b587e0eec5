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
    private var told: Set<Subject> = []
    /// Whether the container may show what was not told.
    private var isSearching: Bool
    /// What it shows, while it is looked through.
    private var shown: Shown?
    /// What was not told.
    private var stale: [ComponentEvent] = []

    /// What is shown, and how far it was looked through.
    private struct Shown {
        var tallies: [Subject: Tally]
        var counts: [Subject: Int]
        var tally: [Subject: Tally].Index
        var count: [Subject: Int].Index

        init(tallies: [Subject: Tally], counts: [Subject: Int]) {
            self.tallies = tallies
            self.counts = counts
            tally = tallies.startIndex
            count = counts.startIndex
        }
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
            case .tally(let subject, _), .commentCount(let subject, _): told.insert(subject)
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
                tallies: slot.own.votes?.tallies ?? [:], counts: slot.own.comments?.counts ?? [:])
        shown = nil
        var looked = 0
        while looked < Self.length, rest.tally < rest.tallies.endIndex {
            let subject = rest.tallies[rest.tally].key
            if !told.contains(subject) { stale.append(.tally(subject, Tally())) }
            rest.tallies.formIndex(after: &rest.tally)
            looked += 1
        }
        while looked < Self.length, rest.count < rest.counts.endIndex {
            let subject = rest.counts[rest.count].key
            if !told.contains(subject) { stale.append(.commentCount(subject, 0)) }
            rest.counts.formIndex(after: &rest.count)
            looked += 1
        }
        if looked > 0 { shown = rest } else { isSearching = false }
    }
}
