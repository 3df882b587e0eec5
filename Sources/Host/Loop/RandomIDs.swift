import Glibc

/// Ids of 130 random bits each, in 26 lowercase letters and digits (Crockford's base 32).
///
/// They are drawn several at a time with one system call, since most commands get an id and never use it.
struct RandomIDs {
    private static let alphabet: StaticString = "0123456789abcdefghjkmnpqrstvwxyz"
    private static let length = 26
    /// How many bytes to draw at a time, one for each letter; `getentropy` returns at most 256.
    private static let drawn = 9 * length

    private var bytes: [UInt8] = []

    /// Returns a new id.
    mutating func next() -> String {
        if bytes.isEmpty { draw() }
        let alphabet = Self.alphabet.utf8Start
        let id = String(unsafeUninitializedCapacity: Self.length) { text in
            for place in 0..<Self.length {
                text[place] = alphabet[Int(bytes[bytes.count - 1 - place] & 31)]
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
