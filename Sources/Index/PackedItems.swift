import Foundation

/// The place of an item in ``PackedItems``.
package struct ItemPlace: Sendable {
    /// The place of a row that holds no item.
    static let none = ItemPlace(chunk: .max, start: 0)

    fileprivate var chunk: UInt32
    fileprivate var start: UInt32
}

/// The ids, parents and fields of items, one behind the other in long chunks of memory: an item costs its bytes and a
/// few more, and no memory of its own.
///
/// An item's place never changes by itself, and its bytes are never written again: an owner of the chunks may read them
/// on any thread. A removed item leaves a hole; a chunk that is mostly holes is written anew.
package struct PackedItems {
    /// An item's bytes, valid while its chunk is held.
    struct Entry {
        /// The row that it was put in for.
        var row = 0
        var id = UnsafeRawBufferPointer(start: nil, count: 0)
        /// The id of the parent; nil for a root.
        var parent: UnsafeRawBufferPointer?
        /// The fields as JSON.
        var fields = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    private static let chunkLength = 1 << 20

    private(set) var chunks: [ItemChunk] = []
    private var open = 0

    /// Adds an item.
    mutating func append(
        row: Int, id: UnsafeRawBufferPointer, parent: UnsafeRawBufferPointer?,
        fields: UnsafeRawBufferPointer
    ) -> ItemPlace {
        let length = ItemChunk.length(id: id, parent: parent, fields: fields)
        if chunks.isEmpty || !chunks[open].hasRoom(for: length) { openChunk(for: length) }
        let start = chunks[open].append(row: row, id: id, parent: parent, fields: fields)
        return ItemPlace(chunk: UInt32(open), start: UInt32(start))
    }

    var ends: ContiguousArray<Int> { ContiguousArray(chunks.lazy.map(\.used)) }

    /// Returns the place of the item that was added after another one, by ``ends`` of some later time; valid while
    /// none was removed.
    func place(after place: ItemPlace, ends: ContiguousArray<Int>) -> ItemPlace {
        let end = chunks[Int(place.chunk)].end(of: Int(place.start))
        return end < ends[Int(place.chunk)]
            ? ItemPlace(chunk: place.chunk, start: UInt32(end))
            : ItemPlace(chunk: place.chunk + 1, start: 0)
    }

    /// The item at a place; an empty one where there is none.
    @inline(__always)
    subscript(place: ItemPlace) -> Entry {
        guard place.chunk != .max else { return Entry() }
        return chunks[Int(place.chunk)].entry(at: Int(place.start))
    }

    /// Removes the item at a place.
    ///
    /// If its chunk is then mostly holes, the other items of the chunk move; `places` are the places of the rows, which
    /// are updated.
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
/// Only its owner appends to it and counts its holes. Other threads read only bytes that were written before they got
/// the chunk and never change, so it may be shared.
final class ItemChunk: @unchecked Sendable {
    /// The header before an item's bytes: its row and its three lengths.
    ///
    /// The lengths take 32 bits together if the fields have less than 65,535 bytes, the id at most 255 and the parent
    /// at most 254, of which 0 stands for none. Otherwise that number is ``long``, and each length follows in 32 bits.
    private struct Header {
        static let long = UInt32.max

        var row: UInt32
        var id: Int
        /// -1 for a root.
        var parent: Int
        var fields: Int

        /// The number of bytes of the item.
        var bytes: Int { id + max(parent, 0) + fields }

        /// The number of bytes of the header.
        var length: Int { isShort ? 8 : 20 }

        private var isShort: Bool { id < 0x100 && parent < 0xFF && fields < 0xFFFF }

        init(row: UInt32, id: Int, parent: Int, fields: Int) {
            (self.row, self.id, self.parent, self.fields) = (row, id, parent, fields)
        }

        @inline(__always)
        init(at memory: UnsafeRawPointer) {
            row = memory.loadUnaligned(as: UInt32.self)
            let lengths = memory.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
            if lengths != Self.long {
                id = Int(lengths & 0xFF)
                parent = Int(lengths >> 8 & 0xFF) - 1
                fields = Int(lengths >> 16)
            } else {
                id = Int(memory.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
                let parent = memory.loadUnaligned(fromByteOffset: 12, as: UInt32.self)
                self.parent = parent == .max ? -1 : Int(parent)
                fields = Int(memory.loadUnaligned(fromByteOffset: 16, as: UInt32.self))
            }
        }

        func write(to memory: UnsafeMutableRawPointer) {
            memory.storeBytes(of: row, as: UInt32.self)
            guard !isShort else {
                let lengths = UInt32(id) | UInt32(parent + 1) << 8 | UInt32(fields) << 16
                return memory.storeBytes(of: lengths, toByteOffset: 4, as: UInt32.self)
            }
            let own = parent < 0 ? UInt32.max : UInt32(parent)
            for (place, length) in [Self.long, UInt32(id), own, UInt32(fields)].enumerated() {
                memory.storeBytes(of: length, toByteOffset: 4 + 4 * place, as: UInt32.self)
            }
        }
    }

    let capacity: Int
    private(set) var used = 0
    /// The number of bytes of removed items.
    var holes = 0

    private let memory: UnsafeMutableRawPointer

    init(capacity: Int) {
        self.capacity = capacity
        memory = .allocate(byteCount: max(capacity, 1), alignment: 16)
    }

    deinit { memory.deallocate() }

    /// Returns the number of bytes that an item takes.
    static func length(of entry: PackedItems.Entry) -> Int {
        length(id: entry.id, parent: entry.parent, fields: entry.fields)
    }

    /// Returns the number of bytes that an item of these parts takes.
    static func length(
        id: UnsafeRawBufferPointer, parent: UnsafeRawBufferPointer?, fields: UnsafeRawBufferPointer
    ) -> Int {
        let header = Header(
            row: 0, id: id.count, parent: parent?.count ?? -1, fields: fields.count)
        return header.length + header.bytes
    }

    /// Returns the start of the item behind the one that starts there.
    func end(of start: Int) -> Int {
        let header = Header(at: memory + start)
        return start + header.length + header.bytes
    }

    /// Whether there is room for this many bytes.
    func hasRoom(for length: Int) -> Bool { used + length <= capacity }

    /// Adds an item, for which there must be room; returns its start.
    func append(
        row: Int, id: UnsafeRawBufferPointer, parent: UnsafeRawBufferPointer?,
        fields: UnsafeRawBufferPointer
    ) -> Int {
        let start = used
        let header = Header(
            row: UInt32(row), id: id.count, parent: parent?.count ?? -1, fields: fields.count)
        header.write(to: memory + start)
        var place = start + header.length
        for part in [id, parent ?? UnsafeRawBufferPointer(start: nil, count: 0), fields] {
            if let base = part.baseAddress {
                (memory + place).copyMemory(from: base, byteCount: part.count)
            }
            place += part.count
        }
        used = place
        return start
    }

    /// The item that starts there.
    @inline(__always)
    func entry(at start: Int) -> PackedItems.Entry {
        let header = Header(at: memory + start)
        let bytes = UnsafeRawPointer(memory + start + header.length)
        return PackedItems.Entry(
            row: Int(header.row),
            id: UnsafeRawBufferPointer(start: bytes, count: header.id),
            parent: header.parent < 0
                ? nil : UnsafeRawBufferPointer(start: bytes + header.id, count: header.parent),
            fields: UnsafeRawBufferPointer(
                start: bytes + header.id + max(header.parent, 0), count: header.fields))
    }

    /// Calls the body with all items, including those that were removed.
    func visit(_ body: (_ start: Int, PackedItems.Entry) -> Void) {
        var start = 0
        while start < used {
            body(start, entry(at: start))
            start = end(of: start)
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

    /// Compares bytes: below 0 if these come first, above 0 if the others do.
    @inline(__always)
    func compare(_ other: UnsafeRawBufferPointer) -> Int {
        if let own = baseAddress, let its = other.baseAddress {
            let order = memcmp(own, its, Swift.min(count, other.count))
            if order != 0 { return Int(order) }
        }
        return count - other.count
    }
}
