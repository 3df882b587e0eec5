import Interfaces

// What only asks, and changes nothing.
extension RequestPerformer {
    /// The answer to a question; nil: the request is none.
    func answer(to next: Pending, _ session: Session) async throws -> EventQueue.Event? {
        switch next.request {
        case .page(.items(let query), let cursor, let behind):
            try await page(query, cursor, behind, next.container, session)
        case .page(.comments(let component, let item), let cursor, let behind):
            try await replies(component, item, cursor, behind, next.container, session)
        case .find(let question): try await find(question, next.container, session)
        case .queue(let component): try await queue(component, next.container, session)
        case .describe(let container):
            .outline(
                ContainerOutline(
                    try await session.describe(container).container), of: container)
        case .select, .deselect, .clear, .search, .sort, .scope, .enter, .back, .focus, .setHidden,
            .activate, .resize, .vote, .unvote, .post, .edit, .delete, .moderate:
            nil
        }
    }

    /// Fetches a page of items; the first is that behind the window.
    private func page(
        _ query: Tail.Query.Items, _ cursor: String?, _ behind: Int, _ container: String,
        _ session: Session
    ) async throws -> EventQueue.Event {
        var parameters = Contents.List.Parameters(
            container: container, component: query.component, scope: query.scope,
            parent: query.parent, filters: query.filters, search: query.search, sort: query.sort,
            actor: actor, limit: cursor == nil ? behind : ListWindows.mostEntries, cursor: cursor)
        var reply = try await session.call(Contents.List.self, parameters)
        if cursor == nil {
            guard let next = reply.next else { return .page([], next: nil, of: .items(query)) }
            (parameters.cursor, parameters.limit) = (next, ListWindows.mostEntries)
            reply = try await session.call(Contents.List.self, parameters)
        }
        return .page(reply.items.map { .item($0) }, next: reply.next, of: .items(query))
    }

    /// Fetches a page of comments; the first is that behind the window.
    private func replies(
        _ component: String, _ item: String?, _ cursor: String?, _ behind: Int,
        _ container: String, _ session: Session
    ) async throws -> EventQueue.Event {
        let query = Tail.Query.comments(component: component, item: item)
        var parameters = Comments.Thread.Parameters(
            container: container, item: item, component: component,
            limit: cursor == nil ? behind : ListWindows.mostEntries, cursor: cursor, actor: actor)
        var reply = try await session.call(Comments.Thread.self, parameters)
        if cursor == nil {
            guard let next = reply.next else { return .page([], next: nil, of: query) }
            (parameters.cursor, parameters.limit) = (next, ListWindows.mostEntries)
            reply = try await session.call(Comments.Thread.self, parameters)
        }
        return .page(reply.comments.map { .comment($0) }, next: reply.next, of: query)
    }

    /// Looks through the comments that wait until there are enough to show, or no more.
    private func queue(
        _ component: String, _ container: String, _ session: Session
    ) async throws -> EventQueue.Event {
        var parameters = Comments.Pending.Parameters(
            container: container, component: component, limit: ModerationQueue.most)
        var queue = ModerationQueue(component: component, comments: [], total: 0)
        for _ in 0..<ModerationQueue.mostPages {
            let reply = try await session.call(Comments.Pending.self, parameters)
            queue.comments += reply.comments.map { .init(comment: $0.comment, item: $0.item) }
            queue.total = reply.total
            guard reply.next != nil, queue.comments.count < ModerationQueue.most else { break }
            (parameters.cursor, parameters.limit) = (reply.next, ListWindows.mostEntries)
        }
        queue.comments = Array(queue.comments.prefix(ModerationQueue.most))
        return .queue(queue)
    }

    private func find(
        _ question: FilterLookup.Question, _ container: String, _ session: Session
    ) async throws -> EventQueue.Event {
        let reply = try await session.call(
            Interfaces.Filters.List.self,
            .init(
                container: container, filters: question.filters, search: question.search,
                scope: question.scope, section: question.section, text: question.text))
        let filters = reply.sections.first { $0.id == question.section }?.filters ?? []
        return .found(filters, for: question)
    }
}
