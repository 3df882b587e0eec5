/// The places of items by their ids, in many dictionaries.
///
/// A dictionary that grows copies itself: one of hundreds of thousands would hold up everybody else.
struct PlaceTable {
    private static let bits: UInt64 = 8

    private var parts: [[String: Int]] = []

    /// The place of an item; nil: it has none.
    subscript(id: String) -> Int? {
        get { parts.isEmpty ? nil : parts[Self.part(of: id)][id] }
        set {
            if parts.isEmpty { parts = Array(repeating: [:], count: 1 << Self.bits) }
            parts[Self.part(of: id)][id] = newValue
        }
    }

    /// Takes an item out and gives the place that it had.
    mutating func take(_ id: String) -> Int? {
        parts.isEmpty ? nil : parts[Self.part(of: id)].removeValue(forKey: id)
    }

    /// By the last bytes: ids are often numbered.
    private static func part(of id: String) -> Int {
        var hash: UInt64 = 0
        for byte in id.utf8.suffix(4) { hash = (hash &+ UInt64(byte)) &* 0x9E37_79B9_7F4A_7C15 }
        return Int(hash >> (64 - bits))
    }
}
