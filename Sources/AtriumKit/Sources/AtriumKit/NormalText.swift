@_spi(_Unicode) import Swift

extension String {
    /// The text in NFC (Unicode Standard Annex 15), which ids of items are in; takes time by the text's length.
    ///
    /// The standard library compares texts by the same normalization. Foundation's
    /// `precomposedStringWithCanonicalMapping` moves the rest of the text for each character that changes, which takes
    /// seconds for a megabyte, and it takes letters beyond U+FFFF for others.
    public var precomposed: String {
        var scalars = UnicodeScalarView()
        for scalar in _nfc { scalars.append(scalar) }
        return String(scalars)
    }
}
