import AtriumKit
import AtriumKitTesting
import CommentThreads
import Testing
import Threads

/// Comments that wait for a moderator, or that one removed.
@Suite struct HeldCommentsTests {
    private func held(_ thread: Thread) throws -> [AtriumKit.Comment] {
        var query = ThreadQuery(subject: thread.subject)
        query.tellsHeld = true
        guard case .thread(let page) = try thread.host.ask(.thread(query)) else { return [] }
        return page.held.map(\.comment)
    }

    private func pending(
        _ thread: Thread, limit: Int = 100, cursor: String? = nil
    ) throws -> ThreadPage {
        let query = ComponentQuery.pendingComments(limit: limit, cursor: cursor)
        guard case .thread(let page) = try thread.host.ask(query) else {
            throw Refusal(.refused, "no queue")
        }
        return page
    }

    @discardableResult
    private func moderate(
        _ id: String, _ state: AtriumKit.Comment.State, _ reason: String? = nil, in thread: Thread
    ) throws -> Decision {
        try thread.host.run(
            .moderateComment(id: id, state: state, reason: reason), as: 9, isModerator: true)
    }

    @Test func `the queue is oldest first, in pages that stay right while it gets shorter`() throws
    {
        let thread = try Thread(["moderated": true])
        for id in ["a", "b", "c", "d", "e"] { try thread.post(id) }
        try thread.post("seen", by: 9, isModerator: true)
        let first = try pending(thread, limit: 2)
        #expect(first.entries.map(\.comment.id) == ["a", "b"])
        #expect(first.entries.map(\.comment.text) == ["says a", "says b"])
        #expect(first.total == 5)
        try moderate("b", .shown, in: thread)
        let second = try pending(thread, limit: 2, cursor: first.next)
        #expect(second.entries.map(\.comment.id) == ["c", "d"])
        #expect(second.total == 4)
        let last = try pending(thread, limit: 2, cursor: second.next)
        #expect(last.entries.map(\.comment.id) == ["e"])
        #expect(last.next == nil)
        #expect(try thread.refusal { _ = try pending(thread, cursor: "x") }.code == .cursorInvalid)
    }

    @Test func `held comments come with their authors, and count for nobody`() throws {
        let thread = try Thread(["moderated": true])
        try thread.post("a", by: 1)
        try thread.post("b", by: 2)
        #expect(try held(thread).map(\.id) == ["a", "b"])
        #expect(try held(thread).map(\.author) == [ActorID(1), ActorID(2)])
        #expect(try thread.page().total == 0)
        #expect(try thread.page().held == [], "only who asks for them")
        try moderate("a", .shown, in: thread)
        #expect(try held(thread).map(\.id) == ["b"])
        #expect(try thread.page().total == 1)
    }

    @Test func `of each author the last few are returned`() throws {
        let thread = try Thread(["moderated": true])
        try thread.post("mine", by: 2)
        for index in 10..<30 { try thread.post("n\(index)", by: 1) }
        let ids = try held(thread).map(\.id)
        #expect(ids == ["mine"] + (20..<30).map { "n\($0)" })
    }

    @Test func `a reason stays with what was removed, until it is taken back`() throws {
        let thread = try Thread()
        try thread.post("a")
        let removed = try moderate("a", .removed, "Off topic", in: thread)
        guard case .comment(let entry) = removed.answer else { return }
        #expect(entry.comment.reason == "Off topic")
        #expect(entry.comment.text == nil)
        #expect(try held(thread).map(\.reason) == ["Off topic"])
        #expect(try held(thread).map(\.author) == [ActorID(1)])
        #expect(try moderate("a", .removed, "Off topic", in: thread).changes == [])
        try moderate("a", .removed, "Rude", in: thread)
        #expect(try held(thread).map(\.reason) == ["Rude"])
        let record = try #require(try moderate("a", .removed, in: thread).changes.first?.value)
        #expect(record.object?["reason"] == nil && record.object?["moderator"] == nil)
        #expect(try held(thread) == [])
    }

    @Test func `why it waits is known until the text is another, or it is shown`() throws {
        let thread = try Thread()
        for id in ["a", "b"] {
            try thread.post(id)
            try moderate(id, .pending, "No links", in: thread)
        }
        #expect(try pending(thread).entries.map(\.comment.reason) == ["No links", "No links"])
        try thread.host.run(.editComment(id: "a", text: "without"))
        try moderate("b", .shown, "Fine", in: thread)
        #expect(try pending(thread).entries.map(\.comment.reason) == [nil])
        guard case .comment(let shown?) = try thread.host.ask(.comment(id: "b")) else { return }
        #expect(shown.comment.reason == nil)
    }
}
