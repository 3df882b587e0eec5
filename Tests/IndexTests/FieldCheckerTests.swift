import AtriumKit
import Testing

@testable import Index

struct IndexFieldCheckerTests {
    private let checker = FieldChecker(fields: [
        Field(name: "title", type: .text, required: true, search: true),
        Field(name: "genres", type: .keywords),
        Field(name: "rating", type: .number, min: 0, max: 10),
        Field(name: "year", type: .integer, min: 1888),
        Field(name: "seen", type: .boolean),
        Field(name: "length", type: .duration),
        Field(name: "added", type: .time),
        Field(name: "site", type: .url),
        Field(name: "poster", type: .image),
        Field(name: "plot", type: .markdown),
        Field(name: "day", of: "added", by: .day, zone: "UTC"),
    ])

    private static let whole = "a whole number from -9007199254740992 to 9007199254740992"
    private static let float =
        "a number that a 64-bit float holds exactly (a field of the type text keeps every digit)"
    private static let moment = "a time to the millisecond, in UTC from the year 0 to 9999"

    private func problem(_ fields: [String: Value], id: String = "a", parent: String? = nil)
        -> FieldProblem?
    {
        checker.check(
            Item(id: id, fields: fields.merging(["title": "A"]) { own, _ in own }, parent: parent))
    }

    @Test func `an item with all fields right has no problem`() {
        let fields: [String: Value] = [
            "genres": ["drama"], "rating": 10, "year": 2_026.0, "seen": false, "length": 0,
            "added": "2026-01-31",
        ]
        #expect(problem(fields) == nil)
        #expect(problem(["rating": nil], id: "é東京", parent: "b") == nil)
        #expect(problem(["year": .int(1 << 53), "length": 1e300]) == nil)
        for time in [
            "2026-01-31T20:15:00.123000Z", "9999-12-31T23:59:59.999Z", "0000-01-01",
            "2026-01-31T20:15:00.1+01:00", "2026-01-31T20:15:00+01:00",
        ] {
            #expect(problem(["added": .text(time)]) == nil, "\(time)")
        }
    }

    @Test(arguments: [
        ("title", Value.null, "text", "nothing"),
        ("title", 7, "text", "7"),
        ("genres", "drama", "a list of texts", "text 'drama'"),
        ("genres", .list(["drama", 3]), "a list of texts", "a list with 3"),
        ("rating", "9", "a finite number", "text '9'"),
        ("rating", .number(.infinity), "a finite number", "inf"),
        ("rating", 10.5, "at most 10", "10.5"),
        ("rating", -1, "at least 0", "-1"),
        ("year", 1_999.5, "a whole number", "1999.5"),
        ("year", 1_800, "at least 1888", "1800"),
        ("seen", 1, "true or false", "1"),
        ("length", -1, "a duration in seconds, 0 or more", "-1"),
        ("day", "2026-01-31", "nothing, as it follows from 'added'", "text '2026-01-31'"),
        ("added", "yesterday", "a time (RFC 3339) or a date (2026-01-31)", "text 'yesterday'"),
        ("added", .object([:]), "a time (RFC 3339) or a date (2026-01-31)", "an object"),
        (
            "ratng", 1,
            "a declared field (added, day, genres, length, plot, poster, rating, seen, site, title, year)",
            "an undeclared one"
        ),
    ])
    func `a field that is wrong is refused with what was expected and found`(
        field: String, value: Value, expected: String, found: String
    ) {
        #expect(
            problem([field: value])
                == FieldProblem(item: "a", field: field, expected: expected, found: found))
    }

    @Test func `a value that can't be kept just so is refused`() {
        let cases: [(field: String, value: Value, expected: String)] = [
            ("year", .int((1 << 53) + 1), Self.whole),
            ("year", .number(1e17), Self.whole),
            ("rating", .int(-(1 << 53) - 1), Self.float),
            ("length", .int(.max), Self.float),
            ("added", .text("2026-01-31T20:15:00.0001Z"), Self.moment),
            ("added", .text("9999-12-31T23:00:00-02:00"), Self.moment),
            ("added", .text("0000-01-01T00:00:00+01:00"), Self.moment),
        ]
        for (field, value, expected) in cases {
            let problem = problem([field: value])
            #expect(problem?.field == field && problem?.expected == expected, "\(value)")
        }
    }

    @Test(arguments: [
        ("site", "https://example.org"), ("site", "HTTP://example.org:80/a?b=c#d"),
        ("site", "https://de.wikipedia.org/wiki/Köln"), ("site", "mailto:club@example.org"),
        ("poster", "https://example.org/poster.png"), ("poster", "data:image/png;base64,iVBORw=="),
        ("poster", "source:cover"),
        ("plot", "# A *title*\n\n<script>"), ("plot", ""),
    ])
    func `a URL, an image and Markdown are taken`(field: String, text: String) {
        #expect(problem([field: .text(text)]) == nil)
    }

    @Test(arguments: [
        ("site", "javascript:alert(1)"), ("site", "example.org"), ("site", "https://"),
        ("site", "https:///a"), ("site", "https://a b"), ("site", " https://example.org"),
        ("site", "https://example.org/\u{202e}gpj"), ("site", "https://example.org/\"x"),
        ("site", "mailto:"), ("site", "data:text/html;base64,PHA+"), ("site", ""),
        ("site", "https://example.org/" + String(repeating: "a", count: 2_030)),
        ("poster", "poster.png"), ("poster", "mailto:club@example.org"),
        ("poster", "data:image/svg+xml;base64,PHN2Zz4="), ("poster", "data:image/png;base64,"),
        ("poster", "data:image/png;base64,iVB"), ("poster", "data:image/png;base64,iV=ORw=="),
        ("poster", "data:image/png,iVBORw=="),
    ])
    func `what is no URL or no image is refused with what one is`(field: String, text: String) {
        let expected =
            field == "site"
            ? "a URL of 2048 bytes at most that begins with https://, http:// or mailto:"
            : "an image: a URL of 2048 bytes at most that begins with https:// or http://, "
                + "data:image/TYPE;base64,… with the type png, jpeg, gif, webp or avif, "
                + "or source:NAME for a picture that its source has"
        #expect(problem([field: .text(text)])?.expected == expected)
        #expect(problem([field: 7])?.found == "7")
        #expect(problem(["plot": 7])?.expected == "text in Markdown")
    }

    @Test(arguments: [
        ("", "an empty one"), (String(repeating: "x", count: 201), "201 bytes"),
        (String(repeating: "é", count: 101), "202 bytes"),
        ("a\nb", "the control character U+000A"), ("a\u{85}", "the control character U+0085"),
        ("e\u{301}", "text that is not in NFC"),
    ])
    func `an id that breaks the rule is refused with the rule`(id: String, found: String) {
        #expect(problem([:], id: id)?.field == "id")
        #expect(problem([:], id: id)?.found == found)
        #expect(problem([:], parent: id)?.field == "parent")
    }

    @Test func `an id of 200 bytes is allowed`() {
        #expect(problem([:], id: String(repeating: "é", count: 100)) == nil)
    }
}
