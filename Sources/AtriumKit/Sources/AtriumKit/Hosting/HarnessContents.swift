// The harness of the kind `contents`.

extension ComponentHarness {
    func put(
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

    func remove(
        _ ids: [String], from source: any ContentListing, _ context: CommandContext
    ) throws(Refusal) -> Decision {
        try checkTakesItems(source)
        let changes = try source.remove(ids, context)
        // The answer names what was asked for and is gone, also of a source that does more.
        let asked = Set(ids)
        let removed = changes.compactMap { change -> String? in
            guard case .removed(let key) = change, asked.contains(key) else { return nil }
            return key
        }
        return Decision(changes: changes, answer: .removed(removed), events: apply(changes))
    }

    func checkTakesItems(_ source: any ContentListing) throws(Refusal) {
        if let reason = source.readOnlyReason { throw Refusal(.readOnly, reason) }
    }
}
