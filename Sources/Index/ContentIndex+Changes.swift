package import AtriumKit

// One row's change: what becomes of its columns, of the orders and of the log.
extension ContentIndex {
    /// Inserts or replaces an item.
    func put(_ item: Item, revision: Int64) {
        putting.spread(item.fields, over: columns)
        let isPut: Void? = written.take(item) { put(item, fields: $0, revision: revision) }
        guard isPut == nil else { return }
        putting.write(item.fields, under: columns)
        // The buffer is lent, not copied: a put writes the fields only to where they stay.
        let written = putting.written
        written.withUnsafeBytes { put(item, fields: $0, revision: revision) }
    }

    /// Inserts or replaces an item whose fields were spread.
    private func put(_ item: Item, fields written: UnsafeRawBufferPointer, revision: Int64) {
        let (row, former) = table.put(
            id: item.id, parent: item.parent, fields: written, revision: revision)
        var change = RowChange(
            row: row, id: former == nil ? nil : item.id, parent: former?.parent,
            isRoot: former?.isRoot ?? false)
        defer { record(change) }
        guard let former else {
            change.record([.presence, .parent])
            moved.record(item.id, under: item.parent)
            for column in putting.values.indices {
                set(putting.values[column], in: column, row: row, noting: &change)
            }
            fillDerived(row, for: item.id, noting: &change)
            noteChildren(of: item.id, in: row, wereRoots: true)
            return orders.insert(row)
        }
        if former.parent != item.parent {
            change.record(.parent)
            moved.record(item.id, under: item.parent, former.parent)
        }
        guard !former.hasSameFields else { return }
        for column in putting.values.indices {
            set(putting.values[column], in: column, row: row, noting: &change)
        }
    }

    /// Inserts or replaces items whose fields are written already.
    package func put(_ items: [WrittenItem]) {
        orders.willChange(items.count)
        defer { orders.willChange(0) }
        for item in items {
            putting.spread(item.item.fields, over: columns)
            item.fields.withUnsafeBytes {
                put(item.item, fields: $0, revision: item.revision)
            }
        }
        releaseTexts()
    }

    /// Removes an item, if there is such a one.
    func remove(_ id: String) {
        guard let row = table.row(of: id) else { return }
        orders.remove(row)
        var change = RowChange(
            row: row, id: id, parent: table.parent(of: row), isRoot: table.roots.contains(row),
            parts: [.presence, .parent])
        moved.record(table.id(of: row), under: table.parent(of: row))
        _ = table.remove(id)
        for column in fields.indices { set(nil, in: column, row: row, noting: &change) }
        for column in columns.numbered.indices.dropFirst(fields.count) {
            set(number: nil, in: column, row: row, noting: &change)
        }
        record(change)
        noteChildren(of: id, in: row, wereRoots: false)
    }

    /// An item came or went, and with it its children from the roots or to them.
    private func noteChildren(of id: String, in own: Int, wereRoots: Bool) {
        guard log.isActive, let rows = table.children[id] else { return }
        // Of more than the log holds nobody is to follow each.
        guard rows.count < ChangeLog.length else { return log.dropAll() }
        rows.visit { row in
            // One that names itself has a change of its own.
            guard row != own else { return }
            record(
                RowChange(
                    row: row, id: table.id(of: row), parent: table.parent(of: row),
                    isRoot: wereRoots, parts: .parent))
        }
    }

    /// Updates the derived values of an item.
    func refill(_ id: String) {
        guard let row = table.row(of: id) else { return }
        var change = RowChange(
            row: row, id: id, parent: table.parent(of: row), isRoot: table.roots.contains(row))
        fillDerived(row, for: id, noting: &change)
        record(change)
    }

    /// Makes the number of an item's comments this, the other derived values being as they were.
    func refill(_ id: String, comments: Int) {
        guard let row = table.row(of: id) else { return }
        var change = RowChange(
            row: row, id: id, parent: table.parent(of: row), isRoot: table.roots.contains(row))
        set(number: Double(comments), in: fields.count + 2, row: row, noting: &change)
        record(change)
    }

    private func fillDerived(_ row: Int, for id: String, noting change: inout RowChange) {
        let values = derived.values(of: id)
        let first = fields.count
        set(number: values.score, in: first, row: row, noting: &change)
        set(number: values.count, in: first + 1, row: row, noting: &change)
        set(number: values.comments, in: first + 2, row: row, noting: &change)
    }

    private func set(
        _ value: Value?, in column: Int, row: Int, noting change: inout RowChange
    ) {
        let isFollowed = isFollowed(change)
        if isFollowed {
            guard !columns.numbered[column].holds(value, row: row) else { return }
            prepare(column, row: row, noting: &change)
        }
        columns.numbered[column].set(value, row: row)
        if isFollowed, !change.parts.contains(.presence) { orders.insert(row, into: column) }
    }

    private func set(
        number: Double?, in column: Int, row: Int, noting change: inout RowChange
    ) {
        guard case .number(let numbers) = columns.numbered[column] else { return }
        let isFollowed = isFollowed(change)
        if isFollowed {
            guard !NumberColumn.isSame(numbers.number(of: row), number) else { return }
            prepare(column, row: row, noting: &change)
        }
        numbers.set(number, row: row)
        if isFollowed, !change.parts.contains(.presence) { orders.insert(row, into: column) }
    }

    /// Whether the values of a row before a change are needed; for a row that is added or removed, only live queries
    /// need them.
    private func isFollowed(_ change: RowChange) -> Bool {
        log.isActive || !orders.isEmpty && !change.parts.contains(.presence)
    }

    private func prepare(_ column: Int, row: Int, noting change: inout RowChange) {
        if log.isActive {
            change.record(column: column, before: columns.numbered[column].value(of: row))
        }
        if !change.parts.contains(.presence) { orders.remove(row, from: column) }
    }

    private func record(_ change: RowChange) {
        cache.markChanged(row: Int(change.row), of: table.count)
        if log.append(change) {
            for column in columns.numbered { column.age() }
        }
    }

    /// Releases texts that no row has any more; they are kept while a live query may still read them.
    func releaseTexts() {
        guard !log.isActive else { return }
        for column in columns.numbered { column.release() }
    }
}

/// An item whose fields are JSON already, sorted by name: as its record has them.
package struct WrittenItem: Sendable {
    package let item: Item
    let fields: [UInt8]
    /// The sequence of the entry that last changed it.
    package let revision: Int64

    /// An item, with its fields as JSON.
    package init(item: Item, fields: [UInt8], revision: Int64) {
        self.item = item
        self.fields = fields
        self.revision = revision
    }
}
