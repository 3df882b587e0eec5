public import AtriumKit

// Lists, their items and their filters.
extension Registry {
    /// A page of items, with sections and counts if asked for, all of one moment.
    public func list(_ request: ListRequest, _ reply: @escaping Reply<ListPage>) {
        with(request.container, reply) { $0.list(request, reply) }
    }

    /// One item, with what its source knows beyond its fields.
    ///
    /// - Parameters:
    ///   - container: the container.
    ///   - component: which list; nil: the first.
    ///   - item: its id.
    ///   - actor: whose ballot is `mine`; nil: nobody's.
    ///   - reply: fails with `itemNotFound`.
    public func get(
        _ container: String, component: String?, item: String, actor: String?,
        _ reply: @escaping Reply<ItemResult>
    ) {
        with(container, reply) { $0.get(component, item, actor: actor, reply) }
    }

    /// Adds and replaces items: all of them or none.
    ///
    /// Those that are there just so stay untouched.
    ///
    /// - Parameters:
    ///   - container: the container.
    ///   - component: which list; nil: the first.
    ///   - items: at most 1,000 and 1 MiB.
    ///   - caller: on whose behalf.
    ///   - reply: fails with `fieldInvalid`, `itemInvalid`, `revisionMismatch`, `readOnly` or
    ///     `limitExceeded`.
    public func put(
        _ container: String, component: String?, _ items: [ItemDraft], by caller: Caller,
        _ reply: @escaping Reply<PutResult>
    ) {
        with(container, reply) { $0.put(component, items, by: caller, reply) }
    }

    /// Removes items.
    ///
    /// Ballots and comments on them stay, hidden, and return with the id.
    ///
    /// - Parameters:
    ///   - container: the container.
    ///   - component: which list; nil: the first.
    ///   - items: ids; those that are not there are passed over.
    ///   - purge: erases the ballots and comments too, also of ids that are not there any more.
    ///   - caller: on whose behalf.
    ///   - reply: fails with `readOnly` or `limitExceeded`.
    public func remove(
        _ container: String, component: String?, _ items: [String], purge: Bool,
        by caller: Caller, _ reply: @escaping Reply<RemoveResult>
    ) {
        with(container, reply) {
            $0.remove(component, items, purge: purge, by: caller, reply)
        }
    }

    /// Every section with how many items of the first list each filter would show.
    ///
    /// - Parameters:
    ///   - container: the container.
    ///   - component: which filters component; nil: all.
    ///   - scope: whose first list; nil: the container's.
    ///   - selection: what is selected; a section's own does not reduce its counts.
    ///   - search: text that items must contain; nil: any.
    ///   - user: who asks, whose long queries take turns with those of others.
    ///   - reply: fails with `filterNotFound` or `scopeNotFound`.
    public func filters(
        _ container: String, component: String?, scope: String? = nil, selection: Selection,
        search: String?, by user: String = "",
        _ reply: @escaping Reply<FiltersPage>
    ) {
        with(container, reply) {
            $0.filters(component, in: scope, selection, search: search, by: user, reply)
        }
    }

    /// Finds a container for a call.
    func with<T>(
        _ name: String, _ reply: @escaping Reply<T>, _ body: @escaping (Container) -> Void
    ) {
        guard let container = containers[name] else { return expect(name, reply, body) }
        guard container.isLoading else { return body(container) }
        // By name: it may be another one by then, or gone.
        container.whenLoaded(reply) { [self] in with(name, reply, body) }
    }

    /// Waits for a container that definitions may make which are being applied.
    private func expect<T>(
        _ name: String, _ reply: @escaping Reply<T>, _ body: @escaping (Container) -> Void
    ) {
        guard domain.expected.isExpecting else {
            return reply(.failure(.containerNotFound(name)))
        }
        let hasRoom = domain.expected.wait(for: name, atMost: domain.limits.waitingCalls) {
            [self] in with(name, reply, body)
        }
        guard !hasRoom else { return }
        reply(
            .failure(
                .storeUnavailable(
                    reason: "Definitions are being applied, and \(domain.limits.waitingCalls) "
                        + "calls wait for that already.",
                    retryAfter: 0.5)))
    }
}
