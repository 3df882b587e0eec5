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
            return try told { () throws(Refusal) in
                try filters.select(id.filter, in: id.section, of: selection, on: screen)
            }
        case .deselect(let id, let selection, let screen):
            return try told { () throws(Refusal) in
                try filters.deselect(id.filter, in: id.section, of: selection, on: screen)
            }
        case .clear(let selection, let screen):
            return try told { () throws(Refusal) in filters.clear(selection, on: screen) }
        case .recordKeys:
            return .recordKeys([])
        default:
            throw notForThisKind()
        }
    }

    /// The new selection together with what the delegate was told of it.
    private func told(
        _ body: () throws(Refusal) -> Selection
    ) throws(Refusal) -> ComponentAnswer {
        var outcome: Result<Selection, Refusal> = .success(Selection())
        let events = collector.collect {
            do throws(Refusal) {
                outcome = .success(try body())
            } catch {
                outcome = .failure(error)
            }
        }
        return .selection(try outcome.get(), events: events)
    }
}
