import AtriumKit
import Index

// Lists of sources that are asked.
extension Container {
    func show(_ change: ContentChange, from slot: Slot) {
        pass(change, from: slot)
        screens?.changed()
    }

    func isInUse(_ item: String) -> Bool { screens?.holds(item) ?? false }

    func areGone(_ items: Set<String>) { screens?.areGone(items) }

    func listsChanged() { screens?.changed() }

    /// Fills the derived fields of a source that is asked; such a source never reports its items, so no one waits for
    /// that.
    func beginAsking(_ slot: Slot, then done: @escaping () -> Void) {
        guard let contents = slot.own.contents, !contents.isKnown else { return done() }
        contents.know()
        let list = contents.list
        let filled = { [self] in
            forget(list)
            done()
        }
        // Never cancelled, because others wait for its end.
        fillDerived(list, while: { true }, then: filled)
    }

    /// Asks the source for a page of a list.
    func ask(
        _ asked: AskedSource, of slot: Slot, _ request: ListRequest,
        _ sections: [ResolvedSection], _ reply: @escaping Answer<ListPage>
    ) {
        guard (request.cursor?.utf8.count ?? 0) <= ContentQuestion.cursorBytes else {
            return reply(.failure(.cursorInvalid("It is no cursor of this list.")))
        }
        asked.call(question(request, slot), for: request.user) { [self] result in
            switch result {
            case .failure(let failure): reply(.failure(failure.error))
            case .success(let answer): read(answer, of: slot, request, sections, reply)
            }
        }
    }

    private func question(_ request: ListRequest, _ slot: Slot) -> ContentQuestion {
        ContentQuestion(
            search: request.search ?? "", selection: request.selection,
            path: path(of: request, slot),
            sort: request.sort.isEmpty ? slot.definition.sort : request.sort,
            limit: request.limit, cursor: request.cursor)
    }

    /// The path to the item whose children are asked for, as a screen inside it would have it.
    private func path(of request: ListRequest, _ slot: Slot) -> [String] {
        guard let parent = request.parent, !parent.isEmpty else { return [] }
        let scope = self.scope(request.scope)
        let lists = modes(in: scope)?.isByMode ?? false ? self.lists(in: scope) : nil
        let source = lists.map { self.source(of: parent, among: $0) } ?? slot
        let way = source.map {
            self.way(to: parent, of: $0, among: lists, limit: domain.limits.screenPlaces)
        }
        return way.flatMap { $0.isEmpty ? nil : $0.map(\.item) } ?? [parent]
    }

    /// Makes the page of answered items, with the ballots of the actor if one is named.
    private func read(
        _ answer: AskedAnswer, of slot: Slot, _ request: ListRequest,
        _ sections: [ResolvedSection], _ reply: @escaping Answer<ListPage>
    ) {
        var page: Result<ListPage, HostError> = .failure(slot.unavailable("It was detached."))
        withBallots(of: request.actor, by: request.user) { [self] in
            page = Result { () throws(HostError) in
                try self.page(answer, of: slot.name, request, sections)
            }
            return (try? page.get())?.items.map { .item($0.id) } ?? []
        } then: { [domain] ballots in
            let result = Result { () throws(HostError) in
                let ballots = try ballots.get()
                var page = try page.get()
                for (index, ballot) in ballots.enumerated() where index < page.items.count {
                    page.items[index].votes?.mine = ballot?.value
                }
                return page
            }
            guard answer.ids.count > Domain.much else { return reply(result) }
            // In another turn of the loop, because writing the page as JSON takes as long as making it.
            domain.afterPoll { reply(result) }
        }
    }

    private func page(
        _ answer: AskedAnswer, of component: String, _ request: ListRequest,
        _ sections: [ResolvedSection]
    ) throws(HostError) -> ListPage {
        let (slot, list) = try self.list(component)
        let fields = request.fields.map(Set.init) ?? definition.listedFields
        let nested = nested(in: list, scope: request.scope)
        return ListPage(
            items: answer.ids.compactMap { list.item($0) }.map {
                view($0, fields: fields, nested: nested)
            },
            total: max(answer.total ?? 0, answer.ids.count),
            // No counts: the list has only what the source has answered lately, not all its items.
            sections: request.facets ? sections.views(counts: nil) : nil,
            next: answer.next, sequence: domain.sequence,
            presentation: request.isPresented ? ListPresentation(slot, in: self) : nil)
    }
}
