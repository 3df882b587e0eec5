import AtriumKit
import JSONCodec
import Store

/// Some records of a component as it applies them.
struct RestoreSlice: Sendable {
    private static let length = 128

    private(set) var changes: [Change] = []
    /// The sequence of the last entry that changed each.
    private(set) var revisions: [Int64] = []
    /// Those that have the shape of an item, as such: most sources list just these.
    private(set) var items: [WrittenItem] = []

    /// Reads a component's records; those that can't be decoded are left out: nothing of ours wrote
    /// them.
    static func read(
        _ container: String, _ component: String, kind: Kind?, in store: Store,
        each: (RestoreSlice) -> Void
    ) throws {
        var slice = RestoreSlice()
        try store.forEachRecord(container: container, component: component) {
            key, bytes, revision, _ in
            guard (try? slice.append(key, bytes, revision, kind: kind)) != nil,
                slice.changes.count == length
            else { return }
            each(slice)
            slice = RestoreSlice()
        }
        if !slice.changes.isEmpty { each(slice) }
    }

    private mutating func append(
        _ key: String, _ bytes: UnsafeRawBufferPointer, _ revision: Int64, kind: Kind?
    ) throws(JSONError) {
        let record = try Record(bytes)
        changes.append(.put(key: key, value: record.value))
        revisions.append(revision)
        guard kind == .contents, let fields = record.fields,
            let item = Item(key: key, value: record.value)
        else { return }
        items.append(WrittenItem(item: item, fields: fields, revision: revision))
    }
}

/// A record's value, and how the fields of an item stand in it.
private struct Record {
    var value: Value
    var fields: [UInt8]?

    init(_ bytes: UnsafeRawBufferPointer) throws(JSONError) {
        var json = JSONReader(bytes)
        guard try json.peek() == .object else {
            value = try JSON.decode(from: bytes)
            return
        }
        var object: [String: Value] = [:]
        try json.beginObject()
        while let key = try json.nextKey() {
            let start = json.offset
            let member = try Value(json: &json)
            let name = key.string
            if name == "fields" { fields = Array(bytes[start..<json.offset]) }
            guard object.updateValue(member, forKey: name) == nil else {
                throw json.duplicateMember(key)
            }
        }
        try json.end()
        value = .object(object)
    }
}
