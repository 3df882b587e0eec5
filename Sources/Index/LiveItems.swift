/// Some items of an index in a given order, kept up to date.
///
/// Items that don't exist are left out until they are added. It notifies its ``holder`` when an item changes, and the
/// holder lets it advance; until then its content stays the same.
package final class LiveItems: LiveReader {
    /// The ids of the items, in order, each once.
    package let ids: ArraySlice<String>
    /// The items of these ids that exist.
    package private(set) var window: [IndexedItem] = []
    /// The owner, which calls `advance()` after changes.
    package weak var holder: (any LiveQueryHolder)?

    private let index: ContentIndex
    private var number = -1
    private var rows: [Int32] = []
    /// Whether all of the items exist; if so, an item that is added to the index does not affect it.
    private var isComplete = true
    private var isStale = false
    private var position: UInt64 = 0

    package init(_ ids: ArraySlice<String>, in index: ContentIndex) {
        self.ids = ids
        self.index = index
        index.startLogging()
        join()
        _ = refresh()
    }

    deinit {
        leave()
        index.stopLogging()
    }

    func markStale(from start: UInt64, to end: UInt64) -> Bool {
        guard !isStale, position < end else { return false }
        position = max(position, start)
        isStale = true
        return true
    }

    /// Brings it up to the index's present state; returns whether it shows anything else than it did.
    package func advance() -> Bool {
        guard isStale else {
            position = max(position, index.live.position)
            return false
        }
        isStale = false
        index.live.advanced(number)
        return refresh()
    }

    /// Reads the items again; returns whether the window changed.
    private func refresh() -> Bool {
        position = index.log.end
        for row in rows { index.live.forget(row, by: number) }
        rows = ids.compactMap { index.table.row(of: $0).map(Int32.init) }
        if (rows.count == ids.count) != isComplete {
            leave()
            isComplete.toggle()
            join()
        }
        for row in rows { index.live.know(row, by: number) }
        let old = window
        window = rows.map { index.item(row: Int($0)) }
        return window != old
    }

    private func join() {
        number = index.live.join(self, parts: isComplete ? [] : .presence)
    }

    private func leave() {
        index.live.leave(number, isStale: isStale, knowing: rows)
    }
}
