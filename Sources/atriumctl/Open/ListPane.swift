import Interfaces

/// The lists of a screen, one below the other, with a cursor on one of their items.
struct ListPane {
    /// One list.
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

    /// How many lines there are.
    var count: Int { lists.reduce(0) { $0 + length(of: $1) } }

    /// One list's header stands above the lines; of several each has its own among them.
    private var heads: Int { lists.count > 1 ? 2 : 0 }

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

    /// What an item of any of the lists is called; nil: there is none.
    func title(of item: String) -> String? {
        lists.lazy.compactMap { $0.columns.title(of: item) }.first
    }

    /// An item of any of the lists.
    func item(_ id: String) -> (item: Item, list: List)? {
        for list in lists {
            if let item = list.items.first(where: { $0.id == id }) { return (item, list) }
        }
        return nil
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
    mutating func settle(height: Int) {
        let height = max(1, height)
        cursor = max(0, min(cursor, count - 1))
        // The title and the header of a list are shown with its first item.
        let top = cursor == heads ? 0 : cursor
        if top < offset { offset = top }
        if cursor >= offset + height { offset = cursor - height + 1 }
        offset = max(0, min(offset, count - height))
    }

    // MARK: - What it shows

    /// Takes in lists that changed: the cursor stays on its item, and that where it stands in sight.
    mutating func take(_ lists: [List], isNew: Bool) {
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
