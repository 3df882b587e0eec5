import Foundation

/// Finds small numbers by the hash of what they stand for: a table of open addresses that keeps no
/// keys, since whoever asks has them.
///
/// Eight bytes a place, at most three quarters full: a fifth of what a dictionary from text takes.
/// The hash is seeded by chance, lest somebody send ids that all fall into one place.
package struct HashedSlots {
    /// A number and its hash; 0 is a free place.
    private var places: ContiguousArray<UInt64> = [0, 0, 0, 0]
    private(set) var count = 0

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

    /// Takes in a number that is not in it.
    mutating func insert(_ number: Int, hash: UInt32) {
        if (count + 1) * 4 > places.count * 3 { grow() }
        place(UInt64(hash) << 32 | UInt64(number + 1))
        count += 1
    }

    /// Makes room for so many numbers at once.
    mutating func reserve(_ count: Int) {
        while count * 4 > places.count * 3 { grow() }
    }

    /// Leaves out a number that is in it.
    mutating func remove(_ number: Int, hash: UInt32) {
        let mask = places.count - 1
        let entry = UInt64(hash) << 32 | UInt64(number + 1)
        var hole = Int(hash) & mask
        while places[hole] != entry {
            guard places[hole] != 0 else { return }
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
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
        return product.high ^ product.low
    }

    private mutating func place(_ entry: UInt64) {
        var place = Int(entry >> 32) & (places.count - 1)
        while places[place] != 0 { place = (place + 1) & (places.count - 1) }
        places[place] = entry
    }

    private mutating func grow() {
        let old = places
        places = ContiguousArray(repeating: 0, count: old.count * 2)
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
