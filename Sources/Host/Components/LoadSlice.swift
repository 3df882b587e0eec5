import AtriumKit
import Index
import JSONCodec
import Store

/// Some records of a component, as they are passed to it.
struct LoadSlice: Sendable {
    /// The maximum number of records in a slice.
    static let length = 128
    /// The approximate maximum of bytes in a slice; a single record may have more.
    static let bytes = 256 << 10

    /// How far the records of a component were read.
    struct Place: Sendable {
        /// The last key that was read; nil: none was.
        var key: String?
        /// Whether it was the last record.
        var isEnd: Bool
        /// The number and checksum of the records so far.
        var tally = RecordTally()
    }

    /// What a component takes in place of records that hold nothing else.
    enum Form {
        case ballots
        case comments
    }

    private(set) var changes: [Change] = []
    /// The ballots of records that hold nothing else, in place of their changes.
    private(set) var ballots: [Ballot] = []
    /// The comments of records that hold nothing else, in place of their changes.
    private(set) var comments: [Comment] = []
    /// In the first slice the number of all records, as far as it is known.
    private(set) var expected: Int?
    /// For each change the sequence of the entry that last changed its record.
    private(set) var revisions: [Int64] = []
    /// The records that have the shape of an item; most sources list exactly these.
    private(set) var items: [WrittenItem] = []
    /// The records that can't be decoded, which are left out of all the others.
    private(set) var unreadable = UnreadableRecords()
    private var size = 0

    /// The number of records.
    var count: Int { changes.count + ballots.count + comments.count }

    /// Ends a read once it has enough slices.
    private struct Enough: Error {}
    /// The record differs from what was written.
    private struct Damaged: Error {}

    /// Reads at most `most` slices of a component's records, in the form that it takes in place of records if any,
    /// from where the last read ended to the returned place; those that can't be decoded are skipped and noted.
    static func read(
        _ container: String, _ component: String, kind: Kind?, form: Form?,
        after place: Place, atMost most: Int, in store: Store, each: (LoadSlice) -> Void
    ) throws -> Place {
        var (slice, slices, last, tally) = (LoadSlice(), 0, place.key, place.tally)
        do {
            try store.forEachRecord(
                container: container, component: component, after: place.key, tally: &tally
            ) { expected in
                if place.key == nil { slice.expected = expected }
            } _: { key, bytes, revision in
                if bytes.map({ slice.append(key, $0, as: form) }) != true {
                    let key = String(decoding: key, as: UTF8.self)
                    do {
                        try slice.append(key, bytes, revision, kind: kind)
                    } catch {
                        slice.unreadable.add(key)
                    }
                }
                slice.size += bytes?.count ?? 0
                guard slice.count >= length || slice.size >= Self.bytes else { return }
                last = String(decoding: key, as: UTF8.self)
                each(slice)
                slice = LoadSlice()
                slices += 1
                if slices == most { throw Enough() }
            }
        } catch is Enough {
            return Place(key: last, isEnd: false, tally: tally)
        }
        if slice.count > 0 || slice.unreadable.count > 0 { each(slice) }
        return Place(key: last, isEnd: true, tally: tally)
    }

    /// Adds a record in a component's form; false: it holds something else.
    private mutating func append(
        _ key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer, as form: Form?
    ) -> Bool {
        switch form {
        case .ballots:
            guard let ballot = Ballot(key: key, record: record) else { return false }
            ballots.append(ballot)
        case .comments:
            guard let comment = Comment(key: key, record: record) else { return false }
            comments.append(comment)
        case nil: return false
        }
        return true
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

/// A record's value, and the bytes of an item's fields in it.
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
