import CBits

/// A text to be found within others, byte by byte.
///
/// It is compared with many places at once by four of its bytes, those that are rarest in words, and as a whole only
/// where all four match.
package struct Needle {
    let bytes: [UInt8]
    /// The places of its four rarest bytes; if there are fewer, the rarest is repeated.
    private let rarest: [Int]
    /// The length of the longest proper suffix of each prefix that is a prefix, too; empty if it has no more than four
    /// bytes.
    private let borders: [UInt32]

    /// The maximum number of bytes, for which the stack has room.
    private static let capacity = 256

    /// The buckets in which ``TextSignatures`` keep its sequences of three and four bytes; empty if it is shorter.
    let buckets: [Int]

    /// A needle of these bytes; nil when there are none.
    package init?(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return nil }
        self.bytes = bytes
        rarest = Needle.rarest(of: bytes)
        borders = bytes.count > 4 ? Needle.borders(of: bytes) : []
        let fours = bytes.indices.dropLast(3).prefix(16).map {
            TextSignatures.bucket(bytes[$0], bytes[$0 + 1], bytes[$0 + 2], bytes[$0 + 3])
        }
        let threes = bytes.indices.dropLast(2).prefix(16).map {
            TextSignatures.bucket(bytes[$0], bytes[$0 + 1], bytes[$0 + 2])
        }
        buckets = fours + threes
    }

    /// Whether a text contains it.
    package func isIn(_ text: [UInt8]) -> Bool {
        text.count >= bytes.count && text.withUnsafeBytes { isIn($0) }
    }

    /// Whether a text contains it.
    func isIn(_ text: UnsafeRawBufferPointer) -> Bool {
        var isFound = false
        visitTexts(in: text) { _ in isFound = true }
        return isFound
    }

    /// Calls the body with the number of each text that contains it, ascending and each once.
    ///
    /// The texts are stored one behind the other, each but the last ended by a byte that UTF-8 never contains;
    /// `number` is the number of the first one. `ahead` is called with some numbers before the body is, so that their
    /// memory can be prefetched.
    @inline(__always)
    func visitTexts(
        in texts: UnsafeRawBufferPointer, from number: Int = 0, ahead: (Int) -> Void = { _ in },
        _ body: (Int) -> Void
    ) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: Needle.capacity) { found in
            bytes.withUnsafeBufferPointer { bytes in
                borders.withUnsafeBufferPointer { borders in
                    var needle = bits_needle(
                        bytes: bytes.baseAddress, length: bytes.count,
                        rarest: (rarest[0], rarest[1], rarest[2], rarest[3]),
                        borders: borders.baseAddress)
                    var search = bits_search(
                        place: 0, text: UInt32(number), last: .max, effort: 0)
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
    }

    /// Returns the places of the four rarest bytes; if there are fewer, the rarest of all is repeated.
    ///
    /// A second place of the same byte excludes little more.
    private static func rarest(of bytes: [UInt8]) -> [Int] {
        var isKnown = [Bool](repeating: false, count: 256)
        var best: [(rank: Int, place: Int)] = []
        for (place, byte) in bytes.enumerated() {
            let rank = commonness(of: byte) + (isKnown[Int(byte)] ? 8 : 0)
            isKnown[Int(byte)] = true
            guard best.count < 4 || rank < best[3].rank else { continue }
            best.insert((rank, place), at: best.firstIndex { rank < $0.rank } ?? best.count)
            if best.count > 4 { best.removeLast() }
        }
        return (0..<4).map { $0 < best.count ? best[$0].place : best[0].place }
    }

    private static func borders(of bytes: [UInt8]) -> [UInt32] {
        var borders = [UInt32](repeating: 0, count: bytes.count)
        var length = 0
        for place in 1..<bytes.count {
            while length > 0, bytes[place] != bytes[length] { length = Int(borders[length - 1]) }
            if bytes[place] == bytes[length] { length += 1 }
            borders[place] = UInt32(length)
        }
        return borders
    }

    /// Returns a rough rank of how common a byte is in folded text; greater is more common.
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
