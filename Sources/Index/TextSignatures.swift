/// Finds the stretches of a run of text that may contain a needle, so that the others need not be read.
///
/// Of each stretch of about two kilobytes it keeps the sequences of three and of four bytes that occur, hashed to 8,192
/// buckets. A word has a bit for each of 64 stretches, so that a needle's few sequences are tested for 64 stretches by
/// as many `and`s. It takes half a byte for each byte of text. A stretch may be named in error, which costs a read;
/// none is left out.
struct TextSignatures {
    private static let buckets = 1 << 13
    private static let length = 2_048

    /// The start of each stretch, and the end of the last one.
    private var bounds: ContiguousArray<UInt32> = [0]
    private var slices: [ContiguousArray<UInt64>] = []

    /// Updates the signatures for a run that has grown to `bytes`, which end with a whole text.
    @inline(__always)
    mutating func extend(to bytes: ContiguousArray<UInt8>) {
        if bytes.count - Int(bounds[bounds.count - 1]) >= TextSignatures.length { close(bytes) }
    }

    /// Calls the body with the ranges of a run of this many bytes that may contain the needle, ascending.
    func visitRanges(for needle: Needle, count: Int, _ body: (Range<Int>) -> Void) {
        var open = 0..<0
        func merge(_ range: Range<Int>) {
            if range.lowerBound == open.upperBound {
                open = open.lowerBound..<range.upperBound
            } else {
                if !open.isEmpty { body(open) }
                open = range
            }
        }
        for (index, slice) in slices.enumerated() {
            var mask = ~UInt64(0)
            for bucket in needle.buckets { mask &= slice[bucket] }
            // The last slice has bits for stretches to come, which are 0, unless nothing is asked.
            let last = min(64, bounds.count - 1 - index * 64)
            if last < 64 { mask &= 1 << UInt64(last) - 1 }
            while mask != 0 {
                let stretch = index * 64 + mask.trailingZeroBitCount
                mask &= mask - 1
                merge(Int(bounds[stretch])..<Int(bounds[stretch + 1]))
            }
        }
        merge(Int(bounds[bounds.count - 1])..<count)
        if !open.isEmpty { body(open) }
    }

    /// The bucket of three bytes.
    @inline(__always)
    static func bucket(_ one: UInt8, _ two: UInt8, _ three: UInt8) -> Int {
        let bytes = UInt32(one) | UInt32(two) << 8 | UInt32(three) << 16
        return Int((bytes &* 0x9E37_79B1) >> 19)
    }

    /// The bucket of four bytes.
    @inline(__always)
    static func bucket(_ one: UInt8, _ two: UInt8, _ three: UInt8, _ four: UInt8) -> Int {
        let bytes = UInt32(one) | UInt32(two) << 8 | UInt32(three) << 16 | UInt32(four) << 24
        return Int((bytes &* 0x85EB_CA6B) >> 19)
    }

    private mutating func close(_ bytes: ContiguousArray<UInt8>) {
        let stretch = bounds.count - 1
        let (start, end) = (Int(bounds[stretch]), bytes.count)
        bounds.append(UInt32(end))
        if stretch / 64 == slices.count {
            slices.append(ContiguousArray(repeating: 0, count: TextSignatures.buckets))
        }
        let bit = UInt64(1) << UInt64(stretch % 64)
        bytes.withUnsafeBufferPointer { bytes in
            slices[stretch / 64].withUnsafeMutableBufferPointer { slice in
                // The last byte ends a text, and is in no needle.
                for place in start..<end - 3 {
                    let (one, two, three) = (bytes[place], bytes[place + 1], bytes[place + 2])
                    slice[TextSignatures.bucket(one, two, three)] |= bit
                    slice[TextSignatures.bucket(one, two, three, bytes[place + 3])] |= bit
                }
            }
        }
    }
}
