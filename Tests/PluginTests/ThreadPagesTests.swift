import AtriumKit
import AtriumKitTesting
import CommentThreads
import Testing
import Threads

@Suite struct `Pages of a thread` {
    @Test func `go on where the page before ended`() throws {
        let thread = try Thread()
        try thread.post([("a", nil), ("a1", "a"), ("a11", "a1"), ("a2", "a"), ("b", nil)])
        let first = try thread.page(limit: 2)
        #expect(first.outline == "a .a1")
        let second = try thread.page(limit: 2, cursor: first.next)
        #expect(second.outline == "..a11 .a2")
        let third = try thread.page(limit: 2, cursor: second.next)
        #expect(third.outline == "b")
        #expect(third.next == nil)
    }

    @Test func `stay right while comments come and go`() throws {
        let thread = try Thread()
        try thread.post([("a", nil), ("a1", "a"), ("b", nil), ("c", nil)])
        let first = try thread.page(limit: 2)
        #expect(first.outline == "a .a1")
        try thread.delete("a1", "a", "b")
        try thread.post("d")
        #expect(try thread.page(cursor: first.next).outline == "c d")
    }

    @Test func `end after a mebibyte of texts, and go on there`() throws {
        let thread = try Thread()
        let text = String(repeating: "\u{1F600}", count: 10_000)
        for number in 10..<40 { try thread.post("c\(number)", under: nil, text: text) }
        let first = try thread.page(limit: 1_000)
        #expect(first.entries.count == (1 << 20) / 40_000 + 1)
        #expect(first.total == 30)
        let second = try thread.page(limit: 1_000, cursor: first.next)
        #expect(first.entries.count + second.entries.count == 30)
        #expect(second.next == nil)
    }

    @Test func `a comment has a cursor to replies that are too deep`() throws {
        let thread = try Thread()
        try thread.post([("a", nil), ("a1", "a"), ("a11", "a1"), ("a12", "a1"), ("b", nil)])
        let page = try thread.page(depth: 1)
        #expect(page.outline == "a .a1 b")
        #expect(page.more("a") == nil)
        let replies = try thread.page(depth: 0, limit: 1, cursor: page.more("a1"))
        #expect(replies.outline == "..a11")
        #expect(try thread.page(cursor: replies.next).outline == "..a12")
    }

    @Test func `a comment has a cursor to replies that the limit cut off`() throws {
        let thread = try Thread()
        try thread.post([
            ("a", nil), ("a1", "a"), ("a11", "a1"), ("a12", "a1"), ("a2", "a"), ("b", nil),
        ])
        let page = try thread.page(limit: 3)
        #expect(page.outline == "a .a1 ..a11")
        #expect(try thread.page(cursor: page.more("a1")).outline == "..a12")
        #expect(try thread.page(cursor: page.more("a")).outline == ".a2")
        #expect(page.more("a11") == nil)
        let whole = try thread.page()
        #expect(whole.entries.allSatisfy { $0.more == nil })
        let one = try thread.page(limit: 1)
        #expect(try thread.page(cursor: one.more("a")).outline == ".a1 ..a11 ..a12 .a2")
    }

    @Test func `the newest first has cursors of its own`() throws {
        let thread = try Thread()
        try thread.post([("a", nil), ("a1", "a"), ("a2", "a"), ("b", nil)])
        let page = try thread.page(order: .newest, limit: 3)
        #expect(page.outline == "b a .a2")
        #expect(try thread.page(cursor: page.more("a")).outline == ".a1")
        #expect(try thread.page(cursor: page.next).outline == ".a1")
    }

    @Test(arguments: [
        "", "x", "oe", "oe0", "oe0.", "oe0.nobody", "oe-1.a", "oe99.a", "of0.a", "xe0.a", "oz0.a",
        "oe1.ab", "os1.xa", "of1.z", "oe99999999999999999999.a", "next",
    ])
    func `a cursor of nobody's making is refused`(cursor: String) throws {
        let thread = try Thread()
        try thread.post([("a", nil), ("b", nil)])
        let refusal = try thread.refusal { _ = try thread.page(cursor: cursor) }
        #expect(refusal.code == .cursorInvalid)
    }

    @Test func `a cursor of another subject is refused`() throws {
        var thread = try Thread()
        try thread.post([("a", nil), ("b", nil)])
        let cursor = try thread.page(limit: 1).next
        thread.subject = .container
        let refusal = try thread.refusal { _ = try thread.page(cursor: cursor) }
        #expect(refusal.code == .cursorInvalid)
    }

    @Test func `a root, a limit and a depth that make no sense are refused`() throws {
        let thread = try Thread()
        let root = try thread.refusal { _ = try thread.page(root: "nobody") }
        #expect(root.code == .commentNotFound)
        #expect(try thread.refusal { _ = try thread.page(limit: 0) }.code == .limitExceeded)
        #expect(try thread.refusal { _ = try thread.page(depth: -1) }.code == .limitExceeded)
        #expect(try thread.page(depth: .max).outline == "")
    }

    @Test func `a chain of 100000 replies is posted, restored and read`() throws {
        let count = 100_000
        let thread = try Thread()
        for number in 0..<count {
            try thread.post("c\(number)", under: number == 0 ? nil : "c\(number - 1)", text: "x")
        }
        let deepest = try thread.page(root: "c\(count - 2)")
        #expect(deepest.entries.map(\.depth) == [count - 1])
        let first = try thread.page(limit: count - 1)
        #expect(try thread.page(cursor: first.next).entries.map(\.comment.id) == ["c\(count - 1)"])
        // The last comment first, so that each reply waits for its parent.
        let late = try Thread()
        let records = thread.host.records
        let changes = (0..<count).reversed().map { number in
            Change.put(key: "c\(number)", value: records["c\(number)"] ?? nil)
        }
        #expect(late.host.restore(changes) == [.commentCount(thread.subject, count)])
        #expect(try late.page(root: "c\(count - 2)").entries.map(\.depth) == [count - 1])
        // Only the last one left: all the others are tombstones for its sake, then none is seen.
        for number in 0..<count - 1 { try late.delete("c\(number)") }
        #expect(try late.page(limit: 3).outline == "(c0) .(c1) ..(c2)")
        try late.delete("c\(count - 1)")
        #expect(try late.page().outline == "")
    }

    @Test func `20000 comments side by side come in any order`() throws {
        let count = 20_000
        let thread = try Thread()
        var random = SystemRandomNumberGenerator()
        let changes = (0..<count).shuffled(using: &random).map { number in
            Comment(
                id: "c\(number)", subject: thread.subject, parent: nil, author: nil, text: "x",
                created: Timestamp(milliseconds: Int64(number)), fingerprint: ""
            ).record
        }
        _ = thread.host.restore(changes)
        let all = try thread.page(limit: count)
        #expect(all.entries.map(\.comment.created.milliseconds) == (0..<count).map(Int64.init))
        thread.host.undo(
            (0..<count).filter { $0 % 3 != 0 }.shuffled().map { .removed(key: "c\($0)") })
        let third = try thread.page(order: .newest, limit: count)
        #expect(
            third.entries.map(\.comment.created.milliseconds)
                == (0..<count).filter { $0 % 3 == 0 }.reversed().map(Int64.init))
    }
}
