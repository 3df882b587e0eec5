import AtriumKit
import Index

// Reading lists: the index answers, with the predicates of the filters and the actor's own ballots.
extension Container {
    /// Reads a page of a list, with sections and counts if requested; all of it shows the same state.
    public func list(_ request: ListRequest, _ reply: @escaping Answer<ListPage>) {
        list(request, hasTurn: false, reply)
    }

    /// Does what ``list(_:_:)`` does; with `hasTurn` it is the user's turn, and the query may take long.
    private func list(
        _ request: ListRequest, hasTurn: Bool, _ reply: @escaping Answer<ListPage>
    ) {
        let chosen: (slot: Slot, list: ContentIndex)
        do throws(HostError) {
            chosen = try list(request.component, in: request.scope, request.mode)
            try check(request)
        } catch {
            return reply(.failure(error))
        }
        resolve(request.selection, offers: request.facets, by: request.user) { [self] result in
            switch result {
            case .failure(let error): reply(.failure(error))
            case .success(let sections):
                // Looked up by name: the component may have been made anew meanwhile.
                let slot = self.slot(chosen.slot.name) ?? chosen.slot
                if let asked = slot.asked {
                    return ask(asked, of: slot, request, sections, reply)
                }
                readPage(request, chosen.slot, sections, hasTurn: hasTurn, reply)
            }
        }
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

    private func check(_ request: ListRequest) throws(HostError) {
        try domain.limits.check(page: request.limit)
        try domain.limits.check(
            search: request.search, sort: request.sort, selection: request.selection)
        // Derived fields of the definition are not stored in items; those of votes and comments come with every item.
        let known =
            definition.fields.filter { $0.derivation == nil }.map(\.name) + DerivedValues.names
        if let unknown = request.fields?.first(where: { !known.contains($0) }) {
            throw .fieldUnknown(field: unknown, known: known)
        }
    }

    private func readPage(
        _ request: ListRequest, _ slot: Slot, _ sections: [ResolvedSection], hasTurn: Bool,
        attempt: Int = 1, _ reply: @escaping Answer<ListPage>
    ) {
        guard attempt <= 8 else { return reply(.failure(slot.tooBusy)) }
        do throws(HostError) {
            let (slot, list) = try self.list(slot.name)
            let query = query(request, slot, list, sections)
            guard hasTurn else {
                guard !list.isLong(query) else { return waitForTurn(request, reply) }
                return readPage(request, slot, sections, nil, attempt: attempt, reply)
            }
            prepare(query, in: list, of: slot) { [self] result in
                switch result {
                case .failure(let error): reply(.failure(error))
                case .success(let prepared):
                    readPage(request, slot, sections, prepared, attempt: attempt, reply)
                }
            }
        } catch {
            reply(.failure(error))
        }
    }

    /// Starts a call again when it may take long: while it waits it does not keep its sections in memory.
    private func waitForTurn(_ request: ListRequest, _ reply: @escaping Answer<ListPage>) {
        domain.queries.add(of: request.user, reply) { [self] reply in
            list(request, hasTurn: true, reply)
        }
    }

    /// Reads the page, with the ballots of the actor if one is named; all of it shows the same state.
    private func readPage(
        _ request: ListRequest, _ slot: Slot, _ sections: [ResolvedSection],
        _ prepared: QueryPreparation?, attempt: Int, _ reply: @escaping Answer<ListPage>
    ) {
        var page: Result<ListPage?, HostError> = .failure(slot.unavailable("It was detached."))
        withBallots(of: request.actor, by: request.user) { [self] in
            do throws(HostError) {
                let (slot, list) = try self.list(slot.name)
                let query = query(request, slot, list, sections)
                page = .success(try self.page(of: list, request, query, sections, prepared))
                if request.isPresented, var read = try page.get() {
                    read.presentation = ListPresentation(slot, in: self)
                    page = .success(read)
                }
            } catch {
                page = .failure(error)
            }
            return (try? page.get())?.items.map { .item($0.id) } ?? []
        } then: { [self] ballots in
            do throws(HostError) {
                // If the ballots can't be read, no page was read either.
                let ballots = try ballots.get()
                guard var answer = try page.get() else {
                    guard prepared != nil else { return waitForTurn(request, reply) }
                    return readPage(
                        request, slot, sections, hasTurn: true, attempt: attempt + 1, reply)
                }
                for (index, ballot) in ballots.enumerated()
                where index < answer.items.count {
                    answer.items[index].votes?.mine = ballot?.value
                }
                guard answer.items.count > Domain.much else { return reply(.success(answer)) }
                // In another turn of the loop, because writing the page as JSON takes as long as finding it.
                let page = answer
                domain.afterPoll { reply(.success(page)) }
            } catch {
                reply(.failure(error))
            }
        }
    }

    private func query(
        _ request: ListRequest, _ slot: Slot, _ list: ContentIndex, _ sections: [ResolvedSection]
    ) -> IndexQuery {
        let scope: ParentScope =
            switch request.parent {
            case nil: .all
            case "": .roots
            case .some(let parent): .under(parent)
            }
        return IndexQuery(
            parent: scope, sections: sections.map(\.query), search: request.search,
            sort: request.sort.isEmpty
                ? slot.order(of: list) : request.sort.map { SortKey($0) }, limit: request.limit,
            cursor: request.cursor, countsFacets: request.facets)
    }

    /// The page, from the prepared answer if there is one; nil if it must be prepared first, or again because it is
    /// out of date.
    private func page(
        of list: ContentIndex, _ request: ListRequest, _ query: IndexQuery,
        _ sections: [ResolvedSection], _ prepared: QueryPreparation?
    ) throws(HostError) -> ListPage? {
        defer { growOrders(of: list) }
        let found: IndexPage
        if let prepared {
            guard prepared.index === list, let answer = prepared.answer() else { return nil }
            found = list.page(of: answer)
        } else {
            guard let page = try list.answer(query) else { return nil }
            found = page
        }
        let fields = request.fields.map(Set.init) ?? definition.listedFields
        let nested = nested(in: list, scope: request.scope)
        return ListPage(
            items: found.rows.map { view($0, fields: fields, nested: nested) }, total: found.total,
            sections: request.facets ? sections.views(counts: found.counts) : nil,
            next: found.next, sequence: domain.sequence)
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
