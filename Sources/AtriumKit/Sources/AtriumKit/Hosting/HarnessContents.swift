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
        // The answer names only requested ids that were removed, even if the source removes more.
        let asked = Set(ids)
        let removed = changes.compactMap { change -> String? in
            guard case .removed(let key) = change, asked.contains(key) else { return nil }
            return key
        }
        return Decision(changes: changes, answer: .removed(removed), events: apply(changes))
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

    func checkTakesItems(_ source: any ContentListing) throws(Refusal) {
        if let reason = source.readOnlyReason { throw Refusal(.readOnly, reason) }
    }
}
