import AtriumKit
import Glibc

/// Ids of 26 lowercase letters and digits (Crockford's base 32).
///
/// Random bits are drawn for several at a time with one system call, since most commands get an id and never use it.
struct RandomIDs {
    private static let alphabet: StaticString = "0123456789abcdefghjkmnpqrstvwxyz"
    private static let length = 26
    /// How many of the letters are a time.
    private static let timed = 10
    /// How many bytes to draw at a time, one for each letter; `getentropy` returns at most 256.
    private static let drawn = 9 * length

    private var bytes: [UInt8] = []

    /// Returns a new id of 130 random bits.
    mutating func next() -> String { next { _ in nil } }

    /// Returns a new id that follows those of earlier milliseconds in the order of bytes: the time in 50 bits, then 80
    /// random bits, as in a ULID (https://github.com/ulid/spec).
    ///
    /// Records whose keys are such ids are next to each other in the store, so that few pages are written for many of
    /// them.
    mutating func next(at time: Timestamp) -> String {
        let bits = UInt64(clamping: time.milliseconds)
        return next { place in
            place < Self.timed
                ? UInt8(truncatingIfNeeded: bits >> (5 * (Self.timed - 1 - place))) : nil
        }
    }

    /// Returns an id with the given five bits in some places, and random ones in the others.
    private mutating func next(_ given: (_ place: Int) -> UInt8?) -> String {
        if bytes.isEmpty { draw() }
        let alphabet = Self.alphabet.utf8Start
        let id = String(unsafeUninitializedCapacity: Self.length) { text in
            for place in 0..<Self.length {
                let letter = given(place) ?? bytes[bytes.count - 1 - place]
                text[place] = alphabet[Int(letter & 31)]
            }
            return Self.length
        }
        bytes.removeLast(Self.length)
        return id
    }

    private mutating func draw() {
        bytes = [UInt8](repeating: 0, count: Self.drawn)
        guard getentropy(&bytes, bytes.count) != 0 else { return }
        // The kernel lacks the call, or a sandbox forbids it.
        var generator = SystemRandomNumberGenerator()
        for place in bytes.indices { bytes[place] = .random(in: 0...255, using: &generator) }
    }
}
