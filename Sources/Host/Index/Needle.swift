import CBits

/// A text to be found within others, byte by byte.
///
/// It is compared with many places at once on two of its bytes, those that are rarest in words, and
/// as a whole only where both agree.
struct Needle {
    private let bytes: [UInt8]
    private let first: Int
    private let second: Int

    private static let capacity = 1_024

    /// Where ``TextSignatures`` keep the sequences of three and four bytes that it has; none when it is
    /// shorter.
    let buckets: [Int]

    /// A needle of these bytes; nil when there are none.
    init?(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return nil }
        self.bytes = bytes
        let byRarity = bytes.indices.sorted {
            (Needle.commonness(of: bytes[$0]), $0) < (Needle.commonness(of: bytes[$1]), $1)
        }
        first = byRarity[0]
        // The same byte again says nothing new: rather one that differs, if there is any.
        let fours = bytes.indices.dropLast(3).prefix(16).map {
            TextSignatures.bucket(bytes[$0], bytes[$0 + 1], bytes[$0 + 2], bytes[$0 + 3])
        }
        let threes = bytes.indices.dropLast(2).prefix(16).map {
            TextSignatures.bucket(bytes[$0], bytes[$0 + 1], bytes[$0 + 2])
        }
        buckets = fours + threes
        second = byRarity.first { bytes[$0] != bytes[byRarity[0]] } ?? byRarity[byRarity.count - 1]
    }

    /// Whether it stands in a text.
    func isIn(_ text: UnsafeRawBufferPointer) -> Bool {
        var isFound = false
        visitPlaces(in: text, upTo: 1) { _ in isFound = true }
        return isFound
    }

    /// Hands over each place of a text where it stands, ascending.
    @inline(__always)
    func visitPlaces(
        in text: UnsafeRawBufferPointer, upTo limit: Int = .max, _ body: (Int) -> Void
    ) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: Needle.capacity) { places in
            bytes.withUnsafeBufferPointer { bytes in
                var needle = bits_needle(
                    bytes: bytes.baseAddress, length: bytes.count, first: first, second: second)
                let text = text.assumingMemoryBound(to: UInt8.self)
                var (start, remaining) = (0, limit)
                while remaining > 0 {
                    let count = bits_find(
                        text.baseAddress, text.count, &needle, &start, places.baseAddress,
                        places.count)
                    guard count > 0 else { return }
                    for place in places.prefix(min(count, remaining)) { body(Int(place)) }
                    remaining -= min(count, remaining)
                }
            }
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
