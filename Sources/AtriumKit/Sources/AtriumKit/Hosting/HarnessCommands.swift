// Commands: the component decides, the harness applies the decision and collects what the component reports.

extension ComponentHarness {
    /// Decides on a command and applies the decision.
    ///
    /// - Returns: the decision; without changes there is nothing to commit.
    /// - Throws: the component's ``Refusal``, or one for a command of another kind. Nothing is changed.
    public func decide(
        _ command: ComponentCommand, _ context: CommandContext
    ) throws(Refusal) -> Decision {
        switch (role, command) {
        case (.contents(let source), .putItems(let items)):
            return try put(items, into: source, context)
        case (.contents(let source), .removeItems(let ids)):
            return try remove(ids, from: source, context)
        case (.votes(let votes), .castBallot(let subject, let value)):
            return try cast(value, on: subject, with: votes, context)
        case (.votes(let votes), .retractBallot(let subject)):
            return try retract(from: subject, with: votes, context)
        case (.comments(let comments), .postComment(let draft)):
            return try post(draft, to: comments, context)
        case (.comments(let comments), .editComment(let id, let text)):
            return try change(id, in: comments) { () throws(Refusal) in
                try comments.edit(id, text: text, context)
            }
        case (.comments(let comments), .deleteComment(let id)):
            return try change(id, in: comments) { () throws(Refusal) in
                try comments.delete(id, context)
            }
        case (.comments(let comments), .moderateComment(let id, let state, let reason, let seen)):
            try check(seen, of: id, in: comments)
            return try change(id, in: comments) { () throws(Refusal) in
                try comments.moderate(id, state: state, reason: reason, context)
            }
        case (_, .restoreRecords(let changes)):
            return try takeOver(changes)
        default:
            throw notForThisKind()
        }
    }

    /// Restores records as they were exported.
    private func takeOver(_ changes: [Change]) throws(Refusal) -> Decision {
        switch role {
        case .contents(let source): try checkTakesItems(source)
        case .filters: throw Refusal(.readOnly, "Filters keep no records.")
        case .votes, .comments: break
        }
        return Decision(
            changes: changes, answer: .restored(changes.count), events: apply(changes))
    }

    /// Applies a decision's changes and returns the events for the delegate.
    func apply(_ changes: [Change]) -> [ComponentEvent] {
        collector.collect { for change in changes { component.apply(change) } }
    }
}

// MARK: - Each kind

// For comments: `HarnessComments.swift`.
extension ComponentHarness {
    private func cast(
        _ value: Double, on subject: Subject, with votes: any Voting, _ context: CommandContext
    ) throws(Refusal) -> Decision {
        let ballot = Ballot(
            subject: subject, actor: context.actor, value: value, cast: context.time)
        let previous = votes.ballot(of: context.actor, on: subject)?.value
        return answered(
            try votes.cast(ballot, context), previous: previous, on: subject, with: votes, context)
    }

    private func retract(
        from subject: Subject, with votes: any Voting, _ context: CommandContext
    ) throws(Refusal) -> Decision {
        let previous = votes.ballot(of: context.actor, on: subject)?.value
        let changes = try votes.retract(actor: context.actor, subject: subject, context)
        return answered(changes, previous: previous, on: subject, with: votes, context)
    }

    private func answered(
        _ changes: [Change], previous: Double?, on subject: Subject, with votes: any Voting,
        _ context: CommandContext
    ) -> Decision {
        let events = apply(changes)
        return Decision(
            changes: changes,
            answer: .ballot(
                tally: events.tally(of: subject) ?? votes.tally(of: subject), previous: previous,
                current: votes.ballot(of: context.actor, on: subject)?.value),
            events: events)
    }

    private func put(
        _ items: [Item], into source: any ContentListing, _ context: CommandContext
    ) throws(Refusal) -> Decision {
        try checkTakesItems(source)
        let decision = try source.put(items, context)
        return Decision(
            changes: decision.changes,
            answer: .items(
                inserted: decision.inserted, updated: decision.updated,
                unchanged: decision.unchanged),
            events: apply(decision.changes))
    }

    private func remove(
        _ ids: [String], from source: any ContentListing, _ context: CommandContext
    ) throws(Refusal) -> Decision {
        try checkTakesItems(source)
        let changes = try source.remove(ids, context)
        // The answer names only requested ids that were removed, even if the source removes more.
        let asked = Set(ids)
        let removed = changes.compactMap { change -> String? in
            guard case .removed(let key) = change, asked.contains(key) else { return nil }
            return key
        }
        return Decision(changes: changes, answer: .removed(removed), events: apply(changes))
    }

    private func checkTakesItems(_ source: any ContentListing) throws(Refusal) {
        if let reason = source.readOnlyReason { throw Refusal(.readOnly, reason) }
    }
}

extension [ComponentEvent] {
    /// Returns the last tally of a subject among the events; nil if there is none.
    fileprivate func tally(of subject: Subject) -> Tally? {
        for event in reversed() {
            if case .tally(subject, let tally) = event { return tally }
        }
        return nil
    }
}

// MARK: - What components report

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
