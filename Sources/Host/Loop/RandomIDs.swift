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
    /// How many of the bytes are not used yet: the first ones.
    private var left = 0

    /// Returns a new id of 130 random bits.
    mutating func next() -> String { next(time: 0, places: 0) }

    /// Returns a new id that follows those of earlier milliseconds in the order of bytes: the time in 50 bits, then 80
    /// random bits, as in a ULID (https://github.com/ulid/spec).
    ///
    /// Records whose keys are such ids are next to each other in the store, so that few pages are written for many of
    /// them.
    mutating func next(at time: Timestamp) -> String {
        next(time: UInt64(clamping: time.milliseconds), places: Self.timed)
    }

    /// Returns an id with a time in the first so many places, and random letters in the others.
    private mutating func next(time: UInt64, places: Int) -> String {
        if left == 0 { draw() }
        left -= Self.length
        let alphabet = Self.alphabet.utf8Start
        return bytes[left..<left + Self.length].withUnsafeBufferPointer { random in
            String(unsafeUninitializedCapacity: Self.length) { text in
                for place in 0..<Self.length {
                    let bits =
                        place < places
                        ? UInt8(truncatingIfNeeded: time >> UInt64(5 * (places - 1 - place)))
                        : random[place]
                    text[place] = alphabet[Int(bits & 31)]
                }
                return Self.length
            }
        }
    }

    private mutating func draw() {
        bytes = [UInt8](repeating: 0, count: Self.drawn)
        left = Self.drawn
        guard getentropy(&bytes, bytes.count) != 0 else { return }
        // The kernel lacks the call, or a sandbox forbids it.
        var generator = SystemRandomNumberGenerator()
        for place in bytes.indices { bytes[place] = .random(in: 0...255, using: &generator) }
    }
}
