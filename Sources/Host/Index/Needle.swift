import CBits

/// A text to be found within others, byte by byte.
///
/// It is compared with many places at once on four of its bytes, those that are rarest in words, and
/// as a whole only where all agree.
struct Needle {
    private let bytes: [UInt8]
    /// Where its four rarest bytes are; the rarest again where there are not so many.
    private let rarest: [Int]

    /// As many as the stack has room for.
    private static let capacity = 256

    /// Where ``TextSignatures`` keep the sequences of three and four bytes that it has; none when it is
    /// shorter.
    let buckets: [Int]

    /// A needle of these bytes; nil when there are none.
    init?(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return nil }
        self.bytes = bytes
        // The same byte again says little that is new.
        let byRarity = bytes.indices.sorted { one, other in
            let (first, second) = (bytes[one], bytes[other])
            let isRepeated = (bytes[..<one].contains(first), bytes[..<other].contains(second))
            return (isRepeated.0 ? 1 : 0, Needle.commonness(of: first), one)
                < (isRepeated.1 ? 1 : 0, Needle.commonness(of: second), other)
        }
        rarest = (0..<4).map { $0 < byRarity.count ? byRarity[$0] : byRarity[0] }
        let fours = bytes.indices.dropLast(3).prefix(16).map {
            TextSignatures.bucket(bytes[$0], bytes[$0 + 1], bytes[$0 + 2], bytes[$0 + 3])
        }
        let threes = bytes.indices.dropLast(2).prefix(16).map {
            TextSignatures.bucket(bytes[$0], bytes[$0 + 1], bytes[$0 + 2])
        }
        buckets = fours + threes
    }

    /// Whether it stands in a text.
    func isIn(_ text: UnsafeRawBufferPointer) -> Bool {
        var isFound = false
        visitTexts(in: text) { _ in isFound = true }
        return isFound
    }

    /// Hands over the number of each text that it stands in, ascending and each once.
    ///
    /// The texts stand one behind the other, each but the last ended by a byte that UTF-8 never holds;
    /// the first one has this number. `ahead` is told of some before they are handed over, to have
    /// memory brought near.
    @inline(__always)
    func visitTexts(
        in texts: UnsafeRawBufferPointer, from number: Int = 0, ahead: (Int) -> Void = { _ in },
        _ body: (Int) -> Void
    ) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: Needle.capacity) { found in
            bytes.withUnsafeBufferPointer { bytes in
                var needle = bits_needle(
                    bytes: bytes.baseAddress, length: bytes.count,
                    rarest: (rarest[0], rarest[1], rarest[2], rarest[3]))
                var search = bits_search(place: 0, text: UInt32(number), last: .max)
                let texts = texts.assumingMemoryBound(to: UInt8.self)
                while true {
                    let count = bits_find(
                        texts.baseAddress, texts.count, &needle, &search, found.baseAddress,
                        found.count)
                    guard count > 0 else { return }
                    for text in found.prefix(count) { ahead(Int(text)) }
                    for text in found.prefix(count) { body(Int(text)) }
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
