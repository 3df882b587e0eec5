import AtriumKit
import AtriumKitTesting
import CommentThreads
import Testing
import Threads

@Suite struct `The threads` {
    @Test func `replies stand below what they answer, in pre-order`() throws {
        let thread = try Thread()
        try thread.post([("a", nil), ("b", nil), ("a1", "a"), ("a11", "a1"), ("a2", "a")])
        let page = try thread.page()
        #expect(page.outline == "a .a1 ..a11 .a2 b")
        #expect(page.entries.map(\.replies) == [2, 1, 0, 0, 0])
        #expect(page.total == 5)
        #expect(try thread.page(order: .newest).outline == "b a .a2 .a1 ..a11")
        #expect(try thread.page(root: "a").outline == ".a1 ..a11 .a2")
    }

    @Test func `their facts are what the settings allow`() throws {
        #expect(try MemoryHost(Threads.self).facts == .comments(CommentFacts(maxLength: 10_000)))
        let host = try MemoryHost(
            Threads.self,
            settings: ["maxLength": 80, "moderated": true, "subjects": ["container"]])
        #expect(
            host.facts
                == .comments(
                    CommentFacts(maxLength: 80, moderated: true, subjects: [.container])))
    }

    @Test func `other rules hold from the next comment on, and what is there stays`() throws {
        let thread = try Thread()
        try thread.post([("a", nil), ("a1", "a")])
        #expect(try thread.host.change(settings: ["maxLength": 3, "moderated": true]))
        #expect(
            thread.host.facts == .comments(CommentFacts(maxLength: 3, moderated: true)))
        #expect(throws: Refusal.self) { try thread.post("b", text: "long") }
        try thread.post("b", text: "hey")
        #expect(try thread.page().outline == "a .a1")
        // One that is made with them shows the same.
        try thread.host.restart()
        #expect(try thread.page().outline == "a .a1")
        #expect(throws: SettingError.self) {
            try thread.host.change(settings: ["subjects": ["nothing"]])
        }
        #expect(try thread.page().outline == "a .a1")
    }

    @Test func `comments are the same when they are restored from records or at once`() throws {
        let thread = try Thread()
        // A reply's id may come before its parent's.
        try thread.post([("m", nil), ("a", "m"), ("b", "a"), ("c", nil), ("d", nil)])
        try thread.delete("m", "d")
        let before = try thread.page()
        for atOnce in [false, true] {
            try thread.host.restart(atOnce: atOnce)
            #expect(try thread.page() == before)
        }
        try thread.post([("e", "b"), ("f", nil)])
        #expect(try thread.page().outline == "(m) .a ..b ...e c f")
    }

    @Test func `a comment that is handed over and answers itself is left out`() throws {
        let host = try MemoryHost(Threads.self)
        let harness = try ComponentHarness(
            Threads.self, container: "films", component: "talk", settings: [:], fields: [],
            services: host.services)
        func comment(_ id: String, parent: String?) -> AtriumKit.Comment {
            AtriumKit.Comment(
                id: id, subject: .item("alien"), parent: parent, author: nil, text: "x",
                created: Timestamp(milliseconds: 1), fingerprint: "")
        }
        harness.reserve(comments: 1_000_000)
        harness.restore(comments: [comment("a", parent: "a"), comment("b", parent: nil)])
        let told = Array(harness.finishRestore()).flatMap { $0 }
        #expect(told == [.commentCount(.item("alien"), 1)])
    }

    @Test func `subjects have threads of their own`() throws {
        var thread = try Thread()
        try thread.post("a")
        thread.subject = .container
        try thread.post("b")
        #expect(try thread.page().outline == "b")
        #expect(thread.host.events.last == .commentCount(.container, 1))
    }

    @Test func `a deleted comment is a tombstone where it has replies, else gone`() throws {
        let thread = try Thread()
        try thread.post([("a", nil), ("a1", "a"), ("b", nil)])
        try thread.delete("a", "b")
        let page = try thread.page()
        #expect(page.outline == "(a) .a1")
        #expect(page.total == 1)
        #expect(page.entries[0].comment.state == .removed)
        #expect(page.entries[0].comment.author == nil)
        #expect(thread.host.records.count == 3)
        #expect(thread.host.records["b"]?.object?["text"] == nil)
    }

    @Test func `tombstones go with their last reply, and come back with none`() throws {
        let thread = try Thread()
        try thread.post([("a", nil), ("b", "a"), ("c", "b"), ("d", "c")])
        try thread.delete("b", "a", "c")
        #expect(try thread.page().outline == "(a) .(b) ..(c) ...d")
        try thread.delete("d")
        #expect(try thread.page().outline == "")
        #expect(try thread.page().total == 0)
    }

    @Test func `a deleted comment takes neither replies nor edits`() throws {
        let thread = try Thread()
        try thread.post([("a", nil), ("a1", "a")])
        try thread.delete("a")
        let reason = try thread.refusal { try thread.post("a2", under: "a") }.reason
        #expect(reason.contains("was removed"))
        let refusal = try thread.refusal {
            try thread.host.run(.editComment(id: "a", text: "back"))
        }
        #expect(refusal.code == .refused)
        #expect(try thread.host.run(.deleteComment(id: "a")).changes == [])
    }

    @Test func `an author edits and deletes, a moderator deletes alone, others do neither`() throws
    {
        let thread = try Thread()
        try thread.post("a", by: 1)
        for command in [
            ComponentCommand.editComment(id: "a", text: "new"), .deleteComment(id: "a"),
        ] {
            _ = try thread.refusal { try thread.host.run(command, as: 2) }
        }
        let rewritten = try thread.refusal {
            try thread.host.run(.editComment(id: "a", text: "new"), as: 2, isModerator: true)
        }
        #expect(rewritten.reason.contains("only they change its text"))
        let edited = try thread.host.run(.editComment(id: "a", text: "new"), as: 1)
        guard case .comment(let entry) = edited.answer else { return }
        #expect(entry.comment.text == "new")
        #expect(entry.comment.edited != nil)
        #expect(edited.events == [.didEdit(entry.comment)])
        #expect(try thread.host.run(.editComment(id: "a", text: "new"), as: 1).changes == [])
        for text in ["\u{e9}", "e\u{301}"] {
            let edited = try thread.host.run(.editComment(id: "a", text: text), as: 1)
            #expect(edited.changes.count == 1, "another form of the same text is another text")
        }
        try thread.host.run(.deleteComment(id: "a"), as: 2, isModerator: true)
        #expect(try thread.page().total == 0)
    }

    @Test func `moderated comments wait, and are shown by a moderator`() throws {
        let thread = try Thread(["moderated": true])
        let pending = try thread.post("a")
        #expect(pending.events == [])
        #expect(try thread.page().outline == "")
        #expect(try thread.refusal { try thread.post("a1", under: "a") }.reason.contains("waits"))
        let show = ComponentCommand.moderateComment(id: "a", state: .shown)
        _ = try thread.refusal { try thread.host.run(show) }
        let shown = try thread.host.run(show, as: 2, isModerator: true)
        #expect(shown.events.count == 2)
        #expect(shown.events.last == .commentCount(thread.subject, 1))
        try thread.host.run(.editComment(id: "a", text: "something else"))
        #expect(try thread.page().outline == "")
        try thread.post("m", by: 2, isModerator: true)
        #expect(try thread.page().outline == "m")
    }

    @Test func `a comment that waits again shows its place alone, for its replies`() throws {
        let thread = try Thread()
        try thread.post([("a", nil), ("a1", "a")])
        try thread.host.run(
            .moderateComment(id: "a", state: .pending), as: 2, isModerator: true)
        let page = try thread.page()
        #expect(page.outline == "(a) .a1")
        #expect(page.entries[0].comment.state == .pending)
        #expect(page.total == 1)
    }

    @Test func `what was deleted stays so`() throws {
        let thread = try Thread()
        try thread.post("a")
        try thread.delete("a")
        let refusal = try thread.refusal {
            try thread.host.run(
                .moderateComment(id: "a", state: .shown), as: 2, isModerator: true)
        }
        #expect(refusal.reason.contains("text is gone"))
    }

    @Test func `a repeated post is answered as the first time, whatever came after`() throws {
        let thread = try Thread()
        let first = try thread.post("a", text: "hello")
        try thread.post("a1", under: "a", by: 2)
        try thread.host.run(.editComment(id: "a", text: "changed"))
        let second = try thread.post("a", text: "hello")
        #expect(second.changes == [])
        #expect(second.answer == first.answer)
        try thread.delete("a")
        guard case .comment(let left) = try thread.post("a", text: "hello").answer else {
            Issue.record("there is no answer")
            return
        }
        #expect(left.comment.state == .removed && left.comment.text == nil)
    }

    @Test func `nothing of a text is left in the record of a deleted comment`() throws {
        let thread = try Thread()
        let digest = CommentDraft(id: "a", subject: .container, parent: nil, text: "hello")
            .fingerprint
        try thread.post("a", text: "hello")
        try thread.post("b", text: "hello")
        func digests() -> [String?] {
            ["a", "b"].map { thread.host.records[$0]?.object?["fingerprint"]?.text }
        }
        #expect(digests() == [digest, digest])
        try thread.delete("a")
        try thread.host.run(
            .moderateComment(id: "b", state: .removed), as: 2, isModerator: true)
        #expect(digests() == ["", ""])
        // Nor is it read from a record of an earlier version.
        let old = Comment(
            key: "c",
            value: .object([
                "state": .text("removed"), "created": .int(1), "author": .int(1),
                "fingerprint": .text(digest),
            ]))
        #expect(old?.fingerprint == "")
    }

    @Test func `an id that is taken by other content is a conflict`() throws {
        let thread = try Thread()
        try thread.post("parent")
        try thread.post("a", text: "hello")
        for body: () throws -> Void in [
            { try thread.post("a", text: "other") }, { try thread.post("a", by: 2, text: "hello") },
            { try thread.post("a", under: "parent", text: "hello") },
        ] {
            let refusal = try thread.refusal(body)
            #expect(refusal.code == .conflict)
            #expect(refusal.evidence["comment"] == "a")
        }
    }

    @Test func `a text is neither empty nor too long`() throws {
        let thread = try Thread(["maxLength": 5])
        try thread.post("a", text: "naïve")
        let long = try thread.refusal { try thread.post("b", text: "naïvely") }
        #expect(long.code == .limitExceeded)
        #expect(long.reason.contains("5") && long.reason.contains("7"))
        _ = try thread.refusal { try thread.post("b", text: " \n") }
        _ = try thread.refusal { try thread.post("", text: "a") }
        _ = try thread.refusal { try thread.post(String(repeating: "x", count: 201), text: "a") }
    }

    @Test func `only the subjects of the settings are commented on`() throws {
        var thread = try Thread(["subjects": ["container"]])
        _ = try thread.refusal { try thread.post("a") }
        thread.subject = .container
        try thread.post("a")
        #expect(throws: SettingError.self) { try Thread(["subjects": ["films"]]) }
    }

    @Test func `a reply is about what its parent is about`() throws {
        var thread = try Thread()
        try thread.post("a")
        thread.subject = .container
        _ = try thread.refusal { try thread.post("b", under: "a") }
        let missing = try thread.refusal { try thread.post("b", under: "nobody") }
        #expect(missing.code == .commentNotFound)
    }

    @Test func `a reply whose parent comes later shows with it`() throws {
        let thread = try Thread()
        try thread.post([("a", nil), ("b", "a"), ("c", "b")])
        let records = thread.host.records
        let late = try Thread()
        for id in ["c", "a"] { _ = late.host.restore([.put(key: id, value: records[id] ?? nil)]) }
        #expect(try late.page().outline == "a")
        _ = late.host.restore([.put(key: "b", value: records["b"] ?? nil)])
        #expect(try late.page().outline == "a .b ..c")
    }

    @Test func `siblings of one moment are in the order of their ids`() throws {
        let thread = try Thread()
        let context = thread.host.nextContext()
        for id in ["c", "a", "b"] {
            let draft = CommentDraft(id: id, subject: thread.subject, parent: nil, text: id)
            try thread.host.run(.postComment(draft), context)
        }
        #expect(try thread.page().outline == "a b c")
        #expect(try thread.page(order: .newest).outline == "c b a")
    }

    @Test func `a record that is no comment is skipped and logged`() throws {
        let thread = try Thread()
        _ = thread.host.restore([
            .put(key: "a", value: 1),
            .put(key: "b", value: ["state": "shown", "created": 1, "parent": "b"]),
        ])
        #expect(thread.host.services.messages.count == 2)
        #expect(try thread.page().outline == "")
    }

    @Test func `broken records that form a ring break nothing`() throws {
        let thread = try Thread()
        try thread.post("fine")
        func record(_ id: String, under parent: String, _ state: String) -> Change {
            .put(
                key: id,
                value: [
                    "state": .text(state), "created": 1, "parent": .text(parent), "item": "film",
                ])
        }
        _ = thread.host.restore([
            record("x", under: "y", "removed"), record("y", under: "x", "removed"),
            record("z", under: "x", "shown"),
        ])
        #expect(try thread.page().outline == "fine")
        guard case .comment(let entry) = try thread.host.ask(.comment(id: "z")) else { return }
        #expect(entry?.depth == 0)
        _ = try thread.refusal { _ = try thread.page(cursor: "oe0.x") }
        _ = thread.host.restore([.removed(key: "z"), .removed(key: "y")])
        #expect(try thread.page().outline == "fine")
    }
}
