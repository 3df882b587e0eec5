import Testing

@testable import atriumctl

@Suite struct `Text in cells` {
    @Test(arguments: [
        ("Alien", "Alien", 5), ("東京物語", "東京物語", 8), ("e\u{301}tude", "e\u{301}tude", 5),
        ("שלום", "שלום", 4),
        // A family joined by U+200D is its first sign; so is one with a colour of skin.
        ("👨\u{200D}👩\u{200D}👧!", "👨!", 3), ("👍🏽", "👍", 2),
        // The selector that asks for a picture would make it wider than the library counts.
        ("❤\u{FE0F}", "❤", 1),
        // A mark on nothing, and what is assigned to nobody.
        ("\u{301}a", "\u{FFFD}a", 2), ("a\u{0378}b", "a\u{FFFD}b", 3),
        // No more marks than a cell holds.
        ("a" + String(repeating: "\u{301}", count: 90), "a\u{301}\u{301}\u{301}\u{301}", 1),
    ])
    func `is as wide as the terminal library counts`(raw: String, clean: String, width: Int) {
        let text = CellText(raw)
        #expect(Array(text.text.unicodeScalars) == Array(clean.unicodeScalars))
        #expect(text.width == width)
    }

    @Test func `drives no terminal`() {
        let text = CellText("a\u{1B}[2Jb\u{9B}31m\u{7}\r\n\u{202E}c\u{0}")
        #expect(!text.text.unicodeScalars.contains { $0.value < 0x20 || 0x7F...0x9F ~= $0.value })
        #expect(!text.text.unicodeScalars.contains("\u{202E}"))
        #expect(text.text.contains("\\u{1b}[2J"))
    }

    @Test func `is cut, filled and wrapped to a width, whatever is in it`() {
        let texts = ["Alien", "東京物語", "a東b京c", "שלום עולם", "👨👩👧👦", "e\u{301}e\u{301}", ""]
        for raw in texts {
            let text = CellText(raw)
            for width in 0...12 {
                #expect(text.cut(to: width).width <= width, "\(raw) in \(width)")
                #expect(text.filling(width).width == width, "\(raw) in \(width)")
                let lines = CellText("\(raw) \(raw) \(raw)").wrapped(to: width)
                #expect(lines.allSatisfy { $0.width <= max(2, width) }, "\(raw) in \(width)")
            }
        }
        #expect(CellText("one two three").wrapped(to: 8).map(\.text) == ["one two", "three"])
        #expect(CellText("abcdefgh").wrapped(to: 3).map(\.text) == ["abc", "def", "gh"])
    }
}
