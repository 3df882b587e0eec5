import Testing

@testable import atriumctl

@Suite struct `Tables` {
    private func table(_ rows: [[String]]) -> Table {
        var table = Table([.text("id", least: 4), .text("title"), .number("rating")])
        for row in rows { table.add(row) }
        return table
    }

    @Test func `columns are aligned under a header in upper case, numbers to the right`() {
        let lines = table([["alien", "Alien", "8.5"], ["m", "M", "10"]]).lines(width: nil)
        #expect(
            lines == ["ID     TITLE  RATING", "alien  Alien     8.5", "m      M          10"])
    }

    @Test func `nothing is cut where there is no terminal`() {
        let long = String(repeating: "x", count: 500)
        #expect(table([[long, "", "1"]]).lines(width: nil)[1].hasPrefix(long))
    }

    @Test func `one long text makes its own row longer where there is no terminal, and no other`() {
        let long = String(repeating: "x", count: 5_000)
        let rows = table([["a", long, "1"], ["b", "Heat", "2"], [long, "Alien", "3"]])
            .lines(width: nil)
        #expect(rows[1].hasSuffix("\(long)  \(String(repeating: " ", count: 5))1"))
        #expect(rows[2].count < 200, "\(rows[2].count)")
        #expect(rows[2].hasSuffix(" 2"))
        #expect(rows[3].hasPrefix("\(long)  Alien  "))
        #expect(rows[0].count == rows[2].count, "short rows stay in columns")
    }

    @Test(arguments: [30, 40, 60])
    func `no line is wider than the terminal, and numbers stay whole`(width: Int) {
        let long = String(repeating: "word ", count: 30)
        let lines = table([["the-id-of-an-item", long, "12345"]]).lines(width: width)
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= width })
        #expect(lines[1].hasSuffix("12345"))
        #expect(lines[1].contains("…"))
    }

    @Test func `a terminal too narrow for the least of it is still not overrun`() {
        let lines = table([["abcdefgh", "abcdefgh", "12345"]]).lines(width: 10)
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= 10 })
    }

    @Test func `the widest text gives way first`() {
        let long = String(repeating: "x", count: 50)
        let lines = table([["short-id", long, "1"]]).lines(width: 40)
        #expect(lines[1].hasPrefix("short-id  xx"))
    }

    @Test func `what does not fit is left out, dispensable columns first, and named`() {
        var table = Table([
            .identifier("id", least: 16, .dispensable), .text("title", least: 20, .essential),
            .number("rating"), .text("nothing"), .number("votes"),
        ])
        table.add([
            "the-shawshank-redemption-1994", "The Shawshank Redemption", "9.3", "", "1",
        ])
        #expect(table.note(width: nil) == nil)
        #expect(
            table.lines(width: 57) == [
                "ID                TITLE                     RATING  VOTES",
                "the-shaw…on-1994  The Shawshank Redemption     9.3      1",
            ], "an empty column goes, and an id is cut in the middle")
        #expect(table.note(width: 57) == nil, "nothing is lost with an empty column")
        #expect(
            table.lines(width: 40) == [
                "TITLE                     RATING  VOTES",
                "The Shawshank Redemption     9.3      1",
            ])
        #expect(table.note(width: 40)?.hasPrefix("no room for: id; ") == true)
        #expect(
            table.lines(width: 30) == [
                "TITLE                   RATING", "The Shawshank Redempt…     9.3",
            ])
        #expect(table.note(width: 30)?.hasPrefix("no room for: id, votes; ") == true)
    }

    @Test(arguments: 1...120)
    func `every column that is left out is named, whatever the width`(width: Int) throws {
        var table = Table([
            .identifier("id"), .text("version"), .state("state"), .number("parts", .dispensable),
            .text("title", least: 12, .essential),
        ])
        table.add([
            "org.example.a-plugin-with-a-name-that-is-wide", "1.0.0", "loaded", "3",
            "Thumbs up and down for what is in a list",
        ])
        let lines = table.lines(width: width)
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= width })
        let named =
            table.note(width: width)?.dropFirst("no room for: ".count)
            .prefix { $0 != ";" }.split(separator: ", ").map { $0.uppercased() } ?? []
        let shown = lines[0].split(separator: " ").map(String.init)
        let all = ["ID", "VERSION", "STATE", "PARTS", "TITLE"]
        if width > 1 { #expect(shown == all.filter { !named.contains($0) }, "no header is cut") }
    }

    @Test func `dispensable columns go before short texts are cut, and sentences go on below`() {
        var table = Table([
            .identifier("component", least: 24), .text("plugin", least: 12),
            .text("lives in", .dispensable), .sentences("reason"),
        ])
        table.add(["likes", "org.example.likes", "process", ""])
        table.add([
            "list", "org.atrium.file", "process",
            "The file /srv/films/nonexistent.csv is not there: write it.",
        ])
        #expect(
            table.lines(width: 70) == [
                "COMPONENT  PLUGIN             REASON",
                "likes      org.example.likes",
                "list       org.atrium.file    The file /srv/films/nonexistent.csv is",
                "                              not there: write it.",
            ])
        #expect(table.note(width: 70)?.hasPrefix("no room for: lives in; ") == true)
        #expect(table.lines(width: nil).count == 3)
    }

    @Test func `rows that follow have the columns of those before`() {
        var table = Table([.text("title", .essential), .text("note")])
        table.add(["one", "a note"])
        table.keepLayout(width: 10)
        table.add(["two", "x"])
        #expect(table.lines(width: 10) == ["TITLE", "two"])
        #expect(table.note(width: 10)?.hasPrefix("no room for: note; ") == true)
    }

    @Test func `wide characters and combining marks keep the columns in line`() {
        let lines = table([
            ["東京", "Tōkyō", "1"], ["cafe\u{301}", "x", "2"], ["🎬", "film", "3"],
        ]).lines(width: nil)
        #expect(Set(lines.map(DisplayWidth.of)).count == 1)
    }

    @Test func `what would drive the terminal is written as escapes`() {
        let lines = table([["a\u{1B}[2Jb", "one\ntwo\u{202E}", "\u{9B}1"]]).lines(width: nil)
        let scalars = lines.joined().unicodeScalars
        #expect(!scalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) })
        #expect(lines[1].contains(#"a\u{1b}[2Jb"#))
        #expect(lines[1].contains(#"one\ntwo\u{202e}"#))
    }

    @Test func `colours do not count as width`() {
        var table = Table([.state("state"), .text("id")])
        table.add(["failed", "a"])
        table.add(["ready", "b"])
        let lines = table.lines(width: nil, color: true)
        #expect(lines[1] == "\u{1B}[31mfailed\u{1B}[0m  a")
        #expect(lines[2] == "\u{1B}[32mready\u{1B}[0m   b")
    }
}

@Suite struct `Widths` {
    @Test(arguments: [
        ("", 0), ("abc", 3), ("東京", 4), ("e\u{301}", 1), ("👩‍👩‍👧", 2), ("❤️", 2), ("한글", 4),
        ("ｆｕｌｌ", 8), ("Ω", 1), ("a\u{200B}", 1),
    ])
    func `a text takes so many columns`(text: String, width: Int) {
        #expect(DisplayWidth.of(text) == width)
    }

    @Test(arguments: [
        ("abcdef", 6, "abcdef"), ("abcdef", 5, "ab…ef"), ("abcdef", 4, "ab…f"),
        ("abcdef", 2, "a…"), ("東京都庁舎", 7, "東…庁舎"), ("東京都庁舎", 6, "東…舎"),
    ])
    func `an id is cut in its middle`(text: String, width: Int, cut: String) {
        #expect(DisplayWidth.cutMiddle(text, to: width) == cut)
        #expect(DisplayWidth.of(DisplayWidth.cutMiddle(text, to: width)) <= width)
    }

    @Test(arguments: [
        ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("abcdef", 1, "…"), ("abcdef", 0, ""),
        ("東京都", 5, "東京…"), ("東京都", 4, "東…"),
    ])
    func `a text is cut to columns, not to characters`(text: String, width: Int, cut: String) {
        #expect(DisplayWidth.cut(text, to: width) == cut)
        #expect(DisplayWidth.of(DisplayWidth.cut(text, to: width)) <= width)
    }
}

@Suite struct `The pager` {
    @Test(arguments: [
        ("less", "less"), ("less -S", "less"), ("LESS=F /usr/bin/less", "/usr/bin/less"),
        ("$MINE -x", nil), ("", nil),
    ])
    func `is the program that a line of shell starts`(line: String, program: String?) {
        #expect(Pager.program(of: line) == program)
    }
}
