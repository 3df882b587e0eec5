import Interfaces
import JSONCodec
import Testing

@testable import atriumctl

@Suite struct `Numbers and times in words` {
    typealias Reason = Notifications.Subscribe.Reply.Gap.Reason

    @Test(arguments: [(0, "0"), (999, "999"), (1000, "1,000"), (-1_234_567, "-1,234,567")])
    func `counts are grouped in threes`(number: Int, text: String) {
        #expect(Wording.count(number) == text)
    }

    @Test(arguments: [
        (3, 1_425, true, "3 of 1,425"), (3, 3, false, "3 of 3"), (0, 0, false, "0 of 0"),
        (100, 5, true, "100 items"), (5, 5, true, "5 items"), (1, 1, true, "1 item"),
        (12, 2, false, "12 of 12"),
    ])
    func `the total of a source that does not know it is that of a page, and not told as one`(
        items: Int, total: Int, hasMore: Bool, text: String
    ) {
        #expect(Wording.shown(items, of: total, hasMore: hasMore) == text)
    }

    @Test(arguments: [
        (7020.0, "1h57m"), (125.0, "2m05s"), (45.0, "45s"), (0.25, "0.3s"), (90000.0, "1d01h"),
    ])
    func `lengths of time`(seconds: Double, text: String) {
        #expect(Wording.duration(seconds) == text)
    }

    @Test(arguments: [
        (-5.0, "just now"), (45.0, "45 s ago"), (200.0, "3 min ago"), (7300.0, "2 h ago"),
        (86400.0, "1 day ago"), (86400.0 * 65, "2 months ago"), (86400.0 * 800, "2 years ago"),
    ])
    func `ages`(seconds: Double, text: String) {
        #expect(Wording.age(seconds) == text)
    }

    @Test func `a time on the wire is read to the millisecond`() {
        #expect(WireTime.seconds("1970-01-02T00:00:01.500Z") == 86401.5)
        #expect(WireTime.seconds("2026-01-31T12:00:00Z") == 1_769_860_800)
        #expect(WireTime.seconds("yesterday") == nil)
        #expect(WireTime.age(of: "1970-01-01T00:00:00Z", now: 180) == "3 min ago")
        #expect(WireTime.age(of: "soon", now: 0) == "soon")
    }

    @Test(arguments: [
        (Reason.trimmed, "missed #3 to #7: no longer kept"),
        (Reason.transient, "missed #3 to #7: transient, and came too fast to be delivered"),
        (Reason.damaged, "missed #3 to #7: damaged in the store; 'atriumctl status' says more"),
        (
            Reason.replaced,
            "the store was replaced, so missed notifications are unknown; continuing after #9"
        ),
    ])
    func `a gap says why`(reason: Reason, text: String) {
        let gap = Notifications.Subscribe.Reply.Gap(from: 3, to: 7, reason: reason)
        #expect(NotificationText.gap(gap, last: 9) == "atriumctl: \(text)")
        // A number that is not there yet.
        #expect(
            NotificationText.gap(gap, last: 2)
                == (reason == .replaced
                    ? "atriumctl: the store was replaced, so missed notifications are unknown; continuing after #2"
                    : "atriumctl: there is no #7: the last is #2; what comes next is shown"))
    }

    @Test func `bytes in binary units`() {
        #expect(Wording.bytes(512) == "512 B")
        #expect(Wording.bytes(1536) == "1.5 KiB")
        #expect(Wording.bytes(52 << 20) == "52 MiB")
    }

    @Test func `a tally says who voted what, in the order of values`() {
        let tally = VoteTally(count: 3, score: 13.0 / 3, histogram: ["5": 2, "3": 1], mine: 5)
        #expect(TallyText.full(tally) == "4.33 from 3 votes (3: 1, 5: 2); yours: 5")
        #expect(
            TallyText.full(tally, of: "web:1")
                == "4.33 from 3 votes (3: 1, 5: 2); that of web:1: 5")
        #expect(TallyText.short(tally) == "4.33 (3)")
        #expect(TallyText.full(VoteTally(count: 0, histogram: [:])) == "none")
        // A plugin that breaks the rule that votes have a score.
        let without = VoteTally(count: 1, histogram: ["1": 1])
        #expect(TallyText.full(without) == "1 vote (1: 1), without a score")
    }

    @Test func `people see the mean of the votes, whatever score ranks them`() {
        let one = VoteTally(count: 1, score: 10.0 / 3, histogram: ["5": 1])
        #expect(TallyText.short(one) == "5 (1)")
        #expect(TallyText.full(one) == "5 from 1 vote (5: 1), ranked as 3.33")
        // Without the value of each vote the score is all there is.
        let sparse = VoteTally(count: 9, score: 4, histogram: ["5": 1])
        #expect(TallyText.short(sparse) == "4 (9)")
        #expect(TallyText.short(VoteTally(count: 2, score: 4, histogram: ["up": 2])) == "4 (2)")
    }

    @Test func `values of fields`() {
        #expect(FieldText.shown(["a", "b"], type: "keywords") == "a, b")
        #expect(FieldText.shown(7020, type: "duration") == "1h57m")
        #expect(FieldText.shown(8.5, type: "number") == "8.5")
        #expect(FieldText.shown(true, type: "boolean") == "yes")
    }
}

@Suite struct `A thread` {
    private func comment(_ id: String, depth: Int, text: String? = "text") -> Interfaces.Comment {
        Interfaces.Comment(
            id: id, depth: depth, author: "web:\(id)", text: text, state: .shown,
            created: "1970-01-01T00:00:00.000Z", replies: 0)
    }

    @Test func `is a tree with lines to every reply`() {
        let comments = [
            comment("a", depth: 0), comment("b", depth: 1), comment("c", depth: 2),
            comment("d", depth: 1), comment("e", depth: 0, text: nil),
        ]
        let lines = CommentTree(width: nil, now: 120).lines(comments)
        #expect(
            lines == [
                "├─ web:a · 2 min ago · a", "│  text",
                "│  ├─ web:b · 2 min ago · b", "│  │  text",
                "│  │  └─ web:c · 2 min ago · c", "│  │     text",
                "│  └─ web:d · 2 min ago · d", "│     text",
                "└─ web:e · 2 min ago · e", "   (deleted)",
            ])
    }

    @Test func `wraps its texts between words, within the terminal`() {
        let text = String(repeating: "lorem ipsum ", count: 20)
        let lines = CommentTree(width: 40, now: 0).lines([comment("a", depth: 0, text: text)])
        #expect(lines.count > 5)
        #expect(lines.dropFirst().allSatisfy { DisplayWidth.of($0) <= 40 })
    }

    @Test func `makes control characters in texts harmless, and keeps line breaks`() {
        let lines = CommentTree(now: 0).lines([comment("a", depth: 0, text: "one\n\u{1B}[31m")])
        #expect(lines.suffix(2) == ["   one", #"   \u{1b}[31m"#])
    }
}
