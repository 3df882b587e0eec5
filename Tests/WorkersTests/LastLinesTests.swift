import Testing

@testable import Workers

@Suite struct `The last lines of a worker` {
    private func words(_ lines: String...) -> LastLines {
        var words = LastLines()
        for line in lines { words.read(line) }
        return words
    }

    @Test func `have the last failure that the Swift runtime reported`() {
        let words = words("Fatal error: One", "a line", "X/Y.swift:3: Fatal error: Two.", "another")
        #expect(words.failure == "X/Y.swift:3: Fatal error: Two")
        #expect(words.describesEnd)
        #expect(self.words("a line").failure == nil)
        #expect(!self.words("a line").describesEnd)
    }

    @Test func `have what was wrong with a program`() {
        let sentence = "The program /p/likes.py of the plugin org.likes ended with status 3"
        #expect(words("a line", sentence + ".").failure == sentence)
    }

    @Test func `have the last exception of Python's`() {
        let words = words(
            "Traceback (most recent call last):", "  File \"likes.py\", line 3, in <module>",
            "    count(1)", "ValueError: one", "",
            "During handling of the above exception, another exception occurred:", "",
            "Traceback (most recent call last):", "  File \"likes.py\", line 5, in <module>",
            "KeyError: 'two'", "more")
        #expect(words.failure == "KeyError: 'two'")
    }

    @Test func `have the first function with a name that is no runtime's`() {
        let words = words(
            "ended by SIGTRAP at",
            "/usr/lib/libswiftCore.so(Swift._assertionFailure() -> Swift.Never+0x12a) [0x7f01]",
            "/opt/plugins/libStars.so(+0x4a2b) [0x7f02]",
            "/opt/plugins/libStars.so(Stars.Stars.cast(value: Swift.Double) -> ()+0x3f) [0x7f03]",
            "/opt/plugins/libStars.so(Stars.other() -> ()+0x3f) [0x7f04]")
        #expect(words.function == "Stars.Stars.cast(value: Swift.Double) -> ()")
        // Only what follows on the signal is a backtrace.
        #expect(self.words("libStars.so(Stars.other() -> ()+0x3f) [0x7f04]").function == nil)
    }
}
