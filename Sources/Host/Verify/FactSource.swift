import AtriumKit
import Index
import JSONCodec
import Store

/// Reads from the store what the daemon should show, as facts under keys: slice by slice, each in the
/// order of the records.
///
/// It is handed to and fro between the thread for reading and the event loop, and used by one of them at
/// a time: hence it may be sent.
protocol FactSource: AnyObject, Sendable {
    associatedtype Fact: Equatable & Sendable

    /// Reads on: call it away from the event loop.
    ///
    /// - Throws: `StoreError` when the file can't be read.
    func next(in snapshot: Snapshot) throws -> FactSlice<Fact>

    /// A source of what stands under these keys alone.
    func only(_ keys: [String]) -> Self
}

/// Some of a source's facts.
struct FactSlice<Fact: Sendable>: Sendable {
    /// The most records that are read for one.
    static var records: Int { 500 }
    /// About the most bytes that are read for one; a single record may have more.
    static var bytes: Int { 256 << 10 }

    /// What stands under a key.
    struct Entry: Sendable {
        var key: String
        var fact: Fact
    }

    var facts: [Entry] = []
    /// How many records were read.
    var records = 0
    /// Those among them that are damaged or no JSON.
    var unreadable: [String] = []
    /// Whether nothing follows.
    var isEnd = false
}

/// Whose records a source reads.
struct RecordAddress: Sendable {
    var container: String
    var component: String

    /// Hands over the decoded records after a key, until the slice is full or the reader has enough.
    ///
    /// - Parameters:
    ///   - key: the last one that was read; nil: none.
    ///   - snapshot: where they are.
    ///   - slice: takes count of them.
    ///   - read: false: this one is read again by whoever goes on.
    /// - Returns: the last key that was read; nil: there is nothing left.
    /// - Throws: `StoreError` when the file can't be read.
    func visit<Fact>(
        after key: String?, in snapshot: Snapshot, _ slice: inout FactSlice<Fact>,
        _ read: (_ key: String, _ value: Value, _ slice: inout FactSlice<Fact>) -> Bool
    ) throws -> String? {
        var (bytes, last, isFull) = (0, key, false)
        try snapshot.forEachRecord(container: container, component: component, after: key) {
            key, value in
            if let decoded = value.flatMap({ try? Value(jsonBytes: $0) }) {
                guard read(key, decoded, &slice) else {
                    isFull = true
                    return false
                }
            } else {
                slice.unreadable.append(key)
            }
            slice.records += 1
            bytes += (value?.count ?? 0) + key.utf8.count
            last = key
            isFull = slice.records >= FactSlice<Fact>.records || bytes >= FactSlice<Fact>.bytes
            return !isFull
        }
        return isFull ? last : nil
    }

    /// The decoded record under a key; nil where there is none.
    func value<Fact>(
        _ key: String, in snapshot: Snapshot, _ slice: inout FactSlice<Fact>
    ) throws -> Value? {
        let place = RecordKey(container: container, component: component, key: key)
        switch try snapshot.record(place) {
        case .nothing: return nil
        case .value(let bytes):
            if let value = try? Value(jsonBytes: bytes) { return value }
        case .damaged: break
        }
        slice.unreadable.append(key)
        return nil
    }
}
