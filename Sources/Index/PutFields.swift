import AtriumKit
import JSONCodec

/// The fields of the item that is being put, in memory that is used again for the next.
struct PutFields: ~Copyable {
    /// The values of the declared fields, by their columns' numbers.
    private(set) var values: [Value?]
    /// The columns of the last item's fields, in their order; those of the next item are mostly the same.
    private var order: [Int] = []
    /// The fields as JSON, sorted by name, in the form of `[String: Value].jsonBytes`.
    private var writer = JSONWriter()

    init(columns: Int) { values = Array(repeating: nil, count: columns) }

    /// Puts each field under its column's number.
    mutating func spread(_ fields: [String: Value], over columns: ColumnTable) {
        spreadStored(fields, over: columns)
        for date in columns.dates {
            values[date.column] = columns.date(date, of: values[date.source]).map(Value.number)
        }
    }

    private mutating func spreadStored(_ fields: [String: Value], over columns: ColumnTable) {
        // Where there are few, looking through the names is quicker than hashing them.
        guard columns.names.count <= 16 else {
            for column in values.indices { values[column] = nil }
            for (name, value) in fields {
                if let column = columns.stored.first(where: { $0.name == name })?.column {
                    values[column] = value
                }
            }
            return
        }
        for (_, column) in columns.stored { values[column] = nil }
        for (place, (name, value)) in fields.enumerated() {
            if let column = column(of: name, at: place, columns.stored) { values[column] = value }
        }
    }

    /// Returns the column of an item's field; `place` is the field's place among the item's, where the last item had the
    /// same field mostly.
    @inline(__always)
    private mutating func column(
        of name: String, at place: Int, _ stored: [(name: String, column: Int)]
    ) -> Int? {
        if place < order.count, order[place] < stored.count, stored[order[place]].name == name {
            return stored[order[place]].column
        }
        guard let found = stored.firstIndex(where: { $0.name == name }) else { return nil }
        while order.count <= place { order.append(found) }
        order[place] = found
        return stored[found].column
    }

    /// Writes the fields, which were spread, as JSON.
    mutating func write(_ fields: [String: Value], under columns: ColumnTable) {
        writer.removeAll()
        var count = 0
        writer.beginObject()
        // The declared names are in order already.
        for (name, column) in columns.stored {
            guard let value = values[column] else { continue }
            writer.key(name)
            value.write(to: &writer)
            count += 1
        }
        writer.endObject()
        if count != fields.count {
            writer.removeAll()
            fields.write(to: &writer)
        }
    }

    /// Lends the fields as JSON.
    func withWritten(_ body: (UnsafeRawBufferPointer) -> Void) { writer.withUnsafeBytes(body) }
}
