import Glibc

/// Ids of 130 random bits each, in 26 lowercase letters and digits (Crockford's base 32).
///
/// The kernel is asked for the bits of several at once: most commands have an id drawn and never use it.
struct RandomIDs {
    private static let alphabet: StaticString = "0123456789abcdefghjkmnpqrstvwxyz"
    private static let length = 26
    /// A byte for each letter; `getentropy` gives at most 256 at a time.
    private static let drawn = 9 * length

    private var bytes: [UInt8] = []

    /// One that was never given before.
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
        // A kernel without the call, or a sandbox that forbids it.
        var generator = SystemRandomNumberGenerator()
        for place in bytes.indices { bytes[place] = .random(in: 0...255, using: &generator) }
    }
}
