import Interfaces
import JSONCodec
import Testing

@testable import atriumctl

@Suite struct `A container at a terminal`: BrowserScenes {
    @Test func `has a row for each of the terminal's, each as wide as it, at any size`() throws {
        let titles = [
            "Alien", "東京物語", "שלום", "👨\u{200D}👩\u{200D}👧", String(repeating: "long ", count: 60),
        ]
        for (rows, columns) in [(15, 40), (24, 80), (100, 300), (5, 10), (1, 1), (3, 200)] {
            var browser = try browser(rows: rows, columns: columns, titles: titles)
            let words = String(repeating: "words ", count: 500)
            _ = try browser.apply(
                reply(
                    base: 1, revision: 2, items: [],
                    talk: [Edit(op: .insert, at: 0, comment: comment("c", words))], focus: "i1"))
            for keys in ["", "t", "jjj", "G", "c", "hello"] {
                _ = type(keys, into: &browser)
                let view = BrowserView(browser).rows
                #expect(view.count == rows, "\(rows)x\(columns) \(keys)")
                #expect(view.allSatisfy { $0.width == columns }, "\(rows)x\(columns) \(keys)")
            }
            for key in ["?", "s", "f", "w"] {
                _ = browser.press(.escape)
                _ = type(key, into: &browser)
                #expect(BrowserView(browser).rows.count == rows, "\(rows)x\(columns) \(key)")
                #expect(BrowserView(browser).rows.allSatisfy { $0.width == columns }, "\(key)")
            }
        }
    }

    @Test func `searches with each letter, and says when nothing matches`() throws {
        var browser = try browser()
        let effects = type("/zz", into: &browser)
        #expect(effects == [.call(.search("z")), .call(.search("zz"))])
        let gone = (0..<3).map { _ in Edit(op: .remove, at: 0) }
        _ = try browser.apply(reply(base: 1, revision: 2, items: gone, total: 0))
        #expect(shown(browser).contains("nothing matches 'zz'"))
        #expect(browser.press(.escape) == [.call(.search(""))])
    }

    @Test func `one line scrolls with its cursor, however wide the signs`() throws {
        /// The text up to the cursor, in the cursor's row.
        func beforeCaret(_ browser: Browser) throws -> String {
            let view = BrowserView(browser)
            let caret = try #require(view.caret)
            try #require(caret.column < browser.columns)
            let text = view.rows[caret.row].spans.reduce(CellText.empty) { $0 + $1.text }
            #expect(text.width == browser.columns)
            return text.split(at: caret.column).start.text
        }
        let subject = Request.Subject(component: "stars", item: "i1", title: "Brazil")
        var menu = Menu(.components)
        menu.beginQuery()
        let filter = Menu.SectionID(section: "year", part: "")
        let modes: [Browser.Mode] = [
            .search(TextInput(), before: ""), .prompt(.vote(subject), TextInput()),
            .prompt(.reason(component: "talk", comment("c", "")), TextInput()),
            .prompt(
                .filter(filter, title: String(repeating: "Year ", count: 30), isRange: true),
                TextInput()), .menu(menu),
        ]
        for mode in modes {
            for (columns, sign) in [(40, "ß"), (40, "京"), (41, "京"), (80, "é")] {
                var browser = try browser(columns: columns)
                browser.mode = mode
                _ = type(String(repeating: sign, count: 90) + "xy", into: &browser)
                #expect(try beforeCaret(browser).hasSuffix("\(sign)xy"), "\(mode)")
                for _ in 0..<2 { _ = browser.press(.left) }
                #expect(try beforeCaret(browser).hasSuffix(sign), "\(mode)")
                #expect(shown(browser).contains("\(sign)xy"), "\(mode)")
                _ = browser.press(.home)
                #expect(try !beforeCaret(browser).contains(sign), "\(mode)")
                #expect(shown(browser).contains("\(sign)\(sign)"), "\(mode)")
            }
        }
        for columns in 1...8 {
            var browser = try browser(columns: columns)
            _ = type("/long", into: &browser)
            let caret = try #require(BrowserView(browser).caret)
            #expect(caret.column < columns, "\(columns)")
        }
    }

    @Test func `votes by digit on the item under the cursor, if the scale has it`() throws {
        var browser = try browser()
        _ = browser.press(.down)
        let subject = Request.Subject(component: "stars", item: "i1", title: "Brazil")
        #expect(type("4", into: &browser) == [.call(.vote(subject, 4))])
        #expect(type("7", into: &browser) == [])
        #expect(shown(browser).contains("votes go here from 1 to 5 in steps of 1"))
        #expect(type("u", into: &browser) == [.call(.unvote(subject))])
    }

    @Test func `a moderator works through what waits, from the list`() throws {
        var browser = try browser()
        browser.mayModerate = false
        #expect(type("m", into: &browser) == [])
        #expect(shown(browser).contains("moderators see here what waits"))
        browser.mayModerate = true
        #expect(type("m", into: &browser) == [.call(.queue(component: "talk"))])
        var held = comment("c1", "Too loud")
        held.state = .pending
        var other = comment("c2", "Buy this")
        other.state = .pending
        browser.receive(
            ModerationQueue(
                component: "talk",
                comments: [.init(comment: held, item: "i1"), .init(comment: other)], total: 2))
        #expect(shown(browser).contains("2 comments wait"))
        #expect(shown(browser).contains("Too loud"))
        _ = browser.press(.enter)
        #expect(shown(browser).contains("Show it to everyone"))
        let approved = browser.press(.enter)
        #expect(
            approved == [
                .call(
                    .moderate(
                        component: "talk", comment: "c1", .shown, reason: nil,
                        seen: "2026-01-31T12:00:00Z")),
                .call(.queue(component: "talk")),
            ])
        browser.receive(
            ModerationQueue(component: "talk", comments: [.init(comment: other)], total: 1))
        #expect(shown(browser).contains("1 comment waits"))
        _ = browser.press(.enter)
        _ = type("jj", into: &browser)
        #expect(browser.press(.enter) == [])
        _ = type("Advertising", into: &browser)
        #expect(
            browser.press(.enter).first
                == .call(
                    .moderate(
                        component: "talk", comment: "c2", .removed, reason: "Advertising",
                        seen: nil)))
        browser.receive(ModerationQueue(component: "talk", comments: [], total: 0))
        #expect(shown(browser).contains("no comment waits"))
    }

    @Test func `one's own held comments stand after the others, with why`() throws {
        var browser = try browser(rows: 40)
        var held = comment("h", "Mine")
        held.state = .pending
        var removed = comment("r", "")
        (removed.state, removed.text, removed.reason) = (.removed, nil, "Off topic")
        var news = reply(
            base: 1, revision: 2, items: [],
            talk: [Edit(op: .insert, at: 0, comment: comment("c", "Theirs"))], focus: "i1")
        news.held = [held, removed]
        _ = try browser.apply(news)
        let text = shown(browser)
        #expect(text.contains("Theirs") && text.contains("Mine"))
        #expect(text.contains("waits for a moderator"))
        #expect(text.contains("reason: Off topic"))
        var after = reply(base: 2, revision: 3, items: [])
        after.held = []
        _ = try browser.apply(after)
        #expect(!shown(browser).contains("Mine"))
    }

    @Test func `asks for a vote where the scale goes beyond 9`() throws {
        var browser = try browser(scale: 100)
        #expect(type("42", into: &browser) == [])
        let subject = Request.Subject(component: "stars", item: "i0", title: "Alien")
        #expect(browser.press(.enter) == [.call(.vote(subject, 42))])
    }

    @Test func `keeps the cursor on its item when others come and go`() throws {
        var browser = try browser()
        _ = browser.press(.down)
        let edits = [
            Edit(op: .remove, at: 0), Edit(op: .insert, at: 0, item: item("x", "X")),
            Edit(op: .insert, at: 0, item: item("y", "Y")),
        ]
        _ = try browser.apply(reply(base: 1, revision: 2, items: edits, total: 4))
        #expect(browser.lists.item?.id == "i1")
    }

    @Test func `lights what changed, and then no longer`() throws {
        var browser = try browser()
        browser.pass(to: 100)
        let before = BrowserView(browser).rows
        let edit = Edit(op: .update, at: 2, item: item("i2", "Casablanca", mine: 5))
        _ = try browser.apply(reply(base: 1, revision: 2, items: [edit], total: 3))
        let lit = BrowserView(browser).rows
        #expect(zip(before, lit).count { $0 != $1 } == 1)
        let next = try #require(browser.nextChange)
        browser.pass(to: next)
        #expect(BrowserView(browser).rows != lit)
        #expect(browser.nextChange == nil)
    }

    @Test func `asks for more before its end is in sight`() throws {
        var browser = try browser(titles: (0..<100).map { "Film \($0)" }, total: 900)
        #expect(browser.press(.down) == [])
        let effects = (0..<80).flatMap { _ in browser.press(.down) }
        #expect(effects == [.call(.resize(component: "list", 200))])
    }

    @Test func `fetches pages behind the thousand that a screen holds`() throws {
        var browser = try browser(titles: (0..<1000).map { "Film \($0)" }, total: 1003)
        let query = browser.screen.query("list")
        #expect(browser.press(.end) == [.call(.page(query, cursor: nil, behind: 1000))])
        let page: [Tail.Entry] = [("i999", "Film 999"), ("x", "X"), ("y", "Y"), ("z", "Z")]
            .map { .item(item($0, $1)) }
        #expect(browser.receive(page: page, next: nil, of: query) == [])
        #expect(browser.lists.item?.id == "z")
        // One of them comes into the window, and what was last there falls out of it.
        let edits = [Edit(op: .remove, at: 999), Edit(op: .insert, at: 0, item: item("y", "Y"))]
        _ = try browser.apply(reply(base: 1, revision: 2, items: edits, total: 1003))
        #expect(browser.lists.lists[0].items.map(\.id).suffix(3) == ["i999", "x", "z"])
        #expect(browser.lists.lists[0].items.count == 1003)
    }

    @Test func `gives a comment back that was refused`() throws {
        var browser = try browser()
        #expect(type("cwell", into: &browser) == [.call(.focus("i0"))])
        let effects = browser.press(.enter)
        guard case .call(let request, _)? = effects.first else {
            Issue.record("nothing was posted: \(effects)")
            return
        }
        #expect(browser.mode == .browse)
        browser.failed(request, CommandFailure("be kind"))
        #expect(shown(browser).contains("be kind"))
        guard case .write(_, let input) = browser.mode else {
            Issue.record("the text is gone")
            return
        }
        #expect(input.text == "well")
        // No longer than the component takes.
        _ = type(String(repeating: "x", count: 30), into: &browser)
        #expect(browser.press(.enter) == [])
        #expect(shown(browser).contains("at most 20 characters"))
    }

    @Test func `folds the replies to a comment`() throws {
        var browser = try browser()
        let talk = [comment("a", "Above."), comment("b", depth: 1, "Below.")].enumerated().map {
            Edit(op: .insert, at: $0.offset, comment: $0.element)
        }
        _ = try browser.apply(
            reply(base: 1, revision: 2, items: [], talk: talk, focus: "i0", total: 3))
        #expect(shown(browser).contains("Below."))
        _ = type("t ", into: &browser)
        #expect(!shown(browser).contains("Below."))
        #expect(shown(browser).contains("[+1 reply]"))
    }

    @Test func `goes to a container within it, and works that`() throws {
        var browser = try browser()
        let list = ShownList(
            component: "list", total: 1,
            edits: [Edit(op: .insert, at: 0, item: item("song", "A song"))])
        let field = Field(name: "title", type: "text", required: true, search: true)
        var next = reply(base: 1, revision: 2, items: [], total: 3)
        next.parts = [
            ShownPart(
                part: "songs", container: "jukebox", new: true, title: "Jukebox", fields: [field],
                components: components(), lists: [list])
        ]
        _ = try browser.apply(next)
        _ = type("/bra", into: &browser)
        _ = browser.press(.enter)
        _ = browser.press(.tab)
        #expect(shown(browser).contains("Club › Jukebox"))
        #expect(shown(browser).contains("A song"))
        #expect((browser.screen.containerName, browser.screen.search) == ("jukebox", ""))
        let subject = Request.Subject(component: "stars", item: "song", title: "A song")
        #expect(type("3", into: &browser) == [.call(.vote(subject, 3))])
        // What it shows goes with it.
        var last = reply(base: 2, revision: 3, items: [], total: 3)
        last.parts = [ShownPart(part: "songs", container: "jukebox", gone: true)]
        _ = try browser.apply(last)
        #expect((browser.screen.part, browser.screen.search) == ("", "bra"))
        #expect(shown(browser).contains("Alien"))
    }

    @Test func `dims what it has while the daemon is away`() throws {
        var browser = try browser()
        browser.status.lose("the connection is lost")
        #expect(shown(browser).contains("reconnecting… (the connection is lost)"))
        let spans = BrowserView(browser).rows[3].spans.filter { $0.text.text.contains("A") }
        #expect(!spans.isEmpty)
        #expect(spans.allSatisfy { $0.look.isDim })
    }
}
