import AtriumKit
import Index

// Reading lists: the index answers, with the predicates of the filters and the actor's own ballots.
extension Container {
    /// Reads a page of a list, with sections and counts if requested; all of it shows the same state.
    public func list(_ request: ListRequest, _ reply: @escaping Answer<ListPage>) {
        ListCall(request, of: self, reply).run()
    }

    /// Builds, in slices, the sort orders that a list's queries have asked for.
    func growOrders(of list: ContentIndex) {
        guard list.claimOrders() else { return }
        // Not at once: the present turn of the loop has just answered the query.
        domain.afterPoll { [domain] in
            domain.inSlices {
                list.growOrders()
            } then: {
                list.releaseOrders()
            }
        }
    }

    /// Prepares the answer to a query in slices.
    ///
    /// - Parameters:
    ///   - query: the query.
    ///   - list: the list that is queried.
    ///   - slot: the list's slot.
    ///   - then: called with the prepared answer, which is to be read at once.
    func prepare(
        _ query: IndexQuery, in list: ContentIndex, of slot: Slot,
        then: @escaping Answer<QueryPreparation>
    ) {
        let prepared: QueryPreparation
        do {
            prepared = try QueryPreparation(query, in: list)
        } catch {
            return then(.failure(HostError(error)))
        }
        domain.inSlices {
            prepared.step()
        } then: {
            guard prepared.isHopeless else { return then(.success(prepared)) }
            then(.failure(slot.tooBusy))
        }
    }

    /// An item as a call or a screen gets it, without anybody's ballot.
    ///
    /// - Parameters:
    ///   - row: the item.
    ///   - fields: the fields to include; nil: all.
    ///   - nested: the lists whose items may be its children.
    /// - Returns: the item.
    func view(
        _ row: IndexedItem, fields: Set<String>? = nil, nested: [ContentIndex]
    ) -> ItemView {
        ItemView(
            id: row.id, parent: row.parent,
            fields: fields.map(row.fields(named:)) ?? row.fields,
            votes: wiring.votes == nil ? nil : TallyView(tally: row.tally, mine: nil),
            comments: wiring.comments == nil ? nil : row.comments,
            children: nested.children(of: row.id))
    }

    /// The lists that may have children of a list's items: those that a screen shows inside an item, or without modes
    /// the list itself.
    ///
    /// Sources that are asked are left out: they have only those children that somebody happened to open.
    ///
    /// - Parameters:
    ///   - list: the list.
    ///   - scope: the scope; nil: the container's first, if it has any.
    ///   - hidden: the components that a screen hides, in addition to those that the definition hides.
    /// - Returns: the lists; empty if no children are counted.
    func nested(
        in list: ContentIndex, scope: String?, hiding hidden: Set<String> = []
    ) -> [ContentIndex] {
        let scope = self.scope(scope)
        guard modes(in: scope)?.isByMode ?? false else {
            let isCounted = list.hasChildren && !slots.contains { $0.asks && $0.list === list }
            return isCounted ? [list] : []
        }
        return lists(in: scope, .entered).filter { !$0.asks && !$0.isHidden(beside: hidden) }
            .compactMap(\.list).filter(\.hasChildren)
    }

    /// Calls `moment` while the votes component's own state is the committed one, and reads an actor's ballots at the
    /// same time.
    ///
    /// - Parameters:
    ///   - actor: the actor's name; there are no ballots without one, or if the actor is unknown.
    ///   - component: the votes component; nil: the one that lists show.
    ///   - user: whose call it is.
    ///   - moment: returns the subjects.
    ///   - then: called with the ballots in the order of the subjects, or with an empty array if there can't be any,
    ///     or with the component's error.
    func withBallots(
        of actor: String?, in component: Slot? = nil, by user: String,
        _ moment: @escaping () -> [Subject], then: @escaping Answer<[Ballot?]>
    ) {
        guard let number = actor.flatMap({ domain.actors.number(of: $0) }),
            let votes = component ?? wiring.votes.flatMap({ slot($0) })
        else {
            _ = moment()
            return then(.success([]))
        }
        votes.ask(
            Question(
                needsQuiet: true, by: user,
                make: { .ballotsOf(number, subjects: moment()) },
                done: { [self] result in
                    switch result {
                    case .success(.ballotsOf(let ballots)): then(.success(ballots))
                    case .success:
                        then(.failure(votes.unavailable("It answered something else.")))
                    case .failure where component == nil && wiring.votes != votes.name:
                        // Lists show another votes component by now, or none.
                        withBallots(of: actor, by: user, moment, then: then)
                    case .failure(let error): then(.failure(error))
                    }
                }))
    }
}

// MARK: One item

extension Container {
    /// Reads one item, with the details that its source has beyond its fields.
    ///
    /// - Parameters:
    ///   - item: the item's id.
    ///   - component: the list; nil: the first.
    ///   - actor: whose ballot is `mine`; nil: nobody's.
    ///   - user: whose call it is; the number of calls that wait is limited for each user.
    ///   - reply: the item; fails with `itemNotFound` or `componentUnavailable`.
    public func get(
        _ item: String, in component: String?, actor: String?, by user: String = "",
        _ reply: @escaping Answer<ItemResult>
    ) {
        let slot: Slot
        do throws(HostError) {
            let chosen = try list(component)
            slot = chosen.slot
            guard chosen.list.contains(item) else {
                throw .itemNotFound(container: name, item: item)
            }
        } catch {
            return reply(.failure(error))
        }
        slot.ask(
            Question(needsQuiet: true, by: user, make: { .details(item: item) }) { [self] result in
                switch result {
                case .failure(let error): reply(.failure(error))
                case .success(let answer):
                    guard case .details(let details) = answer else {
                        return reply(.failure(slot.unavailable("It answered something else.")))
                    }
                    readItem(item, slot, details, actor: actor, by: user, reply)
                }
            })
    }

    private func readItem(
        _ item: String, _ slot: Slot, _ details: [String: Value]?, actor: String?, by user: String,
        _ reply: @escaping Answer<ItemResult>
    ) {
        var found: ItemResult?
        withBallots(of: actor, by: user) { [self] in
            // Looked up by name: the component may have been made anew meanwhile.
            if let list = self.slot(slot.name)?.list, let row = list.item(item) {
                found = ItemResult(
                    item: view(row, nested: nested(in: list, scope: nil)),
                    details: details?.jsonBytes, sequence: domain.sequence)
            }
            return found == nil ? [] : [.item(item)]
        } then: { [self] ballots in
            do throws(HostError) {
                let mine = try ballots.get().first.flatMap { $0 }?.value
                guard var found else { throw .itemNotFound(container: name, item: item) }
                found.item.votes?.mine = mine
                reply(.success(found))
            } catch {
                reply(.failure(error))
            }
        }
    }
}

extension Slot {
    /// The order of its list if a request names none.
    func order(of index: ContentIndex) -> [SortKey] {
        definition.sort.map { SortKey($0) }.filter { index.isSortable(by: $0.field) }
    }
}

extension ListPresentation {
    init(_ slot: Slot, in container: Container) {
        let definition = container.definition
        self.init(
            title: slot.title,
            fields: definition.fields, present: slot.definition.present ?? definition.present,
            sort: slot.definition.sort, empty: slot.definition.empty,
            votes: container.first(.votes)?.facts(in: definition),
            comments: container.first(.comments)?.facts(in: definition))
    }
}

extension ContainerDefinition {
    /// The fields that are left out of lists.
    var detailFields: Set<String> { Set(fields.lazy.filter(\.details).map(\.name)) }

    /// The fields of items in lists; nil: all.
    var listedFields: Set<String>? {
        guard fields.contains(where: \.details) else { return nil }
        return Set(fields.lazy.filter { !$0.details }.map(\.name))
    }
}

extension [ContentIndex] {
    /// The number of an item's children in all of these lists; nil if there are none.
    func children(of item: String) -> Int? {
        let count = reduce(0) { $0 + $1.childCount(of: item) }
        return count == 0 ? nil : count
    }
}

extension ContentIndex {
    /// Answers a query; nil if it must be prepared in slices.
    ///
    /// Throws the host's errors.
    func answer(_ query: IndexQuery) throws(HostError) -> IndexPage? {
        do {
            return try page(of: query)
        } catch {
            throw HostError(error)
        }
    }
}
