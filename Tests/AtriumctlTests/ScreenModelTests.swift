import Interfaces
import JSONCodec
import Testing

@testable import atriumctl

@Suite struct `A screen` {
    private func item(_ id: String, votes: VoteTally? = nil) -> Item {
        Item(id: id, fields: .empty, votes: votes)
    }

    private func comment(_ id: String, _ text: String) -> Interfaces.Comment {
        Interfaces.Comment(
            id: id, depth: 0, author: "web:1", text: text, state: .shown,
            created: "2026-01-31T12:00:00.123Z", replies: 0)
    }

    private func reply(
        base: Int?, revision: Int, _ edits: [Edit], in component: String = "list",
        sections: [Section]? = nil, components: [Screens.Open.Reply.Components]? = nil
    ) -> Screens.Open.Reply {
        .init(
            screen: "s", base: base, revision: revision, sequence: 1, commits: 1,
            components: components, sections: sections,
            lists: [.init(component: component, total: 9, edits: edits)])
    }

    private func snapshot(_ ids: [String]) -> Screens.Open.Reply {
        reply(
            base: nil, revision: 1,
            ids.enumerated().map { Edit(op: .insert, at: $0.offset, item: item($0.element)) })
    }

    private func genre(_ counts: [(String, Int)], selected: String? = nil) -> Section {
        Section(
            id: "genre", title: "Genre", input: .several,
            filters: counts.map {
                .init(id: $0.0, title: $0.0, count: $0.1, selected: $0.0 == selected)
            })
    }

    @Test func `is a snapshot, then what its edits make of it`() throws {
        var model = ScreenModel()
        #expect(try model.apply(snapshot(["a", "b", "c"])) == [])
        #expect(model.lists.first?.items.map(\.id) == ["a", "b", "c"])
        try model.apply(
            reply(
                base: 1, revision: 2,
                [
                    Edit(op: .remove, at: 0), Edit(op: .move, at: 0, to: 1),
                    Edit(op: .insert, at: 0, item: item("d")),
                    Edit(op: .update, at: 1, item: item("C")),
                ]))
        #expect(model.lists.first?.items.map(\.id) == ["d", "C", "b"])
        #expect(model.revision == 2)
        try model.apply(reply(base: nil, revision: 1, []))
        #expect(model.lists.first?.items.isEmpty == true)
    }

    @Test func `that is out of step is not guessed at`() throws {
        for edit in [
            Edit(op: .remove, at: 1), Edit(op: .move, at: 0, to: 1),
            Edit(op: .insert, at: 2, item: item("b")), Edit(op: .insert, at: -1, item: item("b")),
            Edit(op: .insert, at: 0), Edit(op: .update, at: 1, item: item("b")),
        ] {
            var model = ScreenModel()
            try model.apply(snapshot(["a"]))
            #expect(throws: CommandFailure.self, "\(edit)") {
                try model.apply(reply(base: 1, revision: 2, [edit]))
            }
        }
        var model = ScreenModel()
        try model.apply(snapshot(["a"]))
        #expect(throws: CommandFailure.self) {
            try model.apply(reply(base: 5, revision: 6, []))
        }
    }

    @Test func `keeps what a revision leaves out`() throws {
        var model = ScreenModel()
        var first = snapshot(["a"])
        first.sections = [genre([("drama", 2), ("crime", 1)], selected: "drama")]
        first.tally = VoteTally(count: 1, score: 5, histogram: ["5": 1])
        first.path = ["up"]
        try model.apply(first)
        try model.apply(
            .init(screen: "s", base: 1, revision: 2, sequence: 2, commits: 1))
        #expect(model.lists.first?.total == 9)
        #expect(model.selection == ["genre": ["drama"]])
        #expect(model.tally?.count == 1)
        #expect(model.path == ["up"])
        try model.apply(reply(base: 2, revision: 3, [], sections: [genre([("crime", 3)])]))
        #expect(model.sections.map { $0.filters.map(\.count) } == [[3]])
        #expect(model.selection == nil)
    }

    @Test func `forgets what components showed that are hidden or gone, and names what fails`()
        throws
    {
        var model = ScreenModel()
        var first = snapshot(["a"])
        first.sections = [genre([("drama", 2)])]
        first.tally = VoteTally(count: 1, score: 5, histogram: ["5": 1])
        first.components = [
            .init(name: "list", kind: "contents", title: "List", hidden: false),
            .init(name: "facets", kind: "filters", title: "Facets", hidden: false),
            .init(name: "stars", kind: "votes", title: "Stars", hidden: false),
            .init(
                name: "talk", kind: "comments", title: "Talk", hidden: false,
                problem: "its worker is away"),
        ]
        try model.apply(first)
        let lines = ScreenView(container: "films", fields: []).lines(model)
        #expect(lines[1] == "talk: its worker is away")
        let before = model
        let next = Screens.Open.Reply(
            screen: "s", base: 1, revision: 2, sequence: 2, commits: 1,
            components: [.init(name: "list", kind: "contents", title: "List", hidden: true)])
        let changes = try model.apply(next)
        #expect(model.lists.isEmpty)
        #expect(model.sections.isEmpty)
        #expect(model.tally == nil)
        let told = ScreenChangeText(fields: []).lines(next, changes: changes, before: before)
        #expect(
            told == [
                "#2  component list: hidden", "#2  component facets: gone",
                "#2  component stars: gone", "#2  component talk: gone",
            ])
    }

    @Test func `goes to another scope: its lists in its order, what it does not show is dropped`()
        throws
    {
        func list(_ name: String) -> Screens.Open.Reply.Components {
            .init(name: name, kind: "contents", title: name, hidden: false)
        }
        var model = ScreenModel()
        var first = snapshot(["a"])
        first.scope = "now"
        first.components = [list("list")]
        try model.apply(first)
        #expect(ScreenView(container: "films", fields: []).lines(model)[0].contains("scope now"))
        var before = model
        var next = reply(
            base: 1, revision: 2, [Edit(op: .insert, at: 0, item: item("b"))], in: "archive",
            components: [list("archive"), list("list")])
        next.scope = "all"
        let changes = try model.apply(next)
        #expect(model.lists.map(\.component) == ["archive", "list"])
        #expect(
            ScreenChangeText(fields: []).lines(next, changes: changes, before: before) == [
                "#2  scope: all", "#2  archive: b came to place 1", "#2  archive: 9 in all",
                "#2  component archive: shown",
            ])
        before = model
        var last = Screens.Open.Reply(
            screen: "s", base: 2, revision: 3, sequence: 2, commits: 1,
            components: [list("archive")])
        last.scope = ""
        try model.apply(last)
        #expect(model.scope == nil)
        #expect(model.lists.map(\.component) == ["archive"])
        #expect(
            ScreenChangeText(fields: []).lines(last, changes: [], before: before)
                == ["#3  scope: none", "#3  component list: gone"])
    }

    @Test func `shows filters, items and the comments of its focus`() throws {
        var model = ScreenModel()
        var first = snapshot(["a"])
        first.sections = [genre([("drama", 1200), ("crime", 1)], selected: "drama")]
        try model.apply(first)
        try model.apply(
            reply(
                base: 1, revision: 2,
                [Edit(op: .insert, at: 0, comment: comment("c1", "An \u{1B}[2Joffer."))],
                in: "talk"))
        let lines = ScreenView(container: "films", fields: []).lines(model)
        #expect(lines.first == "films · screen s · revision 2")
        #expect(lines.dropFirst().first == "Genre: [drama 1,200] · crime 1")
        #expect(lines.contains("1 of 9"))
        #expect(lines.contains("9 comments in talk"))
        #expect(lines.contains { $0.hasSuffix(#"An \u{1b}[2Joffer."#) }, "\(lines)")
        let narrow = ScreenView(container: "films", fields: [], width: 12).lines(model)
        #expect(narrow.first == "films · scr…")
    }

    @Test func `shows no numbers where nobody counts, nor with the next revision`() throws {
        let uncounted = Section(
            id: "day", title: "Day", input: .single,
            filters: ["today", "tomorrow"].map { .init(id: $0, title: $0, selected: false) })
        var model = ScreenModel()
        var first = snapshot([])
        first.sections = [uncounted]
        try model.apply(first)
        #expect(
            ScreenView(container: "day", fields: []).lines(model).contains("Day: today · tomorrow"))
        let detail = Menu.filters([SectionInReach(part: "", section: uncounted)]).last?.detail
        #expect(detail == "")
        let table = SectionTable([uncounted]).table.lines(width: nil)
        #expect(table.count == 3 && !table.contains { $0.contains("0") }, "\(table)")

        let before = model
        var next = Screens.Open.Reply(screen: "s", base: 1, revision: 2, sequence: 2, commits: 1)
        next.counts = [
            .init(
                section: "day",
                filters: [.init(at: 0, selected: true), .init(at: 1, selected: false)])
        ]
        let changes = try model.apply(next)
        #expect(model.sections[0].filters.map(\.selected) == [true, false])
        let lines = ScreenChangeText(fields: []).lines(next, changes: changes, before: before)
        #expect(lines == ["#2  day=today: selected"])
        let view = ScreenView(container: "day", fields: []).lines(model)
        #expect(view.contains("Day: [today] · tomorrow"))
    }

    @Test
    func `leaves out what a part follows, and says what is closed`()
        throws
    {
        func days(_ selected: String) -> [Section] {
            [
                Section(
                    id: "day", title: "Day", input: .single,
                    filters: ["mon", "tue"].map {
                        .init(id: $0, title: $0, selected: $0 == selected)
                    })
            ]
        }
        var first = Screens.Open.Reply(
            screen: "s", revision: 1, sequence: 1, commits: 0,
            components: [
                .init(name: "calendar", kind: "filters", title: "", hidden: false),
                .init(
                    name: "walks", kind: "container", container: "steps", title: "Walks",
                    hidden: false),
            ], sections: days("mon"))
        first.parts = [
            ShownPart(
                part: "walks", container: "steps", new: true, title: "Walks", fields: [],
                components: [
                    .init(name: "list", kind: "contents", title: "", hidden: false),
                    .init(
                        name: "stars", kind: "votes", title: "", hidden: false,
                        votes: VoteFacts(subjects: [.items], closed: true)),
                ], sections: days("mon"), lists: [ShownList(component: "list", total: 0, edits: [])]
            )
        ]
        var model = ScreenModel()
        try model.apply(first)
        var outline = ContainerOutline()
        outline.follows["walks"] = ["day": "day"]
        let lines = ScreenView(container: "day", fields: [], outlines: ["day": outline])
            .lines(model)
        #expect(lines.filter { $0.hasPrefix("Day: ") } == ["Day: [mon] · tue"], "\(lines)")
        #expect(lines.contains("closed for votes"))
        #expect(
            ScreenView(container: "day", fields: []).lines(model)
                .filter { $0.hasPrefix("Day: ") } == ["Day: [mon] · tue", "Day: [mon] · tue"])
        let before = model
        var next = Screens.Open.Reply(
            screen: "s", base: 1, revision: 2, sequence: 2, commits: 0, sections: days("tue"))
        next.parts = [ShownPart(part: "walks", container: "steps", sections: days("tue"))]
        let changes = try model.apply(next)
        let told = ScreenChangeText(fields: [], container: "day", outlines: ["day": outline])
            .lines(next, changes: changes, before: before)
        #expect(told == ["#2  day=mon: not selected", "#2  day=tue: selected"])
    }

    @Test func `prints each change in a line`() throws {
        var model = ScreenModel()
        var first = snapshot(["a", "b"])
        first.sections = [genre([("drama", 2), ("crime", 1)])]
        try model.apply(first)
        let before = model
        let tally = VoteTally(count: 1, score: 4, histogram: ["4": 1])
        var next = reply(
            base: 1, revision: 2,
            [
                Edit(op: .move, at: 1, to: 0),
                Edit(op: .update, at: 0, item: item("b", votes: tally)),
                Edit(op: .remove, at: 1), Edit(op: .insert, at: 1, item: item("c\n")),
            ], sections: [genre([("drama", 3)], selected: "drama")])
        next.commits = 3
        let changes = try model.apply(next)
        let lines = ScreenChangeText(fields: []).lines(next, changes: changes, before: before)
        #expect(
            lines == [
                "#2  list: b moved from place 2 to 1", "#2  list: b changed: votes 4 (1)",
                "#2  list: a left", #"#2  list: c\n came to place 2"#,
                "#2  genre=drama: 3, selected", "#2  genre=crime: gone", "#2  3 commits in one",
            ])
    }
}
