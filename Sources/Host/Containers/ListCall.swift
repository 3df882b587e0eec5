import AtriumKit
import Index

/// A call that reads a page of a list, with sections and counts if requested; all of it shows the same state.
///
/// Its stages, from top to bottom: the list, the predicates of the selected filters, the query, the page with the
/// actor's ballots, the reply. A query that may take long waits for its user's turn, and the call begins again then:
/// while it waits, its sections are not kept in memory. A source that is asked answers with its own page.
final class ListCall {
    private let request: ListRequest
    private let container: Container
    private let reply: Answer<ListPage>
    /// Whether somebody still waits for the reply.
    private let isAwaited: () -> Bool
    /// Whether it is the user's turn, so that the query may take long.
    private let hasTurn: Bool
    private var sections: [ResolvedSection] = []
    /// How many times the list changed before the prepared answer was read.
    private var attempt = 1
    private static let mostAttempts = 8

    init(
        _ request: ListRequest, of container: Container, hasTurn: Bool = false,
        while isAwaited: @escaping () -> Bool, _ reply: @escaping Answer<ListPage>
    ) {
        self.request = request
        self.container = container
        self.hasTurn = hasTurn
        self.isAwaited = isAwaited
        self.reply = reply
    }

    func run() {
        let chosen: Slot
        do throws(HostError) {
            chosen = try container.scopes.list(request.component, in: request.scope, request.mode)
                .slot
            try check()
        } catch {
            return fail(error)
        }
        container.filters.resolve(request.selection, offers: request.facets, by: request.user) {
            result in
            switch result {
            case .failure(let error): self.fail(error)
            case .success(let sections):
                self.sections = sections
                // Looked up by name: the component may have been made anew meanwhile.
                let slot = self.container.slot(chosen.name) ?? chosen
                if let asked = slot.asked { self.ask(asked, slot) } else { self.read(slot) }
            }
        }
    }

    private func check() throws(HostError) {
        let limits = container.domain.limits
        try limits.check(page: request.limit)
        try limits.check(
            search: request.search, sort: request.sort, selection: request.selection)
        // Derived fields of the definition are not stored in items; those of votes and comments come with every item.
        let known =
            container.definition.fields.filter { $0.derivation == nil }.map(\.name)
            + DerivedValues.names
        if let unknown = request.fields?.first(where: { !known.contains($0) }) {
            throw .fieldUnknown(field: unknown, known: known)
        }
    }

    private func fail(_ error: HostError) { reply(.failure(error)) }

    /// Waits for the user's turn, and begins again then.
    private func waitForTurn() {
        let (request, container, isAwaited) = (request, container, isAwaited)
        container.domain.queries.add(
            of: request.actor ?? request.user, while: isAwaited, reply
        ) { reply in
            ListCall(request, of: container, hasTurn: true, while: isAwaited, reply).run()
        }
    }

    // MARK: The query

    private func read(_ slot: Slot) {
        guard attempt <= Self.mostAttempts else { return fail(slot.tooBusy) }
        do throws(HostError) {
            let (slot, list) = try container.list(slot.name)
            let query = query(slot, list)
            guard hasTurn else {
                guard !query.isLong(in: list) else { return waitForTurn() }
                return read(slot, nil)
            }
            list.prepare(query, of: slot, while: isAwaited) { result in
                switch result {
                case .failure(let error): self.fail(error)
                case .success(let prepared): self.read(slot, prepared)
                }
            }
        } catch {
            fail(error)
        }
    }

    private func query(_ slot: Slot, _ list: ContentIndex) -> IndexQuery {
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

    /// Reads the page, with the ballots of the actor if one is named.
    private func read(_ slot: Slot, _ prepared: QueryPreparation?) {
        withBallots { () throws(HostError) in
            let (slot, list) = try self.container.list(slot.name)
            var page = try self.page(of: list, self.query(slot, list), prepared)
            if self.request.isPresented {
                page?.presentation = ListPresentation(slot, in: self.container)
            }
            return page
        } orElse: {
            guard prepared != nil else { return self.waitForTurn() }
            self.attempt += 1
            self.read(slot)
        }
    }

    /// The page, from the prepared answer if there is one; nil if it must be prepared first, or again because it is
    /// out of date.
    private func page(
        of list: ContentIndex, _ query: IndexQuery, _ prepared: QueryPreparation?
    ) throws(HostError) -> ListPage? {
        defer { list.growOrders(in: container.domain) }
        let found: IndexPage
        if let prepared {
            guard prepared.index === list, let answer = prepared.answer() else { return nil }
            found = IndexPage(answer)
        } else {
            guard let page = try list.answer(query) else { return nil }
            found = page
        }
        return ListPage(
            items: views(of: found.rows, in: list), total: found.total,
            sections: request.facets ? sections.views(counts: found.counts) : nil,
            next: found.next, sequence: container.domain.commits.sequence)
    }

    private func views(of rows: [IndexedItem], in list: ContentIndex) -> [ItemView] {
        let fields = request.fields.map(Set.init) ?? container.definition.listedFields
        let nested = container.contents.nested(in: list, scope: request.scope)
        let derived = container.derived
        return rows.map { ItemView($0, fields: fields, nested: nested, derived: derived) }
    }

    // MARK: The reply

    /// Replies with a page and the actor's ballots, both of one moment; if the page can't be made, calls `again`
    /// instead.
    private func withBallots(
        _ make: @escaping () throws(HostError) -> ListPage?, orElse again: @escaping () -> Void
    ) {
        var page: Result<ListPage?, HostError> = .success(nil)
        container.votes.withBallots(of: request.actor, by: request.user) {
            page = Result(catching: make)
            return (try? page.get())?.items.map { .item($0.id) } ?? []
        } then: { ballots in
            do throws(HostError) {
                // If the ballots can't be read, no page was made either.
                let ballots = try ballots.get()
                guard var answer = try page.get() else { return again() }
                for (index, ballot) in ballots.enumerated() where index < answer.items.count {
                    answer.items[index].votes?.mine = ballot?.value
                }
                guard answer.items.count > Slices.much else { return self.reply(.success(answer)) }
                // In another turn of the loop, because writing the page as JSON takes as long as finding it.
                let page = answer
                self.container.domain.timers.afterPoll { self.reply(.success(page)) }
            } catch {
                self.fail(error)
            }
        }
    }

    // MARK: Sources that are asked

    /// Asks the source for the page.
    private func ask(_ asked: AskedSource, _ slot: Slot) {
        guard (request.cursor?.utf8.count ?? 0) <= ContentQuestion.cursorBytes else {
            return fail(.cursorInvalid("It is no cursor of this list."))
        }
        let question = ContentQuestion(
            search: request.search ?? "", selection: request.selection, path: path(in: slot),
            sort: request.sort.isEmpty ? slot.definition.sort : request.sort,
            limit: request.limit, cursor: request.cursor)
        asked.call(question, for: request.user) { result in
            switch result {
            case .failure(let failure): self.fail(failure.error)
            case .success(let answer):
                self.withBallots { () throws(HostError) in
                    try self.page(answer, of: slot.name)
                } orElse: {
                    self.fail(slot.unavailable("It was detached."))
                }
            }
        }
    }

    /// The path to the item whose children are asked for, as a screen inside it would have it.
    private func path(in slot: Slot) -> [String] {
        guard let parent = request.parent, !parent.isEmpty else { return [] }
        let scope = container.scopes[request.scope]
        let lists =
            container.scopes.modes(in: scope)?.isByMode ?? false
            ? container.scopes.lists(in: scope) : nil
        let source = lists.map { container.scopes.source(of: parent, among: $0) } ?? slot
        let limit = container.domain.limits.screenPlaces
        let way = source.map {
            container.scopes.path(to: parent, of: $0, among: lists, limit: limit)
        }
        return way.flatMap { $0.isEmpty ? nil : $0.map(\.item) } ?? [parent]
    }

    private func page(
        _ answer: AskedAnswer, of component: String
    ) throws(HostError) -> ListPage {
        let (slot, list) = try container.list(component)
        return ListPage(
            items: views(of: answer.ids.compactMap { list.item($0) }, in: list),
            total: max(answer.total ?? 0, answer.ids.count),
            // No counts: the list has only what the source has answered lately, not all its items.
            sections: request.facets ? sections.views(counts: nil) : nil,
            next: answer.next, sequence: container.domain.commits.sequence,
            presentation: request.isPresented ? ListPresentation(slot, in: container) : nil)
    }
}
