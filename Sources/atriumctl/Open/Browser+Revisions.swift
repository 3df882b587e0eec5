import Interfaces

extension Browser {
    /// Applies a revision; throws for one that does not lead on from what is here.
    mutating func apply(_ reply: Screens.Open.Reply) throws -> [Effect] {
        let before = screen.model
        let choice: Menu.Choice? =
            if case .menu(let menu) = mode { offered.chosen(in: menu) } else { nil }
        let all = try screen.apply(reply)
        // What was being written would go to another container.
        if screen.isGone, keepDraft() {
            status.say("what you were writing about is gone; c has your text")
        }
        show(screen.wanted)
        let changes = all.filter { $0.part == screen.part }
        let news = screen.news(reply)
        var effects: [Effect] = screen.described(by: reply).map { .call(.describe(container: $0)) }
        let isReconnected = status.reconnect()
        if let reset = reply.reset {
            status.say("started anew: \(reset)")
            windows.resetLimits()
            // As it was: the daemon knows only what a screen is opened with.
            if screen.part.isEmpty {
                effects += before.path.map { .call(.enter(item: $0)) }
                if !before.focus.isEmpty { effects.append(.call(.focus(before.focus))) }
            }
        } else if isReconnected {
            status.say("connected again")
        }
        for news in reply.parts ?? [] where news.new == true || news.gone == true {
            windows.resetLimits(of: news.part)
        }
        if !startsAnew { highlights.add(changes, now: now) }
        let model = screen.model
        let isNew = startsAnew || model.path != before.path || model.scope != before.scope
        windows.apply(changes, before: before, model, isNew: isNew || news.isWhole)
        layListsOut(news, changes, isNew: isNew)
        layThreadOut(isNew: model.focus != before.focus)
        startsAnew = false
        if model.focus.isEmpty, before.focus != "", pane == .thread {
            (pane, wantsEnd) = (.list, false)
        }
        if let message = reply.message { status.say(message) }
        if let lead = reply.lead { effects.append(.go(container: lead.container, item: lead.item)) }
        changeMenu { $0.follow(choice, $1, height: $2) }
        return effects + more()
    }

    /// Adds a page of entries behind a window.
    mutating func receive(page: [Tail.Entry], next: String?, of query: Tail.Query) -> [Effect] {
        guard windows.append(page: page, next: next, of: query, in: screen.model) else { return [] }
        if case .comments = query {
            layThreadOut(isNew: false)
        } else {
            lists.append(
                page.compactMap(\.item), of: query.component, screen.model, windows)
            if wantsEnd, pane == .list { lists.moveToEnd() }
            scrollToCursors()
        }
        return more()
    }

    /// Adds what was found in sections of filters.
    mutating func receive(found filters: [Section.Filters], for question: FilterLookup.Question) {
        lookup.add(filters, for: question)
        changeMenu { $0.adjustCursor($1, height: $2) }
    }

    /// Shows another part.
    mutating func show(_ part: String) {
        guard screen.select(part) else { return }
        windows.dropPages()
        lookup = FilterLookup()
        lists.leave(nil)
        (pane, startsAnew, wantsEnd) = (.list, false, false)
        layListsOut(.init(isWhole: true, lists: []), [], isNew: true)
        layThreadOut(isNew: true)
    }

    private mutating func layListsOut(
        _ news: ScreenParts.News, _ changes: [ScreenChange], isNew: Bool
    ) {
        guard lists.apply(news, changes, of: screen.model, windows, isNew: isNew) else { return }
        if wantsEnd, pane == .list {
            lists.moveToEnd()
            // From there on the cursor stays with its item.
            wantsEnd = lists.lists.contains { $0.hasMore || $0.items.count < $0.total }
        }
        scrollToCursors()
    }

    /// Lays out what is known of the focus anew.
    mutating func layThreadOut(isNew: Bool) {
        let model = screen.model
        let found = model.focus.isEmpty ? nil : lists.item(model.focus)
        thread.update(
            windows.talk(in: screen),
            held: screen.component("comments") == nil ? [] : model.held,
            details: found.map { $0.list.columns.details(of: $0.item, beyond: model.details) }
                ?? [],
            ThreadLayout(width: columns, folded: thread.folded, now: now, highlights: highlights),
            isNew: isNew)
        thread.chooseAwaited(height: areas.thread)
        if wantsEnd, pane == .thread {
            thread.moveToEnd(height: areas.thread)
            wantsEnd = screen.threadList.map { windows.mayGoOn($0, in: screen) } ?? false
        }
        scrollToCursors()
    }

    /// Scrolls so that the cursors are in sight.
    mutating func scrollToCursors() {
        let areas = areas
        lists.scrollToCursor(height: areas.list)
        thread.limitOffset(height: areas.thread)
    }

    /// Asks for more of the lists whose end is nearly in sight.
    mutating func more() -> [Effect] {
        screen.model.lists.filter { list in
            list.component == screen.threadList?.component
                ? thread.isNearEnd(within: rows * 2)
                : lists.isNearEnd(of: list.component, within: rows * 2)
        }.compactMap { windows.more(of: $0, in: screen, rows: rows) }.map { .call($0) }
    }
}
