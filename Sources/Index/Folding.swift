import AtriumKit
@_spi(_Unicode) import Swift

/// Makes texts comparable without regard to case and diacritics.
package enum Folding {
    /// Returns the folded text as UTF-8, which `contains[cd]` compares, and by which texts sort first.
    ///
    /// Case: lower, full upper, then lower case, so that "ß" is "ss" and a final sigma a sigma. Diacritics: marks that
    /// sit on a letter are left out, as are Arabic and Hebrew points; marks that make another letter of it (voicing in
    /// kana, nukta, virama, vowel signs) stay.
    package static func fold(_ text: String) -> [UInt8] {
        var text = text
        return text.withUTF8 { withFolded($0) { Array($0) } }
    }

    /// Calls the body with the folded form of a text's bytes.
    @inline(__always)
    static func withFolded<R>(
        _ text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> R
    ) -> R {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: text.count * 3) { buffer in
            if let count = FoldingTable.shared.fold(text, into: buffer) {
                return body(UnsafeBufferPointer(rebasing: buffer[..<count]))
            }
            return foldUnicode(String(decoding: text, as: UTF8.self))
                .withUnsafeBufferPointer(body)
        }
    }

    /// Does the same as ``fold(_:)`` by the rules of Unicode for each scalar, for scalars that no table has.
    static func foldUnicode(_ text: String) -> [UInt8] {
        var folded = String.UnicodeScalarView()
        // A text repeats its letters.
        var known: [Unicode.Scalar: [Unicode.Scalar]] = [:]
        for scalar in text._nfd where !isDiacritic(scalar) {
            if scalar.isASCII {
                folded.append(scalar.value &- 0x41 < 26 ? lowercased(scalar) : scalar)
            } else if !scalar.properties.changesWhenCaseMapped {
                folded.append(scalar)
            } else {
                if known[scalar] == nil { known[scalar] = caseFolded(scalar) }
                // One by one: appending a sequence copies the text before it.
                for letter in known[scalar] ?? [] { folded.append(letter) }
            }
        }
        // Composed again: a Hangul syllable must not be found within one that goes on.
        return Array(String(folded).precomposed.utf8)
    }

    private static func lowercased(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        Unicode.Scalar(UInt8(truncatingIfNeeded: scalar.value) | 0x20)
    }

    private static func caseFolded(_ scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        // One scalar at a time: lower-casing a whole word would bring the final sigma back.
        scalar.properties.lowercaseMapping.unicodeScalars.flatMap { lower in
            lower.properties.uppercaseMapping.unicodeScalars.flatMap { upper in
                upper.properties.lowercaseMapping._nfd.filter { !isDiacritic($0) }
            }
        }
    }

    private static func isDiacritic(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x300 else { return false }
        let properties = scalar.properties
        guard properties.generalCategory == .nonspacingMark else { return false }
        return switch properties.canonicalCombiningClass.rawValue {
        case 0, 7, 8, 9: false
        default: true
        }
    }
}

/// The folded form of each scalar that takes one or two bytes and belongs to a script where none
/// folds otherwise beside another: Latin, Greek, Cyrillic and the accents that go with them.
///
/// Most texts are of these, and a look into a table costs a hundredth of the rules.
struct FoldingTable: Sendable {
    /// The one that all share: Unicode does not change while the program runs.
    static let shared = FoldingTable()

    /// The scalars it knows are below this: up to Cyrillic, before Armenian.
    private static let end: UInt32 = 0x530

    /// The folded bytes of each scalar, at most three, the lowest byte first; the highest byte is their number.
    private let folded: [UInt32]

    private init() {
        folded = (0..<FoldingTable.end).map { value in
            let scalar = Unicode.Scalar(value).map(String.init) ?? ""
            let bytes = Folding.foldUnicode(scalar)
            guard bytes.count <= 3 else { return .max }
            return bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) } | UInt32(bytes.count) << 24
        }
    }

    /// Writes the folded text, for which there must be room for three times its bytes; returns the number of bytes
    /// written, nil for a text with a scalar that this table does not have.
    func fold(
        _ text: UnsafeBufferPointer<UInt8>, into bytes: UnsafeMutableBufferPointer<UInt8>
    ) -> Int? {
        folded.withUnsafeBufferPointer { folded in
            var (place, count) = (0, 0)
            while place < text.count {
                var value = UInt32(text[place])
                place &+= 1
                if value < 0x80 {
                    bytes[count] = UInt8(truncatingIfNeeded: folded[Int(value)])
                    count &+= 1
                    continue
                }
                // A lead byte of two, and its follower: other leads stand for more.
                guard value < 0xD5, place < text.count else { return nil }
                value = (value & 0x1F) << 6 | UInt32(text[place] & 0x3F)
                place &+= 1
                guard value < FoldingTable.end, folded[Int(value)] != .max else { return nil }
                var entry = folded[Int(value)]
                for _ in 0..<(entry >> 24) {
                    bytes[count] = UInt8(truncatingIfNeeded: entry)
                    entry >>= 8
                    count &+= 1
                }
            }
            return count
        }
    }
}
