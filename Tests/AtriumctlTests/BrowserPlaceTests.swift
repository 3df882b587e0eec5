import Interfaces
import JSONCodec
import Testing

@testable import atriumctl

@Suite struct `Where one stands at a terminal`: BrowserScenes {
    private func container(
        entered: [String]? = nil, scopes: [Scope]? = nil, components: [Interfaces.Component] = []
    ) -> Container {
        Container(
            name: "club", title: "Club", state: .ready, items: 0, components: components,
            contents: ["list"], entered: entered, scopes: scopes)
    }

    private func part(_ name: String, follow: [String: String]? = nil) -> Interfaces.Component {
        Interfaces.Component(
            name: name, kind: "container", plugin: "", title: name, hidden: false,
            isolation: .daemon, state: .attached, container: name, follow: follow)
    }

    @Test func `a list that shows others inside an item is entered, whatever its items have`()
        throws
    {
        var browser = try browser()
        let enter = Effect.call(.enter(item: "i0"))
        let focus = Effect.call(.focus("i0"))
        #expect(browser.press(.enter) == [focus], "nothing is known of it yet")
        browser.screen.add(ContainerOutline(container(entered: ["units"])), of: "club")
        #expect(browser.press(.enter) == [enter])
        // What is found may lie anywhere, and what is inside shows no others.
        _ = type("/a", into: &browser)
        _ = browser.press(.enter)
        #expect(browser.press(.enter) == [focus])
        _ = browser.press(.escape)
        var next = reply(base: 1, revision: 2, items: [], total: 3)
        next.path = ["clinic"]
        _ = try browser.apply(next)
        #expect(browser.press(.enter) == [focus])
    }

    @Test func `only the scopes that say so lead inside`() throws {
        var browser = try browser()
        let scopes = [("now", nil), ("houses", ["units"])] as [(String, [String]?)]
        browser.screen.add(
            ContainerOutline(
                container(
                    scopes: scopes.map {
                        Scope(name: $0, title: $0, contents: ["list"], entered: $1)
                    })), of: "club")
        for (scope, request) in [("now", Request.focus("i0")), ("houses", .enter(item: "i0"))] {
            var next = reply(
                base: browser.screen.root.revision, revision: browser.screen.root.revision + 1,
                items: [],
                total: 3)
            next.scope = scope
            _ = try browser.apply(next)
            #expect(browser.press(.enter) == [.call(request)], "\(scope)")
        }
    }

    @Test func `descriptions are asked for of each container that comes`() throws {
        var browser = Browser(container: "club", actor: "unix:7", search: "", sort: [], limit: 50)
        let first = reply(items: [], components: components())
        #expect(try browser.apply(first) == [.call(.describe(container: "club"))])
        var next = reply(base: 1, revision: 2, items: [])
        next.parts = [
            ShownPart(
                part: "songs", container: "jukebox", new: true, title: "Jukebox",
                components: components())
        ]
        #expect(try browser.apply(next) == [.call(.describe(container: "jukebox"))])
        #expect(try browser.apply(reply(base: 2, revision: 3, items: [])) == [])
    }

    @Test func `a closed container says so, and takes no key that it would refuse`() throws {
        var browser = try browser(rows: 40)
        var closed = components()
        closed[1].votes?.closed = true
        closed[2].comments?.closed = true
        var next = reply(
            base: 1, revision: 2, items: [],
            talk: [Edit(op: .insert, at: 0, comment: comment("a", "Mine"))], focus: "i0",
            components: closed, total: 3)
        _ = try browser.apply(next)
        #expect(shown(browser).contains("closed for votes and comments"))
        #expect(!shown(browser).contains(" vote "), "the line of keys")
        for (keys, text) in [
            ("4", "closed for votes"), ("v", "closed for votes"), ("u", "closed for votes"),
            ("c", "closed for comments"), ("tr", "closed for comments"),
            ("e", "closed for comments"),
        ] {
            browser.status = StatusLine()
            #expect(type(keys, into: &browser) == [], "\(keys)")
            #expect(browser.status.row.text.contains(text), "\(keys)")
            #expect(browser.mode == .browse, "\(keys)")
        }
        closed[1].votes?.closed = nil
        next = reply(base: 2, revision: 3, items: [], components: closed, total: 3)
        _ = try browser.apply(next)
        #expect(shown(browser).contains("closed for comments"))
        #expect(!shown(browser).contains("for votes"))
    }

    private func days(_ counts: [Int?], selected: Int) -> Section {
        Section(
            id: "day", title: "Day", input: .single,
            filters: counts.enumerated().map {
                .init(
                    id: "d\($0.offset)", title: "Day \($0.offset)", count: $0.element,
                    selected: $0.offset == selected)
            })
    }

    /// A calendar over a container that follows it.
    private func day() throws -> Browser {
        var browser = Browser(
            container: "day", actor: "unix:7", search: "", sort: [], limit: 50)
        browser.resize(rows: 24, columns: 80)
        var first = Screens.Open.Reply(
            screen: "s", revision: 1, sequence: 1, commits: 0, title: "My day", fields: [],
            components: [
                ShownComponent(name: "calendar", kind: "filters", title: "", hidden: false),
                ShownComponent(
                    name: "walks", kind: "container", container: "walks", title: "", hidden: false),
            ], sections: [days([nil, nil], selected: 1)])
        first.parts = [
            ShownPart(
                part: "walks", container: "walks", new: true, title: "Walks",
                fields: [Field(name: "title", type: "text", required: true, search: true)],
                components: components(), sections: [days([7, 2], selected: 1)],
                lists: [
                    ShownList(
                        component: "list", total: 1,
                        edits: [Edit(op: .insert, at: 0, item: item("w", "To work"))])
                ])
        ]
        _ = try browser.apply(first)
        browser.screen.add(
            ContainerOutline(
                container(components: [part("walks", follow: ["day": "day"])])), of: "day")
        return browser
    }

    @Test
    func `what a part follows is chosen above it, once, and has no count where nobody counts`()
        throws
    {
        var browser = try day()
        #expect(browser.screen.part == "walks")
        #expect(shown(browser).ranges(of: "Day: Day 1").count == 1, "it stands once")
        _ = type("f", into: &browser)
        let lines = shown(browser).split(separator: "\n").map { $0.trimmingSuffix { $0 == " " } }
        #expect(lines.contains("  [ ] Day 0"), "\(lines)")
        #expect(lines.contains("  [✓] Day 1"))
        #expect(lines.count { $0 == " Day" } == 1)
        _ = type("g", into: &browser)
        _ = type("j", into: &browser)
        #expect(
            browser.press(.enter) == [.call(.select(section: "day", filter: "d0"), part: "")])
        #expect(type("x", into: &browser) == [.call(.clear, part: "")])
    }

    /// A revision with the walks as they are when they come: of many so many.
    private func walks(_ count: Int, revision: Int, reset: String? = nil) -> Screens.Open.Reply {
        var next = Screens.Open.Reply(
            screen: "s", base: reset == nil ? revision - 1 : nil, revision: revision, sequence: 1,
            commits: 0, reset: reset)
        if reset != nil {
            (next.title, next.fields) = ("My day", [])
            next.components = [
                ShownComponent(
                    name: "walks", kind: "container", container: "walks", title: "", hidden: false)
            ]
        }
        next.parts = [
            ShownPart(
                part: "walks", container: "walks", new: true, title: "Walks",
                fields: [Field(name: "title", type: "text", required: true, search: true)],
                components: components(),
                lists: [
                    ShownList(
                        component: "list", total: 500,
                        edits: (0..<count).map {
                            Edit(op: .insert, at: $0, item: item("w\($0)", "Walk \($0)"))
                        })
                ])
        ]
        return next
    }

    @Test func `a part that went and came back is asked for more of its list again`() throws {
        var browser = try day()
        let more = Effect.call(.resize(component: "list", 100))
        var gone = Screens.Open.Reply(
            screen: "s", base: 1, revision: 2, sequence: 1, commits: 0)
        gone.parts = [ShownPart(part: "walks", container: "walks", gone: true)]
        _ = try browser.apply(gone)
        _ = try browser.apply(walks(50, revision: 3))
        #expect(browser.screen.part == "walks")
        #expect(browser.press(.end) == [more])
        #expect(browser.press(.end) == [], "it was asked for")
        gone.base = 3
        gone.revision = 4
        _ = try browser.apply(gone)
        _ = try browser.apply(walks(50, revision: 5))
        #expect(browser.press(.end) == [more])
    }

    @Test func `a search within a part ends where the daemon starts the screen anew`() throws {
        var browser = try day()
        _ = type("/wo", into: &browser)
        _ = browser.press(.enter)
        #expect(browser.screen.search == "wo")
        _ = try browser.apply(walks(3, revision: 9, reset: "the daemon was restarted"))
        #expect(browser.screen.part == "walks" && browser.screen.search == "")
        #expect(browser.lists.item?.id == "w0")
    }

    @Test func `without a description it follows nothing, and both are chosen`() throws {
        var browser = try day()
        browser.screen.add(ContainerOutline(), of: "day")
        _ = type("f", into: &browser)
        let lines = shown(browser).split(separator: "\n").map { $0.trimmingSuffix { $0 == " " } }
        #expect(lines.count { $0 == " Day" } == 2)
        #expect(lines.contains { $0.hasPrefix("  [ ] Day 0") && $0.hasSuffix("7") })
    }

    @Test func `before it is known who may moderate the daemon is asked for what waits`() throws {
        var browser = try browser()
        let queue: [Effect] = [.call(.queue(component: "talk"))]
        #expect(type("m", into: &browser) == queue)
        browser.mayModerate = false
        #expect(type("m", into: &browser) == [])
        #expect(shown(browser).contains("moderators see here what waits"))
        browser.mayModerate = true
        #expect(type("m", into: &browser) == queue)
    }

    @Test func `a queue that shows nothing, though something waits, says why`() throws {
        var browser = try browser()
        browser.mayModerate = true
        browser.receive(ModerationQueue(component: "talk", comments: [], total: 2))
        #expect(shown(browser).contains("what waits (2) is on items that are gone"))
        browser.receive(ModerationQueue(component: "talk", comments: [], total: 0))
        #expect(shown(browser).contains("no comment waits for a moderator"))
    }

    @Test func `the mouse chooses what it clicks on, and the wheel moves`() throws {
        var browser = try browser(rows: 12, titles: (0..<10).map { "Film \($0)" })
        _ = browser.press(.click(row: 5, column: 3))
        #expect(browser.lists.item?.id == "i2")
        #expect(browser.press(.click(row: 5, column: 3)) == [.call(.focus("i2"))])
        _ = browser.press(.wheel(rows: 3, row: 5))
        #expect(browser.lists.item?.id == "i5")
        _ = browser.press(.wheel(rows: -3, row: 5))
        #expect(browser.lists.item?.id == "i2")
    }

    @Test func `o chooses an item, and w hides a component`() throws {
        var browser = try browser()
        _ = browser.press(.down)
        #expect(type("o", into: &browser) == [.call(.activate(item: "i1"))])
        _ = type("wj", into: &browser)
        #expect(browser.press(.enter) == [.call(.setHidden(component: "stars", true))])
    }

    @Test func `only keys are offered that there is something for, and all of their help is read`()
        throws
    {
        var browser = try browser(rows: 60, columns: 100)
        #expect(shown(browser).contains(" vote ") && shown(browser).contains(" talk "))
        #expect(!shown(browser).contains(" filter "), "there are none")
        var next = reply(
            base: 1, revision: 2, items: [], components: [components()[0]], total: 3)
        next.lists?.removeLast()
        _ = try browser.apply(next)
        for word in [" vote ", " comment ", " talk ", " unvote "] {
            #expect(!shown(browser).contains(word), "\(word)")
        }
        browser.resize(rows: 60, columns: 40)
        _ = type("?", into: &browser)
        let help = shown(browser)
        #expect(!help.contains("…"))
        #expect(help.contains("moderators"))
    }

    @Test func `tab goes through the scopes and round`() throws {
        var browser = try browser()
        var next = reply(base: 1, revision: 2, items: [], total: 3)
        next.title = "Club"
        next.scopes = [ShownScope(name: "now", title: "Now"), ShownScope(name: "past", title: "")]
        next.scope = "now"
        _ = try browser.apply(next)
        #expect(shown(browser).contains(" Now ") && shown(browser).contains(" past "))
        #expect(browser.press(.tab) == [.call(.scope("past"))])
        #expect(browser.press(.backTab) == [.call(.scope("past"))])
        let head = BrowserView(browser).rows[0]
        guard case .tabs(let tabs)? = head.target, tabs.count == 2 else {
            Issue.record("there are no tabs")
            return
        }
        #expect(
            browser.press(.click(row: 0, column: tabs[1].lowerBound)) == [.call(.scope("past"))])
    }
}

extension StringProtocol {
    fileprivate func trimmingSuffix(_ drop: (Character) -> Bool) -> String {
        var text = String(self)
        while let last = text.last, drop(last) { text.removeLast() }
        return text
    }
}
