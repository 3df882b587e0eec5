import AtriumKit

/// Finds small numbers by the hash of the values that they stand for: hash tables with open addressing that keep no
/// keys, since the caller has them.
///
/// A place takes eight bytes, and a table is at most four fifths full: a sixth of the memory of a dictionary from text.
/// The hash is randomly seeded, so that nobody can send ids that all fall into one place.
///
/// With many numbers there are many tables, each of which grows by itself: with millions of numbers, growth in one
/// piece would take a tenth of a second, in which nobody is served.
package struct HashedSlots {
    /// The maximum number of entries in one table before there are many tables.
    private static let whole = 8_192
    /// The number of the hash's highest bits that select a number's table, once there are many tables.
    private static let bits: UInt32 = 10

    /// One, or one for each of these bits' values.
    private(set) var tables: ContiguousArray<SlotTable> = [SlotTable()]
    private(set) var count = 0
    /// The number of bits by which a hash is shifted to get the index of its table; as many as the hash has: there is
    /// one table.
    private var shift = UInt32(UInt32.bitWidth)

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

    /// Inserts a number, which must not be in it.
    mutating func insert(_ number: Int, hash: UInt32) {
        if count == Self.whole, tables.count == 1 { split() }
        tables[Int(hash >> shift)].insert(UInt64(hash) << 32 | UInt64(number + 1))
        count += 1
    }

    /// Reserves room for this many numbers.
    mutating func reserve(_ count: Int) {
        if tables.count == 1 {
            guard count > Self.whole else { return tables[0].reserve(count) }
            split()
        }
        // Not all tables get the same number: three times the usual difference is enough for nearly all.
        let each = count >> Int(Self.bits)
        let most = each + 3 * Int(Double(each).squareRoot()) + 1
        for place in tables.indices { tables[place].reserve(most) }
    }

    /// Leaves out a number that is in it.
    mutating func remove(_ number: Int, hash: UInt32) {
        let entry = UInt64(hash) << 32 | UInt64(number + 1)
        if tables[Int(hash >> shift)].remove(entry) { count -= 1 }
    }

    private mutating func split() {
        let entries = tables[0].places
        tables = ContiguousArray(repeating: SlotTable(), count: 1 << Int(Self.bits))
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

/// One hash table with open addressing.
///
/// Its size is any number, and not a power of two, so that a table that is made for a known number of entries has no
/// more places than they need.
struct SlotTable {
    /// The bits of a hash by which a number has its place; those above choose the table.
    private static let bits: UInt64 = 22

    /// A number and its hash; 0 is a free place.
    private(set) var places: ContiguousArray<UInt64> = [0, 0, 0, 0]
    private var count = 0

    @inline(__always)
    func find(_ hash: UInt32, where isMatch: (Int) -> Bool) -> Int? {
        var place = home(UInt64(hash))
        while places[place] != 0 {
            if places[place] >> 32 == UInt64(hash) {
                let number = Int(truncatingIfNeeded: places[place] & 0xFFFF_FFFF) - 1
                if isMatch(number) { return number }
            }
            place = next(place)
        }
        return nil
    }

    /// Returns the first place for a hash.
    @inline(__always)
    private func home(_ hash: UInt64) -> Int {
        let part = hash & (1 << Self.bits - 1)
        return Int(truncatingIfNeeded: (part &* UInt64(places.count)) >> Self.bits)
    }

    @inline(__always)
    private func next(_ place: Int) -> Int { place + 1 == places.count ? 0 : place + 1 }

    /// Returns the distance from a place to another one, going up and around the end.
    private func distance(_ place: Int, _ other: Int) -> Int {
        other >= place ? other - place : other - place + places.count
    }

    mutating func insert(_ entry: UInt64) {
        reserve(count + 1)
        place(entry)
        count += 1
    }

    /// Removes an entry; false: there is no such entry.
    mutating func remove(_ entry: UInt64) -> Bool {
        var hole = home(entry >> 32)
        while places[hole] != entry {
            guard places[hole] != 0 else { return false }
            hole = next(hole)
        }
        count -= 1
        // What follows moves up, unless that were before where its hash points: no place is lost.
        var place = next(hole)
        while places[place] != 0 {
            if distance(home(places[place] >> 32), place) >= distance(hole, place) {
                places[hole] = places[place]
                hole = place
            }
            place = next(place)
        }
        places[hole] = 0
        return true
    }

    private mutating func place(_ entry: UInt64) {
        var place = home(entry >> 32)
        while places[place] != 0 { place = next(place) }
        places[place] = entry
    }

    /// Reserves room for this many entries.
    mutating func reserve(_ count: Int) {
        guard count * 5 > places.count * 4 else { return }
        // One more number: half as many places again. Many: as many as they need.
        let size = max(places.count + places.count / 2, (count * 5 + 3) / 4)
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
        var composed = String(decoding: text, as: UTF8.self).precomposed
        return composed.withUTF8(hash)
    }
}

extension String {
    /// A hash that is the same for texts that are equal.
    var slotHash: UInt32 {
        mutating get { withUTF8(HashedSlots.textHash) }
    }
}
