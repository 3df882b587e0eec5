import Interfaces

extension Browser {
    /// Takes in a revision.
    ///
    /// - Throws: ``CommandFailure`` for one that does not lead on from what is here.
    mutating func take(_ reply: Screens.Open.Reply) throws -> [Effect] {
        let before = screen.model
        let choice = menuChoice
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
            screen.forgetChoicesOfParts()
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
        windows.take(changes, before: before, model, isNew: isNew || news.isWhole)
        layListsOut(news, changes, isNew: isNew)
        layThreadOut(isNew: model.focus != before.focus)
        startsAnew = false
        if model.focus.isEmpty, before.focus != "", pane == .thread {
            (pane, wantsEnd) = (.list, false)
        }
        if let message = reply.message { status.say(message) }
        if let lead = reply.lead { effects.append(.go(container: lead.container, item: lead.item)) }
        followMenu(choice)
        return effects + more()
    }

    /// Takes in a page of entries behind a window.
    mutating func take(page: [Tail.Entry], next: String?, of query: Tail.Query) -> [Effect] {
        guard windows.take(page: page, next: next, of: query, in: screen.model) else { return [] }
        if case .comments = query {
            layThreadOut(isNew: false)
        } else {
            lists.take(
                page.compactMap(\.item), of: query.component, screen.model, windows)
            if wantsEnd, pane == .list { lists.moveToEnd() }
            settle()
        }
        return more()
    }

    /// Takes in what was found in sections of filters.
    mutating func take(found filters: [Section.Filters], for question: FilterLookup.Question) {
        lookup.take(filters, for: question)
        if case .menu(var menu) = mode {
            menu.settle(choices(menu), height: areas.body - 1)
            mode = .menu(menu)
        }
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
        guard lists.take(news, changes, of: screen.model, windows, isNew: isNew) else { return }
        if wantsEnd, pane == .list {
            lists.moveToEnd()
            // From there on the cursor stays with its item.
            wantsEnd = lists.lists.contains { $0.hasMore || $0.items.count < $0.total }
        }
        settle()
    }

    /// Lays out what is known of the focus anew.
    mutating func layThreadOut(isNew: Bool) {
        let model = screen.model
        let found = model.focus.isEmpty ? nil : lists.item(model.focus)
        thread.take(
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
        settle()
    }

    /// Scrolls so that the cursors are in sight.
    mutating func settle() {
        let areas = areas
        lists.settle(height: areas.list)
        thread.settle(height: areas.thread)
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
