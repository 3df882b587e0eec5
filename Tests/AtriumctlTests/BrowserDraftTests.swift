import Interfaces
import JSONCodec
import Testing

@testable import atriumctl

@Suite struct `A comment at a terminal`: BrowserScenes {
    private func scene(limit: Int? = nil) throws -> Browser {
        var browser = try browser(titles: (0..<10).map { "Film \($0)" }, limit: limit)
        var number = 0
        browser.freshID = {
            number += 1
            return "id\(number)"
        }
        return browser
    }

    /// The request of the only effect.
    private func posted(_ effects: [Effect]) throws -> Request {
        try #require(effects.count == 1)
        guard case .call(let request, nil)? = effects.first else {
            throw CommandFailure("no call: \(effects)")
        }
        return request
    }

    private func written(_ browser: Browser) -> String? {
        guard case .write(_, let input) = browser.mode else { return nil }
        return input.text
    }

    private func say(_ text: String, into browser: inout Browser) throws -> Request {
        _ = type("c" + text, into: &browser)
        return try posted(browser.press(.enter))
    }

    @Test func `has an id of its own, which it keeps when it is sent again`() throws {
        var browser = try scene()
        let subject = Request.Subject(component: "talk", item: "i0", title: "Film 0")
        let first = try say("well", into: &browser)
        #expect(first == .post(subject, parent: nil, text: "well", id: "id1"))
        browser.failed(first, CommandFailure("gone", status: .unreachable))
        #expect(try posted(browser.press(.enter)) == first)
        browser.failed(first, CommandFailure("gone", status: .unreachable))
        // Another text is another comment.
        _ = type("!", into: &browser)
        let second = try posted(browser.press(.enter))
        #expect(second == .post(subject, parent: nil, text: "well!", id: "id2"))
        #expect(Set((0..<100).map { _ in CommentDraft.freshID() }).count == 100)
    }

    @Test func `that is pasted or typed in one go is laid out once`() throws {
        var browser = try scene()
        let lines = String(repeating: "A long line of a text. ", count: 40)
        let letters = lines.map { Key.character($0) }
        var keys: ArraySlice<Key> = [.character("c"), .pasteStart]
        keys += letters
        keys += [.enter, .tab, .control("j"), .pasteEnd, .left]
        keys += letters
        var presses = 0
        while let key = browser.takeKey(from: &keys) {
            #expect(browser.press(key) == [] || presses == 0, "a draft calls nobody")
            presses += 1
        }
        #expect(presses == 6, "c, the paste's start, text and end, an arrow, the text behind it")
        #expect(written(browser) == lines + "\n " + lines + "\n")
        // In one line there is no other, and what is not for a text stays single keys.
        _ = browser.press(.escape)
        keys = [.character("/"), .pasteStart, .character("a"), .enter, .character("b"), .pasteEnd]
        var effects: [Effect] = []
        while let key = browser.takeKey(from: &keys) { effects += browser.press(key) }
        #expect(effects == [.call(.search("a b"))])
        #expect(browser.press(.enter) == [])
        keys = [.down, .down]
        #expect(browser.takeKey(from: &keys) == .down)
    }

    @Test func `is chosen once it is there`() throws {
        var browser = try scene()
        _ = try say("well", into: &browser)
        let talk = (0..<9).map { comment("c\($0)", "Text \($0)") } + [comment("id1", "well")]
        _ = try browser.apply(
            reply(
                base: 1, revision: 2, items: [],
                talk: talk.enumerated().map {
                    Edit(op: .insert, at: $0.offset, comment: $0.element)
                }, focus: "i0", total: 10))
        #expect(browser.thread.comment?.id == "id1")
        #expect(shown(browser).contains("well"))
    }

    @Test func `that was refused meanwhile is there with the next one`() throws {
        var browser = try scene()
        let request = try say("well", into: &browser)
        _ = type("?", into: &browser)
        browser.failed(request, CommandFailure("be kind"))
        #expect(shown(browser).contains("be kind; your next comment begins with your text"))
        _ = browser.press(.escape)
        _ = type("c", into: &browser)
        #expect(written(browser) == "well")
        #expect(shown(browser).contains("this was not sent before"))
        #expect(try posted(browser.press(.enter)) == request)
        // It was offered once.
        _ = type("c", into: &browser)
        #expect(written(browser) == "")
    }

    @Test func `on what is gone meanwhile is there with the next one, as another`() throws {
        var browser = try scene()
        let subject = Request.Subject(component: "talk", item: nil, title: "Club")
        browser.failed(
            .post(subject, parent: "gone", text: "I agree", id: "x"), CommandFailure("it is gone"))
        #expect(browser.mode == .browse)
        _ = type("c", into: &browser)
        #expect(written(browser) == "I agree")
        guard case .post(_, nil, "I agree", let id) = try posted(browser.press(.enter)) else {
            Issue.record("it was not posted")
            return
        }
        #expect(id == "id1")
    }

    @Test func `an edit of what is gone meanwhile is there with the next comment, and says so`()
        throws
    {
        var browser = try scene()
        browser.failed(
            .edit(component: "talk", comment: "gone", text: "Better"), CommandFailure("it is gone"))
        #expect(shown(browser).contains("it is gone; your next comment begins with your text"))
        _ = type("c", into: &browser)
        #expect(written(browser) == "Better")
    }

    @Test func `an edit that was refused comes back with that comment alone`() throws {
        var browser = try scene()
        let talk = [comment("a", "One"), comment("b", "Two")].enumerated().map {
            Edit(op: .insert, at: $0.offset, comment: $0.element)
        }
        _ = try browser.apply(
            reply(base: 1, revision: 2, items: [], talk: talk, focus: "i0", total: 10))
        _ = type("te", into: &browser)
        #expect(written(browser) == "One")
        _ = type("!", into: &browser)
        let request = try posted(browser.press(.enter))
        #expect(request == .edit(component: "talk", comment: "a", text: "One!"))
        _ = type("?", into: &browser)
        browser.failed(request, CommandFailure("no"))
        _ = browser.press(.escape)
        _ = type("je", into: &browser)
        #expect(written(browser) == "Two")
        _ = browser.press(.escape)
        _ = type("ke", into: &browser)
        #expect(written(browser) == "One!")
    }

    @Test func `is kept when the container that it is for goes, and goes to no other`() throws {
        var browser = try scene()
        let list = ShownList(
            component: "list", total: 1,
            edits: [Edit(op: .insert, at: 0, item: item("song", "A song"))])
        var next = reply(base: 1, revision: 2, items: [], total: 10)
        next.parts = [
            ShownPart(
                part: "songs", container: "jukebox", new: true, title: "Jukebox", fields: [],
                components: components(), lists: [list])
        ]
        _ = try browser.apply(next)
        _ = browser.press(.tab)
        _ = type("cnice", into: &browser)
        var last = reply(base: 2, revision: 3, items: [], total: 10)
        last.parts = [ShownPart(part: "songs", container: "jukebox", gone: true)]
        _ = try browser.apply(last)
        #expect(browser.mode == .browse)
        #expect(shown(browser).contains("c has your text"))
        #expect(browser.drafts.unsent.map(\.text) == ["nice"])
        _ = type("c", into: &browser)
        #expect(written(browser) == "nice")
    }

    @Test func `grows older on the screen, once a minute at most`() throws {
        var browser = try scene()
        let start = try #require(WireTime.seconds("2026-01-31T12:00:00Z"))
        browser.pass(to: start + 1)
        #expect(browser.nextChange == nil, "nothing has an age")
        _ = try browser.apply(
            reply(
                base: 1, revision: 2, items: [],
                talk: [Edit(op: .insert, at: 0, comment: comment("a", "One"))], focus: "i0",
                total: 10))
        browser.pass(to: start + 5)
        #expect(shown(browser).contains("just now"))
        var times: [Double] = []
        while times.last ?? 0 < start + 3 * 3600 + 300 {
            let time = try #require(browser.nextChange)
            times.append(time)
            browser.pass(to: time)
        }
        #expect(shown(browser).contains("3 h ago") || shown(browser).contains("4 h ago"))
        let minutes = times.dropFirst(3)
        #expect(zip(minutes, minutes.dropFirst()).allSatisfy { $1 - $0 >= 60 }, "\(times)")
        #expect(times.count < 75, "by the hour, once all are older than one")
    }

    @Test func `beyond a thousand is fetched page by page, to the end`() throws {
        var browser = try scene(limit: 1000)
        let window = (0..<1000).map { number in
            Edit(op: .insert, at: number, comment: comment("c\(number)", "Text \(number)"))
        }
        var next = reply(base: 1, revision: 2, items: [], talk: window, focus: "i0", total: 10)
        next.lists?[1].total = 1_500
        _ = try browser.apply(next)
        let query = try #require(browser.screen.talkQuery)
        #expect(query == .comments(component: "talk", item: "i0"))
        _ = type("t", into: &browser)
        #expect(
            type("G", into: &browser) == [.call(.page(query, cursor: nil, behind: 1000))])
        func page(_ numbers: Range<Int>) -> [Tail.Entry] {
            numbers.map { .comment(comment("c\($0)", "Text \($0)")) }
        }
        // The first overlaps, since one was deleted meanwhile.
        #expect(
            browser.receive(page: page(999..<1200), next: "on", of: query)
                == [.call(.page(query, cursor: "on", behind: 1000))])
        #expect(browser.receive(page: page(1200..<1500), next: nil, of: query) == [])
        #expect(browser.windows.talk(in: browser.screen).map(\.id) == (0..<1500).map { "c\($0)" })
        #expect(shown(browser).contains("Text 1499"))
        #expect(browser.thread.comment?.id == "c1499")
        #expect(type("j", into: &browser) == [], "all is here")
        // What is said then is behind the window, and read again.
        var more = reply(base: 2, revision: 3, items: [], total: 10)
        more.lists?[1].total = 1_501
        #expect(try browser.apply(more) == [.call(.page(query, cursor: nil, behind: 1000))])
        // Another item's comments are others.
        _ = try browser.apply(reply(base: 3, revision: 4, items: [], focus: "i1", total: 10))
        #expect(browser.windows.talk(in: browser.screen).count == 1000)
    }

    @Test func `the replies that are left out of one are fetched by enter`() throws {
        var browser = Browser(
            container: "club", actor: "unix:7", search: "", sort: [], limit: 2, mayGrow: false)
        _ = try browser.apply(
            reply(
                items: [Edit(op: .insert, at: 0, item: item("i0", "Alien"))],
                components: components()))
        var above = comment("a", "Above")
        above.more = "cursor"
        let talk = [above, comment("b", depth: 1, "Below")].enumerated().map {
            Edit(op: .insert, at: $0.offset, comment: $0.element)
        }
        var next = reply(base: 1, revision: 2, items: [], talk: talk, focus: "i0", total: 1)
        next.lists?[1].total = 4
        #expect(try browser.apply(next) == [])
        #expect(shown(browser).contains("… more replies"))
        let query = try #require(browser.screen.talkQuery)
        _ = type("t", into: &browser)
        #expect(browser.press(.enter) == [.call(.page(query, cursor: nil, behind: 2))])
        #expect(browser.press(.enter) == [], "it is on its way")
        let rest: [Tail.Entry] = ["c", "d"].map { .comment(comment($0, depth: 1, "Text \($0)")) }
        #expect(browser.receive(page: rest, next: nil, of: query) == [])
        #expect(!shown(browser).contains("… more replies"))
        #expect(browser.windows.talk(in: browser.screen).map(\.id) == ["a", "b", "c", "d"])
        #expect(shown(browser).contains("Text d"))
    }
}
