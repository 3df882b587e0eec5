import Interfaces

extension Browser {
    /// Takes in a revision.
    ///
    /// - Throws: ``CommandFailure`` for one that does not lead on from what is here.
    mutating func take(_ reply: Screens.Open.Reply) throws -> [Effect] {
        let before = model
        let choice = menuChoice
        let all = try root.apply(reply)
        if !part.isEmpty, !root.parts.contains(where: { $0.path == part }) {
            // What was being written would go to another container.
            if keepDraft() { status.say("what you were writing about is gone; c has your text") }
            show("")
        }
        // What is only a frame around others is not stood in.
        if part.isEmpty, component("contents") == nil, let first = parts.first { show(first) }
        let changes = all.filter { $0.part == part }
        let news = self.news(reply)
        var effects = outlinesWanted(reply)
        let isReconnected = status.reconnect()
        if let reset = reply.reset {
            status.say("started anew: \(reset)")
            limits = [:]
            // As it was: the daemon knows only what a screen is opened with.
            if part.isEmpty {
                effects += before.path.map { .call(.enter(item: $0)) }
                if !before.focus.isEmpty { effects.append(.call(.focus(before.focus))) }
            }
        } else if isReconnected {
            status.say("connected again")
        }
        if !startsAnew { highlights.add(changes, now: now) }
        let isElsewhere = model.path != before.path || model.scope != before.scope
        takeTails(changes, before: before, isNew: startsAnew || isElsewhere || news.isWhole)
        takeLists(news, changes, isNew: startsAnew || isElsewhere)
        layThreadOut(isNew: model.focus != before.focus)
        startsAnew = false
        if model.focus.isEmpty, before.focus != "", pane == .thread { pane = .list }
        if let message = reply.message { status.say(message) }
        if let lead = reply.lead { effects.append(.go(container: lead.container, item: lead.item)) }
        followMenu(choice)
        return effects + windows()
    }

    private mutating func takeTails(
        _ changes: [ScreenChange], before: ScreenModel, isNew: Bool
    ) {
        // Comments are not searched, filtered or sorted.
        if isNew { tails = tails.filter { if case .comments = $1.query { true } else { false } } }
        for (component, tail) in tails {
            func total(_ model: ScreenModel) -> Int {
                model.lists.first { $0.component == component }?.total ?? 0
            }
            var tail = tail
            tail.take(changes, isFull: total(model) >= total(before))
            tails[component] = tail
        }
    }

    mutating func takeLists(
        _ news: News, _ changes: [ScreenChange], isNew: Bool
    ) {
        let (isWhole, changed) = (news.isWhole, news.lists)
        let talks = Set(model.components.filter { $0.kind == "comments" }.map(\.name))
        guard isWhole || !changed.subtracting(talks).isEmpty else { return }
        var lists: [ListPane.List] = []
        for component in model.components where component.kind == "contents" && !component.hidden {
            let known = self.lists.lists.first { $0.component == component.name }
            let list = model.lists.first { $0.component == component.name }
            if let known, !isWhole, !changed.contains(component.name) {
                lists.append(known)
                continue
            }
            var columns =
                (isWhole ? nil : known?.columns)
                ?? ItemColumns(
                    fields: model.fields, present: component.present, derived: derived,
                    showsIDs: showsIDs)
            let items = (list?.items ?? []) + (tails[component.name]?.items ?? [])
            let isKnown = !isWhole && known != nil
            for item in isKnown ? Self.items(of: component.name, in: changes) : items {
                columns.take(item)
            }
            lists.append(
                .init(
                    component: component.name,
                    title: component.title.isEmpty ? component.name : component.title,
                    empty: component.empty, total: list?.total ?? 0,
                    hasMore: list?.hasMore == true, items: items,
                    columns: columns))
        }
        self.lists.take(lists, isNew: isNew)
        if let leaving, isNew {
            for list in lists { self.lists.select(.init(component: list.component, item: leaving)) }
        }
        if isNew { leaving = nil }
        if wantsEnd, pane == .list {
            self.lists.moveToEnd()
            // From there on the cursor stays with its item.
            wantsEnd = lists.contains { $0.hasMore || $0.items.count < $0.total }
        }
        settle()
    }

    private static func items(of component: String, in changes: [ScreenChange]) -> [Item] {
        changes.compactMap { change in
            guard change.component == component else { return nil }
            return switch change.edit {
            case .inserted(let entry, _), .updated(let entry, _): entry.item
            case .removed, .moved: nil
            }
        }
    }

    /// The columns that follow from votes and comments.
    private var derived: [String] {
        var keys: [String] = []
        let votes = model.components.first { $0.kind == "votes" }
        if votes?.votes?.subjects.contains(.items) == true {
            keys += ["votes.score", ItemColumns.mine]
        }
        let talk = model.components.first { $0.kind == "comments" }
        if talk?.comments?.subjects.contains(.items) == true { keys.append("comments.count") }
        return keys
    }

    /// Makes the columns anew, as with the ids.
    mutating func layListsOut() {
        let lists = lists.lists.map { list in
            var list = list
            let present = model.components.first { $0.name == list.component }?.present
            list.columns = ItemColumns(
                fields: model.fields, present: present, derived: derived, showsIDs: showsIDs)
            for item in list.items { list.columns.take(item) }
            return list
        }
        self.lists.take(lists, isNew: false)
        settle()
    }

    /// Lays out what is known of the focus anew.
    mutating func layThreadOut(isNew: Bool) {
        let layout = ThreadLayout(
            width: columns, folded: thread.folded, now: now, highlights: highlights)
        var blocks: [ThreadPane.Block] = []
        if !model.focus.isEmpty, let (item, list) = lists.item(model.focus) {
            let details = list.columns.details(of: item, beyond: model.details)
            blocks += [layout.block(details: details)].compactMap(\.self)
        }
        let comments = talk
        let (filled, own) = comments.filled(
            with: component("comments") == nil ? [] : model.held)
        thread.take(blocks + layout.blocks(filled) + layout.blocks(own), isNew: isNew)
        if let awaited, thread.choose(awaited, height: areas.thread) { self.awaited = nil }
        nextAge = WireTime.nextAge(of: (comments + own).map(\.created), now: now)
        if wantsEnd, pane == .thread {
            thread.moveToEnd(height: areas.thread)
            wantsEnd = model.lists.contains {
                $0.component == talkQuery?.component && mayGoOn($0, limit: limit(of: $0))
            }
        }
        settle()
    }

    /// Scrolls so that the cursors are in sight.
    mutating func settle() {
        let areas = areas
        lists.settle(height: areas.list)
        thread.settle(height: areas.thread)
    }

    // MARK: - Windows

    /// The most entries of a list that a screen has.
    static let mostEntries = 1000

    /// Asks for more of a list before its end is in sight.
    mutating func windows() -> [Effect] {
        guard mayGrow else { return [] }
        var effects: [Effect] = []
        for list in model.lists {
            let limit = limit(of: list)
            guard mayGoOn(list, limit: limit), isNearEnd(of: list) else { continue }
            if list.entries.count >= Self.mostEntries {
                effects += [page(after: list)].compactMap(\.self)
            } else if list.entries.count >= limit, limit < Self.mostEntries {
                let next = min(Self.mostEntries, max(limit * 2, rows * 4))
                limits[limitKey(list)] = next
                effects.append(.call(.resize(component: list.component, next)))
            }
        }
        return effects
    }

    private func limitKey(_ list: ScreenModel.List) -> String { "\(part)/\(list.component)" }

    /// How many entries of a list were asked for.
    private func limit(of list: ScreenModel.List) -> Int {
        limits[limitKey(list)] ?? (part.isEmpty ? firstLimit : Self.firstLimitOfParts)
    }

    private func isNearEnd(of list: ScreenModel.List) -> Bool {
        if list.component == component("comments")?.name {
            return thread.offset + rows * 2 >= thread.count
        }
        var end = 0
        for shown in lists.lists {
            end += max(1, shown.items.count) + (lists.lists.count > 1 ? 2 : 0)
            if shown.component == list.component { break }
        }
        return lists.offset + rows * 2 >= end
    }
}
