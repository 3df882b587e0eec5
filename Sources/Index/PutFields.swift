import AtriumKit
import JSONCodec

/// The fields of the item that is being put, in memory that is used again for the next.
struct PutFields {
    /// By their columns' numbers; those of the declared fields alone.
    private(set) var values: [Value?]
    /// As JSON, sorted by name, as `[String: Value].jsonBytes` has them.
    private(set) var written: [UInt8] = []

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
        for (name, column) in columns.stored { values[column] = fields[name] }
    }

    /// Writes the fields, which were spread, as JSON.
    mutating func write(_ fields: [String: Value], under columns: ColumnTable) {
        var buffer: [UInt8] = []
        swap(&buffer, &written)
        buffer.removeAll(keepingCapacity: true)
        var writer = JSONWriter(appendingTo: buffer)
        buffer = []
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
        swap(&written, &writer.bytes)
        if count != fields.count { written = fields.jsonBytes }
    }
}
