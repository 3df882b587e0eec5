import AtriumKit
import Index
import JSONCodec
import Store

/// Reads from the store what the daemon should show, as facts under keys.
///
/// It reads slice by slice, each in the order of the records.
///
/// The thread for reading and the event loop use a source in turn, never both at a time: hence it is `Sendable`.
protocol FactSource: AnyObject, Sendable {
    associatedtype Fact: Equatable & Sendable

    /// Reads the next slice, if the file can be read; call it away from the event loop.
    func next(in snapshot: Snapshot) throws -> FactSlice<Fact>

    /// Returns a source that reads only these keys.
    func only(_ keys: [String]) -> Self
}

/// A slice of a source's facts.
struct FactSlice<Fact: Sendable>: Sendable {
    /// The most records that are read for a slice.
    static var records: Int { 500 }
    /// The approximate limit on bytes that are read for a slice; a single record may exceed it.
    static var bytes: Int { 256 << 10 }

    /// A fact and its key.
    struct Entry: Sendable {
        var key: String
        var fact: Fact
    }

    var facts: [Entry] = []
    /// The number of records that were read.
    var records = 0
    /// The keys of records that are damaged or not JSON.
    var unreadable: [String] = []
    /// Whether this is the last slice.
    var isEnd = false
}

/// The address of a component's records.
struct RecordAddress: Sendable {
    var container: String
    var component: String

    /// Passes the decoded records after a key to a closure, until the slice is full or the closure returns false, for
    /// the next slice to begin with that record; returns the last key that was read, nil if no records follow.
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

    /// The decoded record under a key; nil if there is none.
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
