package import AtriumKit
import Foundation
import JSONCodec

/// Reads items straight from the bytes of their records into batches for a new index: no values, no
/// dictionaries, and no memory of its own for any of them.
package struct RecordBatcher {
    /// A record that can't be used as an item without its component.
    package struct NotAnItem: Error {}

    /// A problem of a record that does not keep the component from starting.
    package enum Fault {
        /// The record is no JSON, and is left out.
        case unreadable
        /// The record is an item that does not fit the fields, and is accepted nevertheless.
        case unfit(FieldProblem)
    }

    /// The memory that the items of all batches are in.
    package private(set) var items = PackedItems()
    /// The number of items that were read.
    private var count = 0
    /// The place of each ``RecordItems/span``-th item.
    private var marks: ContiguousArray<ItemPlace> = []
    /// The items that were read since the last ``takeBatch()``.
    private(set) var batch: RecordBatch

    private let checker: FieldChecker
    /// Whether the record that is being read may not fit the fields.
    private var isSuspect = false

    private let fields: [Field]
    private let names: [(name: String, column: Int)]
    private let isText: [Bool]
    private let isKnown: Bool
    private let dates: [DateColumn]

    /// A batcher for the items of an index with these fields.
    package init(fields: [Field], expecting count: Int) {
        self.fields = fields
        checker = FieldChecker(fields: fields)
        names = fields.enumerated().map { ($0.element.name, $0.offset) }
            .sorted { $0.name < $1.name }
        isText = fields.map { if case .text = IndexColumn(type: $0.type) { true } else { false } }
        isKnown = fields.count <= 64
        dates = DateColumn.all(of: fields)
        batch = RecordBatch(fields: fields.count)
        marks.reserveCapacity(count / RecordItems.span + 1)
    }

    /// Whether the batch is full, so that the index has to take it.
    package var isFull: Bool { batch.items.count == RecordBatch.length }

    /// All items that were read.
    package var restored: RecordItems { RecordItems(items, marks: marks, count: count) }

    /// Returns the items that were read so far, and begins a new batch.
    package mutating func takeBatch() -> RecordBatch {
        let full = batch
        batch = RecordBatch(fields: fields.count)
        return full
    }

    /// Reads a record; returns its problem, nil if there is none.
    @discardableResult
    package mutating func append(
        key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, revision: Int64
    ) throws(NotAnItem) -> Fault? {
        let id = key.bindMemory(to: UInt8.self)
        // An id that says its accents otherwise may be the same as another.
        if id.contains(where: { $0 >= 0xCC }) {
            guard ItemID.isNormal(key.text) else { throw NotAnItem() }
        }
        begin()
        do {
            var json = JSONReader(value)
            if try read(&json, key, value, revision) {
                guard isSuspect, let record = try? Value(jsonBytes: Array(value)) else {
                    return nil
                }
                return Item(key: key.text, value: record).flatMap(fault(of:))
            }
        } catch {}
        // Unusual in some way: what it says is found out by the rules.
        rollBack()
        guard let record = try? Value(jsonBytes: Array(value)) else { return .unreadable }
        guard let item = Item(key: key.text, value: record) else { throw NotAnItem() }
        begin()
        for (name, column) in names { set(item.fields[name], column) }
        var parent = item.parent
        let fields = item.fields.jsonBytes
        fields.withUnsafeBytes { fields in
            if parent == nil { return finish(key, nil, fields, revision) }
            parent?.withUTF8 { finish(key, UnsafeRawBufferPointer($0), fields, revision) }
        }
        return fault(of: item)
    }

    /// Reads a record as nearly all are; returns false for one that is not.
    private mutating func read(
        _ json: inout JSONReader, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        _ revision: Int64
    ) throws(JSONError) -> Bool {
        var (fields, parent): (Range<Int>?, UnsafeRawBufferPointer?)
        try json.beginObject()
        while let name = try json.nextKey() {
            if name == "fields", fields == nil {
                let start = json.offset
                guard isKnown, try json.peek() == .object, try readFields(&json) else {
                    return false
                }
                fields = start..<json.offset
            } else if name == "parent", parent == nil, let text = try plainText(&json) {
                parent = text
            } else {
                return false
            }
        }
        try json.end()
        guard let fields else { return false }
        finish(key, parent, UnsafeRawBufferPointer(rebasing: value[fields]), revision)
        return true
    }

    /// Reads the fields into their columns; false where one is not declared.
    private mutating func readFields(_ json: inout JSONReader) throws(JSONError) -> Bool {
        var (seen, next): (UInt64, Int) = (0, 0)
        try json.beginObject()
        while let key = try json.nextKey() {
            // They are sorted by name, as the columns are.
            let name = key.string
            while next < names.count, names[next].name != name { next += 1 }
            guard next < names.count else { return false }
            let column = names[next].column
            guard seen >> UInt64(column) & 1 == 0 else { return false }
            seen |= 1 << UInt64(column)
            if isText[column] {
                try readTexts(&json, column)
            } else {
                try readNumber(&json, column)
            }
        }
        return true
    }

    private mutating func readTexts(
        _ json: inout JSONReader, _ column: Int
    ) throws(JSONError) {
        switch try json.peek() {
        case .string: try readText(&json, column)
        case .array:
            try json.beginArray()
            while try json.nextElement() {
                if try json.peek() == .string {
                    try readText(&json, column)
                } else {
                    try json.skipValue()
                }
            }
        default: try json.skipValue()
        }
    }

    private func readText(_ json: inout JSONReader, _ column: Int) throws(JSONError) {
        let raw = try json.rawValue()
        let (values, row) = (batch.columns[column], batch.items.count)
        if let plain = RecordBatcher.plain(raw) {
            return values.append(plain.bindMemory(to: UInt8.self), row: row)
        }
        var escaped = JSONReader(raw)
        var text = try escaped.readString()
        text.withUTF8 { values.append($0, row: row) }
    }

    private mutating func readNumber(_ json: inout JSONReader, _ column: Int) throws(JSONError) {
        let number: Double?
        switch (try json.peek(), fields[column].type) {
        case (.number, .number), (.number, .integer), (.number, .duration):
            let read = try json.readDouble()
            // From there on a whole number may have been read as its neighbour.
            if read.magnitude >= 0x1p53 { isSuspect = true }
            number = read
        case (.bool, .boolean): number = try json.readBool() ? 1 : 0
        case (.string, .image):
            try json.skipValue()
            return
        case (.string, .time):
            let text = try json.readString()
            if !Timestamp.isExact(text) { isSuspect = true }
            number = TimeText.seconds(text)
        default:
            isSuspect = true
            try json.skipValue()
            return
        }
        setNumber(number, column)
    }

    private func setNumber(_ number: Double?, _ column: Int) {
        guard let number, number.isFinite else { return }
        let values = batch.columns[column]
        // Adding 0 makes 0 of -0.
        values.numbers[values.numbers.count - 1] = number + 0
    }

    /// Puts a decoded value into its column, in the same way as the column does.
    private func set(_ value: Value?, _ column: Int) {
        guard isText[column] else {
            let numbers = NumberColumn(type: fields[column].type)
            return setNumber(value.flatMap(numbers.number), column)
        }
        let texts: [Value] = if let list = value?.list { list } else { value.map { [$0] } ?? [] }
        for text in texts {
            guard var text = text.text else { continue }
            text.withUTF8 { batch.columns[column].append($0, row: batch.items.count) }
        }
    }

    /// The bytes of a string without escapes; nil for whatever else comes.
    private func plainText(
        _ json: inout JSONReader
    ) throws(JSONError) -> UnsafeRawBufferPointer? {
        guard try json.peek() == .string else { return nil }
        return RecordBatcher.plain(try json.rawValue())
    }

    private static func plain(_ raw: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard let base = raw.baseAddress, memchr(base, 0x5C, raw.count) == nil else { return nil }
        return UnsafeRawBufferPointer(rebasing: raw[1..<raw.count - 1])
    }
}

// MARK: One row

extension RecordBatcher {
    private func fault(of item: Item) -> Fault? { checker.check(item).map(Fault.unfit) }

    private mutating func begin() {
        isSuspect = false
        for (column, values) in batch.columns.enumerated() where !isText[column] {
            values.numbers.append(.nan)
        }
    }

    private func rollBack() {
        for (column, values) in batch.columns.enumerated() {
            if !isText[column] { values.numbers.removeLast() }
            while let last = values.texts.last, last.row == UInt32(batch.items.count) {
                values.bytes.removeLast(values.bytes.count - Int(last.start))
                values.texts.removeLast()
            }
        }
    }

    private mutating func finish(
        _ key: UnsafeRawBufferPointer, _ parent: UnsafeRawBufferPointer?,
        _ fields: UnsafeRawBufferPointer, _ revision: Int64
    ) {
        for date in dates {
            let times = batch.columns[date.source].numbers
            let dates = batch.columns[date.column]
            dates.numbers[dates.numbers.count - 1] = date.date(times[times.count - 1])
        }
        let place = items.append(row: count, id: key, parent: parent, fields: fields)
        if count % RecordItems.span == 0 { marks.append(place) }
        count += 1
        batch.items.append(
            RecordBatch.ItemEntry(
                place: place, revision: revision, head: UInt64(head: key),
                hash: HashedSlots.textHash(key.bindMemory(to: UInt8.self)),
                hasParent: parent != nil))
    }
}
