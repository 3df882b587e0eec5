// The harness of the kind `filters`: it takes no commands, its selections are the screens'.

extension ComponentHarness {
    func answer(
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
