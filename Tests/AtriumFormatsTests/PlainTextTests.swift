import AtriumFormats
import Testing

/// Files that people write, which are to be UTF-8.
struct PlainTextTests {
    @Test func `a text in UTF-8 is itself, without a byte order mark`() throws {
        #expect(try PlainText.decode(Array("é\n".utf8)) == "é\n")
        #expect(try PlainText.decode([0xEF, 0xBB, 0xBF] + Array("é\n".utf8)) == "é\n")
        #expect(try PlainText.decode([]).isEmpty)
    }

    @Test func `a list of items in UTF-16 is named, too`() {
        let other = TextFormat.foreign([0xFF, 0xFE, 0x5B, 0, 0x5D, 0])
        #expect(other?.name == "UTF-16, not UTF-8")
        #expect(other?.hint == "`iconv -f UTF-16 -t UTF-8` converts it.")
    }

    @Test(
        arguments: [
            ([0xFF, 0xFE, 0x61, 0], "UTF-16, not UTF-8: `iconv -f UTF-16 -t UTF-8` converts it"),
            ([0xFE, 0xFF, 0, 0x61], "UTF-16, not UTF-8: `iconv -f UTF-16 -t UTF-8` converts it"),
            (
                [0x61, 0, 0x62, 0, 0x63, 0],
                "UTF-16, not UTF-8: `iconv -f UTF-16LE -t UTF-8` converts it"
            ),
            ([0, 0x61, 0, 0x62], "UTF-16, not UTF-8: `iconv -f UTF-16BE -t UTF-8` converts it"),
            ([0x61, 0x0A, 0x62, 0, 0x63], "no text: line 2 has a NUL byte"),
            (
                [0x61, 0x0A, 0x0A, 0x63, 0x61, 0x66, 0xE9, 0x0A],
                "not UTF-8: line 3 has the byte 0xE9; "
                    + "`iconv -f WINDOWS-1252 -t UTF-8` converts older text of Windows"
            ),
        ] as [([UInt8], String)])
    func `what is no UTF-8 is named, with what to do`(bytes: [UInt8], reason: String) {
        let problem = #expect(throws: PlainText.Problem.self) { try PlainText.decode(bytes) }
        #expect(problem?.reason == reason)
    }
}
