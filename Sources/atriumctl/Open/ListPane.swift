import Interfaces

/// The lists of a screen, one below the other, with a cursor on one of their items.
struct ListPane {
    struct List {
        var component: String
        var title: String
        var empty: String?
        var total: Int
        /// Whether there are more than that.
        var hasMore = false
        var items: [Item]
        var columns: ItemColumns
    }

    /// What a line shows.
    enum Line: Equatable {
        case title(list: Int)
        case header(list: Int)
        /// The line in place of the rows of an empty list.
        case empty(list: Int)
        case item(list: Int, at: Int)
    }

    /// Which item, of which list.
    struct Selected: Equatable {
        var component: String
        var item: String
    }

    private(set) var lists: [List] = []
    /// The line that it is on.
    private(set) var cursor = 0
    /// The first line in sight.
    private(set) var offset = 0
    /// Whether the items' ids have a column.
    private var showsIDs = false
    /// The titles of items that were entered or focused on, by id.
    private var names: [String: String] = [:]
    /// The item to select in the next other lists: its inside is being left.
    private var leaving: String?

    /// How many lines there are.
    var count: Int { lists.reduce(0) { $0 + length(of: $1) } }

    /// One list's header stands above the lines; of several each has its own among them.
    private var heads: Int { lists.count > 1 ? 2 : 0 }

    /// The rows above the lines.
    var headerRows: Int { heads == 0 ? 1 : 0 }

    private func length(of list: List) -> Int { heads + max(1, list.items.count) }

    /// What a line shows; nil behind the last.
    func line(_ index: Int) -> Line? {
        guard index >= 0 else { return nil }
        var rest = index
        for (number, list) in lists.enumerated() {
            if rest >= length(of: list) {
                rest -= length(of: list)
                continue
            }
            if rest < heads { return rest == 0 ? .title(list: number) : .header(list: number) }
            return list.items.isEmpty
                ? .empty(list: number) : .item(list: number, at: rest - heads)
        }
        return nil
    }

    /// The item under the cursor.
    var item: Item? {
        guard case .item(let list, let place)? = line(cursor) else { return nil }
        return lists[list].items[place]
    }

    /// The list that the cursor is in.
    var list: List? {
        switch line(cursor) {
        case .item(let list, _), .empty(let list), .title(let list), .header(let list): lists[list]
        case nil: lists.first
        }
    }

    /// Which item the cursor is on.
    var selected: Selected? {
        guard let list, let item else { return nil }
        return Selected(component: list.component, item: item.id)
    }

    /// What an item is called, also one that is in no list any more.
    func name(of item: String) -> String {
        lists.lazy.compactMap { $0.columns.title(of: item) }.first ?? names[item] ?? item
    }

    mutating func remember(_ item: String) { names[item] = name(of: item) }

    func item(_ id: String) -> (item: Item, list: List)? {
        for list in lists {
            if let item = list.items.first(where: { $0.id == id }) { return (item, list) }
        }
        return nil
    }

    /// Whether the end of a list is within so many lines from the first in sight.
    func isNearEnd(of component: String, within lines: Int) -> Bool {
        let last = lists.firstIndex { $0.component == component } ?? lists.count - 1
        return offset + lines >= lists.prefix(last + 1).reduce(0) { $0 + length(of: $1) }
    }

    // MARK: - Movement

    /// Moves the cursor by so many lines, over those that are no items.
    mutating func move(by lines: Int) { move(to: cursor + lines, lines < 0 ? -1 : 1) }

    mutating func moveToStart() { move(to: 0, 1) }

    mutating func moveToEnd() { move(to: count - 1, -1) }

    /// Moves the cursor to a line, if that is an item.
    mutating func point(at line: Int) {
        if case .item? = self.line(line) { cursor = line }
    }

    private mutating func move(to target: Int, _ step: Int) {
        let target = max(0, min(count - 1, target))
        for direction in [step, -step] {
            var index = target
            while let line = line(index) {
                if case .item = line {
                    cursor = index
                    return
                }
                index += direction
            }
        }
        cursor = target
    }

    /// Puts the cursor on an item, where it is here.
    mutating func select(_ wanted: Selected) {
        var start = 0
        for list in lists {
            if list.component == wanted.component,
                let place = list.items.firstIndex(where: { $0.id == wanted.item })
            {
                cursor = start + heads + place
                return
            }
            start += length(of: list)
        }
    }

    /// Scrolls so that the cursor is in sight of so many lines.
    mutating func scrollToCursor(height: Int) {
        let height = max(1, height)
        cursor = max(0, min(cursor, count - 1))
        // The title and the header of a list are shown with its first item.
        let top = cursor == heads ? 0 : cursor
        if top < offset { offset = top }
        if cursor >= offset + height { offset = cursor - height + 1 }
        offset = max(0, min(offset, count - height))
    }

    // MARK: - What it shows

    /// Has an item selected in the lists that its inside is left for; nil: none.
    mutating func leave(_ item: String?) { leaving = item }

    /// Applies a revision of the screen; `isNew`: the lists are others, so that the cursor goes to their start;
    /// returns whether it has lists.
    mutating func apply(
        _ news: ScreenParts.News, _ changes: [ScreenChange], of model: ScreenModel,
        _ windows: ListWindows, isNew: Bool
    ) -> Bool {
        let talks = Set(model.components.filter { $0.kind == "comments" }.map(\.name))
        guard news.isWhole || !news.lists.subtracting(talks).isEmpty else { return false }
        let shown = model.components.filter { $0.kind == "contents" && !$0.hidden }
        let lists = shown.map { component in
            let known = news.isWhole ? nil : self.lists.first { $0.component == component.name }
            if let known, !news.lists.contains(component.name) { return known }
            let list = model.list(component.name)
            let items = (list?.items ?? []) + windows.items(behind: component.name)
            var columns = known?.columns ?? columns(component.name, model)
            for item in known == nil ? items : changes.items(of: component.name) {
                columns.add(item)
            }
            return List(
                component: component.name,
                title: component.title.isEmpty ? component.name : component.title,
                empty: component.empty, total: list?.total ?? 0, hasMore: list?.hasMore == true,
                items: items, columns: columns)
        }
        replace(lists, isNew: isNew)
        if isNew {
            if let leaving {
                for list in lists { select(.init(component: list.component, item: leaving)) }
            }
            leaving = nil
        }
        return true
    }

    /// Adds a page of items, which are among those behind the window now.
    mutating func append(
        _ page: [Item], of component: String, _ model: ScreenModel, _ windows: ListWindows
    ) {
        let lists = lists.map { list in
            guard list.component == component else { return list }
            var list = list
            list.items = (model.list(component)?.items ?? []) + windows.items(behind: component)
            for item in page { list.columns.add(item) }
            return list
        }
        replace(lists, isNew: false)
    }

    /// Shows the items' ids, or hides them.
    mutating func toggleIDs(_ model: ScreenModel) {
        showsIDs.toggle()
        let lists = lists.map { list in
            var list = list
            list.columns = columns(list.component, model)
            for item in list.items { list.columns.add(item) }
            return list
        }
        replace(lists, isNew: false)
    }

    private func columns(_ component: String, _ model: ScreenModel) -> ItemColumns {
        ItemColumns(
            fields: model.fields,
            present: model.components.first { $0.name == component }?.present,
            derived: model.derivedColumns, showsIDs: showsIDs)
    }

    /// Shows lists in place of those before: the cursor stays on its item, and that where it stands in sight.
    private mutating func replace(_ lists: [List], isNew: Bool) {
        let (before, row, line) = (selected, cursor - offset, cursor)
        self.lists = lists
        guard !isNew else {
            (cursor, offset) = (0, 0)
            return moveToStart()
        }
        move(to: line, 1)
        guard let before else { return }
        select(before)
        offset = max(0, cursor - row)
    }
}

extension ScreenModel {
    /// The columns that follow from votes and comments.
    fileprivate var derivedColumns: [String] {
        var keys: [String] = []
        let votes = components.first { $0.kind == "votes" }
        if votes?.votes?.subjects.contains(.items) == true {
            keys += ["votes.score", ItemColumns.mine]
        }
        let talk = components.first { $0.kind == "comments" }
        if talk?.comments?.subjects.contains(.items) == true { keys.append("comments.count") }
        return keys
    }
}

extension [ScreenChange] {
    /// The items of a list that are new or other.
    fileprivate func items(of component: String) -> [Item] {
        filter { $0.component == component }.compactMap { change in
            switch change.edit {
            case .inserted(let entry, _), .updated(let entry, _): entry.item
            case .removed, .moved: nil
            }
        }
    }
}
