/// The delegate that the harness gives to every component: it writes down what it is told.
///
/// What is told during a decision belongs to that decision; what a component tells by itself, from
/// background work or an observed notification, waits for the host.
final class EventCollector {
    private var events: [ComponentEvent] = []
    private var own: [ComponentEvent] = []
    private var isCollecting = false

    /// Runs the body and gives what was told meanwhile.
    func collect(_ body: () -> Void) -> [ComponentEvent] {
        isCollecting = true
        body()
        isCollecting = false
        defer { events = [] }
        return events
    }

    /// Runs the body and forgets what was told meanwhile.
    func drop(_ body: () -> Void) {
        _ = collect(body)
    }

    /// What was told outside of `collect` and `drop`, once.
    func takeOwn() -> [ComponentEvent] {
        defer { own = [] }
        return own
    }

    private func note(_ event: ComponentEvent) {
        if isCollecting {
            append(event, to: &events)
        } else {
            append(event, to: &own)
        }
    }

    /// Appends, merged with the event before when both tell the same of items: a thousand items
    /// that are put at once are one event and not a thousand.
    private func append(_ event: ComponentEvent, to events: inout [ComponentEvent]) {
        guard case .contents(let change) = event, case .contents(let last) = events.last else {
            return events.append(event)
        }
        switch (last, change) {
        case (.insert(var items), .insert(let more)):
            events.removeLast()
            items.append(contentsOf: more)
            events.append(.contents(.insert(items)))
        case (.update(var items), .update(let more)):
            events.removeLast()
            items.append(contentsOf: more)
            events.append(.contents(.update(items)))
        case (.remove(var ids), .remove(let more)):
            events.removeLast()
            ids.append(contentsOf: more)
            events.append(.contents(.remove(ids)))
        default:
            events.append(event)
        }
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
