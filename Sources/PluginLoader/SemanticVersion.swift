/// A version, ordered as semver.org defines: `1.2.3`, `1.2.3-beta.1`; the part after a `+` does not count.
struct SemanticVersion: Sendable, Comparable {
    private let numbers: [UInt64]
    private let prerelease: [Substring]

    /// Parses a version; nil if the text is none.
    init?(_ text: String) {
        let parts = text.split(separator: "+", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2, !Self.areIdentifiers(Self.words(parts[1])) { return nil }
        let main = parts[0].split(
            separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        var numbers: [UInt64] = []
        for word in Self.words(main[0]) {
            guard let number = Self.number(word) else { return nil }
            numbers.append(number)
        }
        guard numbers.count == 3 else { return nil }
        self.numbers = numbers
        prerelease = main.count == 2 ? Self.words(main[1]) : []
        if main.count == 2, !Self.areIdentifiers(prerelease) { return nil }
    }

    static func < (one: SemanticVersion, other: SemanticVersion) -> Bool {
        if one.numbers != other.numbers {
            return one.numbers.lexicographicallyPrecedes(other.numbers)
        }
        // One without a prerelease comes after all that have one.
        if one.prerelease.isEmpty || other.prerelease.isEmpty {
            return !one.prerelease.isEmpty && other.prerelease.isEmpty
        }
        for (mine, theirs) in zip(one.prerelease, other.prerelease) where mine != theirs {
            switch (number(mine), number(theirs)) {
            case (let mine?, let theirs?): return mine < theirs
            case (nil, nil): return mine < theirs
            case (let mine, _): return mine != nil
            }
        }
        return one.prerelease.count < other.prerelease.count
    }

    private static func words(_ text: Substring) -> [Substring] {
        text.split(separator: ".", omittingEmptySubsequences: false)
    }

    private static func number(_ word: Substring) -> UInt64? {
        let isPlain = word.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard isPlain, word.count == 1 || word.first != "0" else { return nil }
        return UInt64(word)
    }

    private static func areIdentifiers(_ words: [Substring]) -> Bool {
        words.allSatisfy { word in
            !word.isEmpty
                && word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
        }
    }
}
