internal import CXXHash

/// The sums that tell whether a row is what was written.
///
/// XXH3-64 (https://xxhash.com) over all columns, names in place of the numbers that stand for them; each part is
/// summed with the sum of those before it as its seed. They find damage, not a forger. A row of another place
/// has another sum, since its key is a part of it.
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

    /// Numbers, each with eight bytes, the lowest first, as on every machine that Swift runs on.
    mutating func add(_ first: Int64, _ second: Int64, _ third: Int64 = 0, _ fourth: Int64 = 0) {
        withUnsafeBytes(of: (first, second, third, fourth)) { add($0) }
    }

    /// As SQLite keeps it.
    var stored: Int64 { Int64(bitPattern: value) }
}

/// What the sums of a component's records begin with.
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

/// The sum of an entry, of which one part goes once it has done its work.
enum EntrySum {
    /// The sum of what stays.
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

    /// What the changes add while they are there; it is taken away in the same way.
    static func ofChanges(_ changes: [UInt8], sequence: Int64) -> Int64 {
        var sum = Sum()
        sum.add(sequence, Int64(changes.count))
        sum.add(changes)
        return sum.stored
    }
}
