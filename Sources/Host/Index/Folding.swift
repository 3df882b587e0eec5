import Foundation

/// Makes texts comparable without regard to case and diacritics.
enum Folding {
    /// The folded text as UTF-8: what `contains[cd]` compares, and what texts sort by first.
    ///
    /// Case: lower, full upper, then lower case, so that "ß" is "ss" and a final sigma a sigma.
    /// Diacritics: marks that sit on a letter are left out, as are Arabic and Hebrew points; marks
    /// that make another letter of it (voicing in kana, nukta, virama, vowel signs) stay.
    static func fold(_ text: String) -> [UInt8] {
        var text = text
        let ascii: [UInt8]? = text.withUTF8 { bytes in
            guard bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
            return bytes.map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 }
        }
        return ascii ?? foldUnicode(text)
    }

    private static func foldUnicode(_ text: String) -> [UInt8] {
        var folded = String.UnicodeScalarView()
        for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars
        where !isDiacritic(scalar) {
            if scalar.isASCII {
                folded.append(scalar.value &- 0x41 < 26 ? lowercased(scalar) : scalar)
            } else {
                appendCaseFolded(scalar, to: &folded)
            }
        }
        // Composed again: a Hangul syllable must not be found within one that goes on.
        return Array(String(folded).precomposedStringWithCanonicalMapping.utf8)
    }

    private static func lowercased(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        Unicode.Scalar(UInt8(truncatingIfNeeded: scalar.value) | 0x20)
    }

    private static func appendCaseFolded(
        _ scalar: Unicode.Scalar, to folded: inout String.UnicodeScalarView
    ) {
        // One scalar at a time: lower-casing a whole word would bring the final sigma back.
        for lower in scalar.properties.lowercaseMapping.unicodeScalars {
            for upper in lower.properties.uppercaseMapping.unicodeScalars {
                let last = upper.properties.lowercaseMapping.decomposedStringWithCanonicalMapping
                folded.append(contentsOf: last.unicodeScalars.lazy.filter { !isDiacritic($0) })
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
