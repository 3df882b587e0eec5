import Foundation

/// Where an item stands in ``PackedItems``.
package struct ItemPlace: Sendable {
    /// That of a row which holds no item.
    static let none = ItemPlace(chunk: .max, start: 0)

    fileprivate var chunk: UInt32
    fileprivate var start: UInt32
}

/// The ids, parents and fields of items, one behind the other in long chunks of memory: an item
/// costs its bytes and a few more, and no memory of its own.
///
/// An item's place never changes by itself, and its bytes are never written again: whoever holds
/// the chunks may read them on any thread. One that goes leaves a hole; a chunk that is mostly
/// holes is written anew.
package struct PackedItems {
    /// An item's bytes, valid while its chunk is held.
    struct Entry {
        /// The row that it was put in for.
        var row = 0
        var id = UnsafeRawBufferPointer(start: nil, count: 0)
        /// Nil for a root.
        var parent: UnsafeRawBufferPointer?
        /// The fields as JSON.
        var fields = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    private static let chunkLength = 1 << 20

    private(set) var chunks: [ItemChunk] = []
    private var open = 0

    /// Keeps an item.
    mutating func append(
        row: Int, id: UnsafeRawBufferPointer, parent: UnsafeRawBufferPointer?,
        fields: UnsafeRawBufferPointer
    ) -> ItemPlace {
        let length = ItemChunk.length(id.count + (parent?.count ?? 0) + fields.count)
        if chunks.isEmpty || !chunks[open].hasRoom(for: length) { openChunk(for: length) }
        let start = chunks[open].append(row: row, id: id, parent: parent, fields: fields)
        return ItemPlace(chunk: UInt32(open), start: UInt32(start))
    }

    /// The item at a place; an empty one where there is none.
    @inline(__always)
    subscript(place: ItemPlace) -> Entry {
        guard place.chunk != .max else { return Entry() }
        return chunks[Int(place.chunk)].entry(at: Int(place.start))
    }

    /// Forgets the item at a place.
    ///
    /// Where that leaves mostly holes, what is left there moves; `places` are those of the rows.
    mutating func remove(_ place: ItemPlace, places: inout ContiguousArray<ItemPlace>) {
        let number = Int(place.chunk)
        let old = chunks[number]
        old.holes += ItemChunk.length(of: old.entry(at: Int(place.start)))
        guard old.holes * 2 > old.used, number != open || old.used * 2 > old.capacity else {
            return
        }
        let rest = old.used - old.holes
        let new = ItemChunk(capacity: number == open ? old.capacity : rest)
        old.visit { start, entry in
            guard places[entry.row].chunk == place.chunk, places[entry.row].start == start,
                start != place.start
            else { return }
            let moved = new.append(
                row: entry.row, id: entry.id, parent: entry.parent, fields: entry.fields)
            places[entry.row].start = UInt32(moved)
        }
        chunks[number] = new
    }

    private mutating func openChunk(for length: Int) {
        let chunk = ItemChunk(capacity: max(length, PackedItems.chunkLength))
        // One of which nothing is left gives its number to the new one.
        open = chunks.firstIndex { $0.used == 0 } ?? chunks.count
        if open == chunks.count { chunks.append(chunk) } else { chunks[open] = chunk }
    }
}

/// Some of the memory of ``PackedItems``.
///
/// It is appended to by one owner, who alone counts its holes. What others were given is
/// what had been written before, and that never changes: hence it may be shared.
final class ItemChunk: @unchecked Sendable {
    private static let header = 16

    let capacity: Int
    private(set) var used = 0
    /// How many bytes are of items that went.
    var holes = 0

    private let memory: UnsafeMutableRawPointer

    /// An empty chunk.
    init(capacity: Int) {
        self.capacity = capacity
        memory = .allocate(byteCount: max(capacity, 1), alignment: 16)
    }

    deinit { memory.deallocate() }

    /// How many bytes an item of so many takes.
    static func length(_ bytes: Int) -> Int { (header + bytes + 3) & ~3 }

    /// How many bytes an item takes.
    static func length(of entry: PackedItems.Entry) -> Int {
        length(entry.id.count + (entry.parent?.count ?? 0) + entry.fields.count)
    }

    /// Whether so many bytes have room.
    func hasRoom(for length: Int) -> Bool { used + length <= capacity }

    /// Keeps an item, for which there is room, and returns where it starts.
    func append(
        row: Int, id: UnsafeRawBufferPointer, parent: UnsafeRawBufferPointer?,
        fields: UnsafeRawBufferPointer
    ) -> Int {
        let start = used
        let head = memory + start
        head.storeBytes(of: UInt32(row), as: UInt32.self)
        head.storeBytes(of: UInt32(id.count), toByteOffset: 4, as: UInt32.self)
        let parentLength = parent.map { UInt32($0.count) } ?? .max
        head.storeBytes(of: parentLength, toByteOffset: 8, as: UInt32.self)
        head.storeBytes(of: UInt32(fields.count), toByteOffset: 12, as: UInt32.self)
        var place = start + ItemChunk.header
        for part in [id, parent ?? UnsafeRawBufferPointer(start: nil, count: 0), fields] {
            if let base = part.baseAddress {
                (memory + place).copyMemory(from: base, byteCount: part.count)
            }
            place += part.count
        }
        used = (place + 3) & ~3
        return start
    }

    /// The item that starts there.
    @inline(__always)
    func entry(at start: Int) -> PackedItems.Entry {
        let head = UnsafeRawPointer(memory + start)
        let id = Int(head.load(fromByteOffset: 4, as: UInt32.self))
        let parent = head.load(fromByteOffset: 8, as: UInt32.self)
        let parentLength = parent == .max ? 0 : Int(parent)
        let bytes = head + ItemChunk.header
        return PackedItems.Entry(
            row: Int(head.load(as: UInt32.self)),
            id: UnsafeRawBufferPointer(start: bytes, count: id),
            parent: parent == .max
                ? nil : UnsafeRawBufferPointer(start: bytes + id, count: parentLength),
            fields: UnsafeRawBufferPointer(
                start: bytes + id + parentLength,
                count: Int(head.load(fromByteOffset: 12, as: UInt32.self))))
    }

    /// Hands over all items, also those that went.
    func visit(_ body: (_ start: Int, PackedItems.Entry) -> Void) {
        var start = 0
        while start < used {
            let entry = entry(at: start)
            body(start, entry)
            start += ItemChunk.length(of: entry)
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The text, whose bytes are UTF-8.
    package var text: String { String(decoding: self, as: UTF8.self) }

    /// Whether both hold the same bytes.
    @inline(__always)
    func isSame(as other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard let own = baseAddress, let its = other.baseAddress else { return true }
        return memcmp(own, its, count) == 0
    }

    /// Below 0 when these bytes come first, above when the others do.
    @inline(__always)
    func compare(_ other: UnsafeRawBufferPointer) -> Int {
        if let own = baseAddress, let its = other.baseAddress {
            let order = memcmp(own, its, Swift.min(count, other.count))
            if order != 0 { return Int(order) }
        }
        return count - other.count
    }
}
