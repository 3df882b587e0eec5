internal import CXXHash
internal import Foundation

/// The checksums of rows.
///
/// A checksum is XXH3-64 (https://xxhash.com) over all columns; ids are replaced by their names. Each part is hashed
/// with the hash of the parts before it as the seed. Checksums detect damage, not forgery. The key is included, so a
/// row copied to another place has a wrong checksum.
struct Sum {
    private var value: UInt64 = 0

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        value = XXH3_64bits_withSeed(bytes.baseAddress, bytes.count, value)
    }

    mutating func add(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { add($0) }
    }

    mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
    }

    /// Adds numbers, each as eight bytes, little-endian.
    mutating func add(_ first: Int64, _ second: Int64, _ third: Int64 = 0, _ fourth: Int64 = 0) {
        withUnsafeBytes(of: (first, second, third, fourth)) { add($0) }
    }

    /// The checksum as SQLite stores it.
    var stored: Int64 { Int64(bitPattern: value) }
}

/// The common beginning of the sums of a component's records.
struct ComponentSum {
    private let start: Sum

    init(container: String, component: String) {
        var sum = Sum()
        sum.add(container)
        sum.add(component)
        start = sum
    }

    /// The sum of a record.
    func record(
        key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, sequence: Int64, created: Int64
    ) -> Int64 {
        var sum = start
        sum.add(key)
        sum.add(value)
        sum.add(sequence, created)
        return sum.stored
    }

    /// The sum of a record.
    func record(key: String, value: [UInt8], sequence: Int64, created: Int64) -> Int64 {
        var key = key
        return key.withUTF8 { key in
            value.withUnsafeBytes {
                record(
                    key: UnsafeRawBufferPointer(key), value: $0, sequence: sequence,
                    created: created)
            }
        }
    }
}

/// The sums of rows of the small tables: over the table's name and all columns, including ids of other rows.
enum RowSum {
    static func meta(_ name: String, _ value: String) -> Int64 {
        var sum = start("meta")
        sum.add(name)
        sum.add(value)
        return sum.stored
    }

    static func container(id: Int64, name: String, position: Int64) -> Int64 {
        var sum = start("containers")
        sum.add(id, position)
        sum.add(name)
        return sum.stored
    }

    static func component(
        id: Int64, container: Int64, name: String, records: Int64, sums: Int64
    ) -> Int64 {
        var sum = start("components")
        sum.add(id, container, records, sums)
        sum.add(name)
        return sum.stored
    }

    static func purge(
        id: Int64, component: Int64, item: Data, first: Data, last: Data, through: Int64
    ) -> Int64 {
        var sum = start("purges")
        sum.add(id, component, through)
        for part in [item, first, last] { part.withUnsafeBytes { sum.add($0) } }
        return sum.stored
    }

    static func actor(number: Int64, name: Data) -> Int64 {
        var sum = start("actors")
        sum.add(number, 0)
        name.withUnsafeBytes { sum.add($0) }
        return sum.stored
    }

    private static func start(_ table: String) -> Sum {
        var sum = Sum()
        sum.add(table)
        return sum
    }
}

/// The sum of an entry; the part for its changes is removed with them.
enum EntrySum {
    /// The sum of the part that stays.
    static func of(
        container: String, sequence: Int64, position: Int64, time: Int64, actor: Int64?,
        topic: String?, payload: [UInt8]?, restricted: [UInt8]?
    ) -> Int64 {
        var sum = Sum()
        sum.add(container)
        sum.add(sequence, position, time, actor ?? 0)
        let parts: Int64 =
            (actor == nil ? 0 : 1) | (topic == nil ? 0 : 2) | (payload == nil ? 0 : 4)
            | (restricted == nil ? 0 : 8)
        sum.add(parts, Int64(payload?.count ?? 0))
        if let topic { sum.add(topic) }
        if let payload { sum.add(payload) }
        if let restricted { sum.add(restricted) }
        return sum.stored
    }

    /// The part for the changes; exclusive or adds it and removes it.
    static func ofChanges(_ changes: [UInt8], sequence: Int64) -> Int64 {
        var sum = Sum()
        sum.add(sequence, Int64(changes.count))
        sum.add(changes)
        return sum.stored
    }
}
