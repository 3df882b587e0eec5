import AtriumKit
import Index
import JSONCodec
import Store

/// Some records of a component as it applies them.
struct LoadSlice: Sendable {
    /// How many records a slice has at most.
    static let length = 128
    /// About how many bytes a slice has at most; a single record may have more.
    static let bytes = 256 << 10

    /// How far a reading came.
    struct Place: Sendable {
        /// The last key that was read; nil: there was none.
        var key: String?
        /// Whether nothing follows it.
        var isEnd: Bool
        /// What was counted by now.
        var tally = RecordTally()
    }

    private(set) var changes: [Change] = []
    /// The sequence of the last entry that changed each.
    private(set) var revisions: [Int64] = []
    /// Those that have the shape of an item, as such: most sources list just these.
    private(set) var items: [WrittenItem] = []
    /// Those that can't be decoded, and so are in none of these.
    private(set) var unreadable = UnreadableRecords()
    private var size = 0

    /// Ends a reading that has gone far enough.
    private struct Enough: Error {}
    /// A record is not what was written.
    private struct Damaged: Error {}

    /// Reads some of a component's records; those that can't be decoded are left out and noted.
    ///
    /// - Parameters:
    ///   - container: the container's name.
    ///   - component: the component's name.
    ///   - kind: what it does.
    ///   - place: how far earlier readings came.
    ///   - most: how many slices to read.
    ///   - store: where they are.
    ///   - each: takes a slice.
    /// - Returns: where to go on.
    /// - Throws: `StoreError` when the file can't be read.
    static func read(
        _ container: String, _ component: String, kind: Kind?, after place: Place,
        atMost most: Int, in store: Store, each: (LoadSlice) -> Void
    ) throws -> Place {
        var (slice, slices, last, tally) = (LoadSlice(), 0, place.key, place.tally)
        do {
            try store.forEachRecord(
                container: container, component: component, after: place.key, tally: &tally
            ) { key, bytes, revision in
                let key = String(decoding: key, as: UTF8.self)
                do {
                    try slice.append(key, bytes, revision, kind: kind)
                } catch {
                    slice.unreadable.add(key)
                }
                last = key
                slice.size += bytes?.count ?? 0
                guard slice.changes.count >= length || slice.size >= Self.bytes else { return }
                each(slice)
                slice = LoadSlice()
                slices += 1
                if slices == most { throw Enough() }
            }
        } catch is Enough {
            return Place(key: last, isEnd: false, tally: tally)
        }
        if !slice.changes.isEmpty || slice.unreadable.count > 0 { each(slice) }
        return Place(key: last, isEnd: true, tally: tally)
    }

    private mutating func append(
        _ key: String, _ bytes: UnsafeRawBufferPointer?, _ revision: Int64, kind: Kind?
    ) throws {
        guard let bytes else { throw Damaged() }
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
