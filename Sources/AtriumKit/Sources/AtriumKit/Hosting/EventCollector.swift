/// The delegate that the harness gives to every component: it records the events that the component reports.
///
/// Events reported during a decision belong to that decision. Events that a component reports by itself, from
/// background work or an observed notification, wait until the host takes them.
final class EventCollector {
    private var events = MergedEvents()
    private var own = MergedEvents()
    private var isCollecting = false

    /// Runs the body and returns the events that were reported meanwhile.
    func collect(_ body: () -> Void) -> [ComponentEvent] {
        isCollecting = true
        body()
        isCollecting = false
        return events.take()
    }

    /// Runs the body and drops the events that were reported meanwhile.
    func drop(_ body: () -> Void) {
        _ = collect(body)
    }

    /// Returns the events that were reported outside of `collect` and `drop`, each once.
    func takeOwn() -> [ComponentEvent] { own.take() }

    private func note(_ event: ComponentEvent) {
        if isCollecting {
            events.append(event)
        } else {
            own.append(event)
        }
    }
}

/// Events in their order.
///
/// Adjacent events of the same type about items are merged: a thousand items that are put at once become one event.
private struct MergedEvents {
    private var events: [ComponentEvent] = []
    // The last event, if it is about items: at most one of the three is non-empty. They are not kept in `events`,
    // because appending to an array in there would copy it.
    private var inserted: [Item] = []
    private var updated: [Item] = []
    private var removed: [String] = []

    mutating func append(_ event: ComponentEvent) {
        switch event {
        case .contents(.insert(let items)) where !items.isEmpty:
            if inserted.isEmpty { close() }
            // Most components report all items in one event, which is then not copied.
            if inserted.isEmpty { inserted = items } else { inserted += items }
        case .contents(.update(let items)) where !items.isEmpty:
            if updated.isEmpty { close() }
            if updated.isEmpty { updated = items } else { updated += items }
        case .contents(.remove(let ids)) where !ids.isEmpty:
            if removed.isEmpty { close() }
            removed += ids
        default:
            close()
            // A vote is one event, a comment two.
            if events.isEmpty { events.reserveCapacity(2) }
            events.append(event)
        }
    }

    /// Removes and returns the events.
    mutating func take() -> [ComponentEvent] {
        close()
        defer { events = [] }
        return events
    }

    private mutating func close() {
        guard !inserted.isEmpty || !updated.isEmpty || !removed.isEmpty else { return }
        if !inserted.isEmpty { events.append(.contents(.insert(inserted))) }
        if !updated.isEmpty { events.append(.contents(.update(updated))) }
        if !removed.isEmpty { events.append(.contents(.remove(removed))) }
        (inserted, updated, removed) = ([], [], [])
    }
}

extension EventCollector: ContentListingDelegate {
    func contentListing(_ source: any ContentListing, didChange change: ContentChange) {
        note(.contents(change))
    }
}

extension EventCollector: FilteringDelegate {
    func filtering(
        _ filters: any Filtering, didSelect filter: String, in section: String,
        now selection: Selection, on screen: String
    ) {
        note(
            .didSelect(filter: filter, section: section, selection: selection, screen: screen))
    }

    func filtering(
        _ filters: any Filtering, didDeselect filter: String, in section: String,
        now selection: Selection, on screen: String
    ) {
        note(
            .didDeselect(filter: filter, section: section, selection: selection, screen: screen))
    }

    func filteringDidClear(_ filters: any Filtering, on screen: String) {
        note(.didClear(screen: screen))
    }
}

extension EventCollector: VotingDelegate {
    func voting(_ votes: any Voting, didChange tally: Tally, of subject: Subject) {
        note(.tally(subject, tally))
    }
}

extension EventCollector: CommentingDelegate {
    func commenting(_ comments: any Commenting, didPost comment: Comment) {
        note(.didPost(comment))
    }
    func commenting(_ comments: any Commenting, didEdit comment: Comment) {
        note(.didEdit(comment))
    }
    func commenting(_ comments: any Commenting, didRemove comment: Comment) {
        note(.didRemove(comment))
    }
    func commenting(_ comments: any Commenting, didChange count: Int, of subject: Subject) {
        note(.commentCount(subject, count))
    }
}
