package import AtriumKit
import JSONCodec

/// Items as they stood in the store, in the memory that the list has them in.
package final class RecordItems: RestoredItems, Sendable {
    private let items: PackedItems
    /// In the order of the ids' bytes.
    private let places: ContiguousArray<ItemPlace>

    /// Items that stand in these places, in the order of their ids' bytes.
    package init(_ items: PackedItems, places: ContiguousArray<ItemPlace>) {
        self.items = items
        self.places = places
    }

    package var count: Int { places.count }

    package func contains(_ id: String) -> Bool { entry(id) != nil }

    package func item(_ id: String) -> Item? { entry(id).flatMap(item) }

    /// The item at a place of their order; nil where the fields' JSON, which was read before, can't
    /// be read any more.
    package func item(at place: Int) -> Item? { item(items[places[place]]) }

    private func entry(_ id: String) -> PackedItems.Entry? {
        var id = ItemID.isNormal(id) ? id : id.precomposed
        return id.withUTF8 { id in
            let id = UnsafeRawBufferPointer(id)
            var (low, high) = (0, places.count)
            while low < high {
                let middle = (low + high) / 2
                let isBefore = items[places[middle]].id.compare(id) < 0
                if isBefore { low = middle + 1 } else { high = middle }
            }
            guard low < places.count else { return nil }
            let entry = items[places[low]]
            return entry.id.isSame(as: id) ? entry : nil
        }
    }

    private func item(_ entry: PackedItems.Entry) -> Item? {
        guard let fields: [String: Value] = try? JSON.decode(from: entry.fields) else { return nil }
        return Item(id: entry.id.text, fields: fields, parent: entry.parent?.text)
    }
}
