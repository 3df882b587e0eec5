package import AtriumKit
import JSONCodec

/// Items as they stood in the store, in the memory that the list has them in.
package final class RecordItems: RestoredItems, Sendable {
    /// The number of items of which only the first one's place is kept; the others follow it in memory.
    static let span = 16

    private let items: PackedItems
    /// The places of some items, in the order of the ids' bytes.
    private let marks: ContiguousArray<ItemPlace>
    private let ends: ContiguousArray<Int>
    package let count: Int

    /// Creates a list of items that lie one behind the other, in the order of their ids' bytes, with the place of
    /// each ``span``-th one; items added there later come behind them.
    package init(_ items: PackedItems, marks: ContiguousArray<ItemPlace>, count: Int) {
        (self.items, self.marks, self.count) = (items, marks, count)
        ends = items.ends
    }

    package func contains(_ id: String) -> Bool { entry(id) != nil }

    package func item(_ id: String) -> Item? { entry(id).flatMap(item) }

    /// The item at a place of their order; nil where the fields' JSON, which was read before, can't
    /// be read any more.
    package func item(at place: Int) -> Item? {
        var found = marks[place / Self.span]
        for _ in 0..<place % Self.span { found = items.place(after: found, ends: ends) }
        return item(items[found])
    }

    private func entry(_ id: String) -> PackedItems.Entry? {
        var id = ItemID.isNormal(id) ? id : id.precomposed
        return id.withUTF8 { id in
            let id = UnsafeRawBufferPointer(id)
            // The first mark that is behind the id.
            var (low, high) = (0, marks.count)
            while low < high {
                let middle = (low + high) / 2
                let isBehind = items[marks[middle]].id.compare(id) > 0
                if isBehind { high = middle } else { low = middle + 1 }
            }
            guard low > 0 else { return nil }
            var place = marks[low - 1]
            var left = min(Self.span, count - (low - 1) * Self.span)
            while true {
                let entry = items[place]
                let order = entry.id.compare(id)
                guard order < 0 else { return order == 0 ? entry : nil }
                left -= 1
                guard left > 0 else { return nil }
                place = items.place(after: place, ends: ends)
            }
        }
    }

    private func item(_ entry: PackedItems.Entry) -> Item? {
        guard let fields: [String: Value] = try? JSON.decode(from: entry.fields) else { return nil }
        return Item(id: entry.id.text, fields: fields, parent: entry.parent?.text)
    }
}
