/// A text to be found within others, byte by byte.
///
/// It compares sixteen places at once on two of its bytes, those that are rarest in words, and
/// looks at the whole only where both agree.
struct Needle {
    private let bytes: [UInt8]
    private let first: Int
    private let second: Int

    /// A needle of these bytes; nil when there are none.
    init?(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return nil }
        self.bytes = bytes
        let byRarity = bytes.indices.sorted {
            (Needle.commonness(of: bytes[$0]), $0) < (Needle.commonness(of: bytes[$1]), $1)
        }
        first = byRarity[0]
        // The same byte again says nothing new: rather one that differs, if there is any.
        second = byRarity.first { bytes[$0] != bytes[byRarity[0]] } ?? byRarity[byRarity.count - 1]
    }

    /// Where it stands first in a text, at or behind `start`; nil when it does not.
    func position(in text: UnsafeRawBufferPointer, from start: Int = 0) -> Int? {
        let last = text.count - bytes.count
        var place = start
        let one = SIMD16<UInt8>(repeating: bytes[first])
        let other = SIMD16<UInt8>(repeating: bytes[second])
        while place + 15 <= last {
            let ones = text.loadUnaligned(fromByteOffset: place + first, as: SIMD16<UInt8>.self)
            let others = text.loadUnaligned(fromByteOffset: place + second, as: SIMD16<UInt8>.self)
            let differences = (ones ^ one) | (others ^ other)
            let isHit = differences .== SIMD16<UInt8>(repeating: 0)
            let lanes = unsafeBitCast(isHit, to: SIMD2<UInt64>.self)
            if lanes.x | lanes.y != 0, let lane = firstLane(of: lanes, in: text, at: place) {
                return place + lane
            }
            place += 16
        }
        while place <= last {
            if isAt(place, in: text) { return place }
            place += 1
        }
        return nil
    }

    private func firstLane(
        of lanes: SIMD2<UInt64>, in text: UnsafeRawBufferPointer, at place: Int
    ) -> Int? {
        for half in 0..<2 {
            var word = lanes[half]
            while word != 0 {
                let lane = half * 8 + word.trailingZeroBitCount / 8
                if isAt(place + lane, in: text) { return lane }
                word &= ~(0xFF << UInt64(lane % 8 * 8))
            }
        }
        return nil
    }

    @inline(__always)
    private func isAt(_ place: Int, in text: UnsafeRawBufferPointer) -> Bool {
        bytes.withUnsafeBufferPointer { bytes in
            for index in bytes.indices where text[place + index] != bytes[index] { return false }
            return true
        }
    }

    /// How common a byte is in folded text, roughly.
    private static func commonness(of byte: UInt8) -> Int {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "e"), UInt8(ascii: "a"): 5
        case UInt8(ascii: "i"), UInt8(ascii: "n"), UInt8(ascii: "o"), UInt8(ascii: "r"),
            UInt8(ascii: "s"), UInt8(ascii: "t"):
            4
        case UInt8(ascii: "c"), UInt8(ascii: "d"), UInt8(ascii: "l"), UInt8(ascii: "m"),
            UInt8(ascii: "u"), UInt8(ascii: "p"), UInt8(ascii: "-"):
            3
        case UInt8(ascii: "a")...UInt8(ascii: "z"): 2
        default: 1
        }
    }
}
