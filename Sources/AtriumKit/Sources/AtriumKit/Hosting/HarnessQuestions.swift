// Questions: the component returns data, and changes nothing.

extension ComponentHarness {
    /// Answers a question.
    ///
    /// - Throws: the component's ``Refusal``, or one for a question of another kind.
    public func answer(_ query: ComponentQuery) throws(Refusal) -> ComponentAnswer {
        switch (role, query) {
        case (_, .canTake(let settings)):
            .canTake(canTake(settings))
        case (.contents(let source), .details(let item)):
            .details(source.details(of: item))
        case (.filters(let filters), _):
            try answer(query, with: filters)
        case (.votes(let votes), _):
            try answer(query, with: votes)
        case (.comments(let comments), _):
            try answer(query, with: comments)
        case (.contents, .recordKeys(let subjects)):
            .recordKeys(subjects.compactMap(\.item))
        default:
            throw notForThisKind()
        }
    }

    /// Makes the source read a picture.
    ///
    /// - Parameters:
    ///   - id: the item.
    ///   - field: the field that names the picture.
    ///   - done: receives the picture, on the domain; not called if the component is closed first.
    public func readImage(
        of id: String, field: String, _ done: @escaping (Result<ItemImage, Refusal>) -> Void
    ) {
        guard case .contents(let source as any ImageProviding) = role else {
            return done(.failure(Refusal("Its plugin has no pictures of its own.")))
        }
        do throws(Refusal) {
            guard let work = try source.image(of: id, field: field) else {
                throw Refusal("There is no such picture.")
            }
            inBackground {
                try ItemImage(await work())
            } then: { result in
                done(result.mapError { $0 as? Refusal ?? Refusal("It can't be read: \($0)") })
            }
        } catch {
            done(.failure(error))
        }
    }
}

// MARK: - Each kind

// For comments: `HarnessComments.swift`.
extension ComponentHarness {
    private func answer(
        _ query: ComponentQuery, with votes: any Voting
    ) throws(Refusal) -> ComponentAnswer {
        switch query {
        case .ballotsOf(let actor, let subjects):
            return .ballotsOf(subjects.map { votes.ballot(of: actor, on: $0) })
        case .ballots(let subject, let after, let limit):
            return .ballots(votes.ballots(on: subject, after: after, limit: limit))
        case .recordKeys(let subjects):
            return .recordKeys(subjects.flatMap(votes.recordKeys))
        default:
            throw notForThisKind()
        }
    }

    private func answer(
        _ query: ComponentQuery, with filters: any Filtering
    ) throws(Refusal) -> ComponentAnswer {
        switch query {
        case .sections:
            return .sections(filters.sections)
        case .filters(let ids):
            var found: [Filter] = []
            for id in ids { found.append(try filters.filter(id.filter, in: id.section)) }
            return .filters(found)
        case .select(let id, let selection, let screen):
            let now = try silently { () throws(Refusal) in
                try filters.select(id.filter, in: id.section, of: selection, on: screen)
            }
            // Prefer the id as the component writes it.
            let added = now[id.section].first { !selection[id.section].contains($0) }
            // The filter was already selected; if its id can't be resolved, it is kept as given.
            let known = added ?? (try? filters.filter(id.filter, in: id.section))?.id
            let selected = known ?? id.filter
            return .selection(
                now,
                events: [
                    .didSelect(
                        filter: selected, section: id.section, selection: now, screen: screen)
                ])
        case .deselect(let id, let selection, let screen):
            let now = try silently { () throws(Refusal) in
                try filters.deselect(id.filter, in: id.section, of: selection, on: screen)
            }
            return .selection(
                now,
                events: [
                    .didDeselect(
                        filter: id.filter, section: id.section, selection: now, screen: screen)
                ])
        case .clear(let selection, let screen):
            let now = try silently { () throws(Refusal) in filters.clear(selection, on: screen) }
            return .selection(now, events: [.didClear(screen: screen)])
        case .recordKeys:
            return .recordKeys([])
        default:
            throw notForThisKind()
        }
    }

    /// Returns the new selection, which is the whole answer: events that the component reports meanwhile are dropped.
    private func silently(
        _ body: () throws(Refusal) -> Selection
    ) throws(Refusal) -> Selection {
        var outcome: Result<Selection, Refusal> = .success(Selection())
        collector.drop {
            do throws(Refusal) {
                outcome = .success(try body())
            } catch {
                outcome = .failure(error)
            }
        }
        return try outcome.get()
    }
}
