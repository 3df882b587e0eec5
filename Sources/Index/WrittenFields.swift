package import AtriumKit
import JSONCodec

/// The fields of items that are about to be put into a list, as their records have them: the list need not write them
/// once more.
///
/// Each is for the very item whose record was written, which shares the memory of its fields. For any other one, such as
/// one that a delegate changed, the list writes the fields itself.
package struct WrittenFields: Sendable {
    private struct Entry: Sendable {
        let item: Item
        /// Its record, as JSON sorted by name.
        let record: [UInt8]
        /// The range of its fields in the record.
        let range: Range<Int>

        init(_ item: Item) {
            self.item = item
            var json = JSONWriter()
            json.beginObject()
            json.key("fields")
            let start = json.count
            item.fields.write(to: &json)
            range = start..<json.count
            if let parent = item.parent {
                json.key("parent")
                json.string(parent)
            }
            json.endObject()
            record = json.bytes
        }
    }

    private var entries: [Entry] = []
    /// Items are mostly put in the order in which their records were written.
    private var next = 0
    /// The entries that were written before it was known which items change, in order; those before the place are used,
    /// or not needed.
    private var ahead: [Entry] = []
    private var aheadPlace = 0

    package init() {}

    /// Writes the records of items before it is known which of them change; probably all do.
    package init(ahead items: [Item]) { ahead = items.map(Entry.init) }

    /// Reserves room for the fields of this many items.
    package mutating func reserve(_ count: Int) { entries.reserveCapacity(count) }

    /// Drops the entries that were written ahead and not used.
    package mutating func dropAhead() { (ahead, aheadPlace) = ([], 0) }

    /// Writes the value of an item's record, as JSON sorted by name; nil where the record has more members than an
    /// item's: then nothing is written.
    package mutating func write(_ change: Change) -> [UInt8]? {
        guard case .put(let key, .object(let object)) = change,
            let item = Item(key: key, value: .object(object)),
            object.count == (item.parent == nil ? 1 : 2)
        else { return nil }
        let entry = takeAhead(item) ?? Entry(item)
        entries.append(entry)
        return entry.record
    }

    /// The item's entry if it was written ahead.
    ///
    /// Entries that are passed over are those of items that don't change.
    private mutating func takeAhead(_ item: Item) -> Entry? {
        while aheadPlace < ahead.count {
            let entry = ahead[aheadPlace]
            aheadPlace += 1
            if entry.item.id == item.id {
                let isSame =
                    entry.item.parent == item.parent
                    && entry.item.fields.isIdentical(to: item.fields)
                return isSame ? entry : nil
            }
        }
        return nil
    }

    /// Passes the fields of the next item to the body, and returns its result, if they are written; each item's only
    /// once.
    mutating func take<R>(_ item: Item, _ body: (UnsafeRawBufferPointer) -> R) -> R? {
        guard next < entries.count else { return nil }
        let entry = entries[next]
        guard entry.item.id == item.id, entry.item.fields.isIdentical(to: item.fields) else {
            return nil
        }
        next += 1
        if next == entries.count { self = WrittenFields() }
        return entry.record.withUnsafeBytes {
            body(UnsafeRawBufferPointer(rebasing: $0[entry.range]))
        }
    }
}

extension [String: Value] {
    /// Whether both share their memory, so that they are the same down to the last byte.
    fileprivate func isIdentical(to other: Self) -> Bool {
        unsafeBitCast(self, to: UInt.self) == unsafeBitCast(other, to: UInt.self)
    }
}

/// An item whose fields are JSON already, sorted by name: as its record has them.
package struct WrittenItem: Sendable {
    package let item: Item
    let fields: [UInt8]
    /// The sequence of the entry that last changed it.
    package let revision: Int64

    package init(item: Item, fields: [UInt8], revision: Int64) {
        self.item = item
        self.fields = fields
        self.revision = revision
    }
}
