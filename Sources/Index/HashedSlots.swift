import Foundation

/// Finds small numbers by the hash of what they stand for: tables of open addresses that keep no
/// keys, since whoever asks has them.
///
/// Eight bytes a place, at most three quarters full: a fifth of what a dictionary from text takes.
/// The hash is seeded by chance, lest somebody send ids that all fall into one place.
///
/// With many numbers there are many tables, each of which grows by itself: growth in one piece takes
/// a tenth of a second with millions, in which nobody is served.
package struct HashedSlots {
    /// Up to so many numbers are in one table.
    private static let whole = 8_192
    /// By so many of its hash's highest bits a number has its table, once there are many.
    private static let bits: UInt32 = 10

    /// One, or one for each of these bits' values.
    private var tables: ContiguousArray<Table> = [Table()]
    private(set) var count = 0
    /// How far a hash is shifted to the number of its table; as far as it has bits: there is one.
    private var shift = UInt32(UInt32.bitWidth)

    /// The most places of a table.
    var largestTable: Int { tables.reduce(0) { max($0, $1.places.count) } }

    private static let seed = UInt64.random(in: .min ... .max)

    /// The hash of a text's bytes.
    static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt32 {
        let text = UnsafeRawBufferPointer(bytes)
        var hash = seed ^ UInt64(text.count)
        var place = 0
        while place + 8 <= text.count {
            hash = mixed(hash ^ text.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            place += 8
        }
        var rest: UInt64 = 0
        while place < text.count {
            rest = rest << 8 | UInt64(text[place])
            place += 1
        }
        return UInt32(truncatingIfNeeded: mixed(hash ^ rest))
    }

    /// The number with this hash that `isMatch` knows.
    @inline(__always)
    func find(_ hash: UInt32, where isMatch: (Int) -> Bool) -> Int? {
        tables[Int(hash >> shift)].find(hash, where: isMatch)
    }

    /// Takes in a number that is not in it.
    mutating func insert(_ number: Int, hash: UInt32) {
        if count == Self.whole, tables.count == 1 { split() }
        tables[Int(hash >> shift)].insert(UInt64(hash) << 32 | UInt64(number + 1))
        count += 1
    }

    /// Makes room for so many numbers at once.
    mutating func reserve(_ count: Int) {
        if tables.count == 1 {
            guard count > Self.whole else { return tables[0].reserve(count) }
            split()
        }
        // Not all tables get the same number.
        let each = count >> Int(Self.bits)
        for place in tables.indices { tables[place].reserve(each + each / 8) }
    }

    /// Leaves out a number that is in it.
    mutating func remove(_ number: Int, hash: UInt32) {
        let entry = UInt64(hash) << 32 | UInt64(number + 1)
        if tables[Int(hash >> shift)].remove(entry) { count -= 1 }
    }

    private mutating func split() {
        let entries = tables[0].places
        tables = ContiguousArray(repeating: Table(), count: 1 << Int(Self.bits))
        shift = UInt32(UInt32.bitWidth) - Self.bits
        for entry in entries where entry != 0 {
            tables[Int(entry >> 32) >> Int(shift)].insert(entry)
        }
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low
    }
}

/// One table of open addresses.
private struct Table {
    /// A number and its hash; 0 is a free place.
    private(set) var places: ContiguousArray<UInt64> = [0, 0, 0, 0]
    private var count = 0

    @inline(__always)
    func find(_ hash: UInt32, where isMatch: (Int) -> Bool) -> Int? {
        var place = Int(hash) & (places.count - 1)
        while places[place] != 0 {
            if places[place] >> 32 == UInt64(hash) {
                let number = Int(truncatingIfNeeded: places[place] & 0xFFFF_FFFF) - 1
                if isMatch(number) { return number }
            }
            place = (place + 1) & (places.count - 1)
        }
        return nil
    }

    mutating func insert(_ entry: UInt64) {
        reserve(count + 1)
        place(entry)
        count += 1
    }

    /// Leaves out an entry; false: it is not there.
    mutating func remove(_ entry: UInt64) -> Bool {
        let mask = places.count - 1
        var hole = Int(entry >> 32) & mask
        while places[hole] != entry {
            guard places[hole] != 0 else { return false }
            hole = (hole + 1) & mask
        }
        count -= 1
        // What follows moves up, unless that were before where its hash points: no place is lost.
        var next = (hole + 1) & mask
        while places[next] != 0 {
            let home = Int(places[next] >> 32) & mask
            if (next - home) & mask >= (next - hole) & mask {
                places[hole] = places[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        places[hole] = 0
        return true
    }

    private mutating func place(_ entry: UInt64) {
        var place = Int(entry >> 32) & (places.count - 1)
        while places[place] != 0 { place = (place + 1) & (places.count - 1) }
        places[place] = entry
    }

    /// Makes room for so many entries.
    mutating func reserve(_ count: Int) {
        var size = places.count
        while count * 4 > size * 3 { size *= 2 }
        guard size > places.count else { return }
        let old = places
        places = ContiguousArray(repeating: 0, count: size)
        for entry in old where entry != 0 { place(entry) }
    }
}

extension HashedSlots {
    /// The hash of a text, the same for texts that are equal.
    package static func textHash(_ text: UnsafeBufferPointer<UInt8>) -> UInt32 {
        // All below U+0300 is composed as it is; the rest is composed first, for a text equals
        // another that only says its accents otherwise.
        guard text.contains(where: { $0 >= 0xCC }) else { return hash(text) }
        var composed = String(decoding: text, as: UTF8.self).precomposedStringWithCanonicalMapping
        return composed.withUTF8(hash)
    }
}

extension String {
    /// A hash that is the same for texts that are equal.
    var slotHash: UInt32 {
        mutating get { withUTF8(HashedSlots.textHash) }
    }
}
