import Interfaces
import JSONCodec

@testable import atriumctl

/// Screens for a browser, and what a person does at it.
protocol BrowserScenes {}

extension BrowserScenes {
    func item(_ id: String, _ title: String, mine: Double? = nil) -> Item {
        Item(
            id: id, fields: JSONObject([.init("title", .string(title))]),
            votes: VoteTally(count: 0, histogram: [:], mine: mine), comments: 0)
    }

    func comment(_ id: String, depth: Int = 0, _ text: String) -> Interfaces.Comment {
        Interfaces.Comment(
            id: id, depth: depth, author: "unix:7", text: text, state: .shown,
            created: "2026-01-31T12:00:00Z", replies: 1)
    }

    func components(scale: Double = 5) -> [ShownComponent] {
        [
            ShownComponent(name: "list", kind: "contents", title: "", hidden: false),
            ShownComponent(
                name: "stars", kind: "votes", title: "", hidden: false,
                votes: VoteFacts(min: 1, max: scale, step: 1, subjects: [.items])),
            ShownComponent(
                name: "talk", kind: "comments", title: "", hidden: false,
                comments: CommentFacts(maxLength: 20, moderated: false, subjects: [.items])),
        ]
    }

    func reply(
        base: Int? = nil, revision: Int = 1, items: [Edit], talk: [Edit] = [], focus: String? = nil,
        components: [ShownComponent]? = nil, total: Int? = nil
    ) -> Screens.Open.Reply {
        let field = Field(name: "title", type: "text", required: true, search: true)
        return .init(
            screen: "s", base: base, revision: revision, sequence: 1, commits: 1,
            title: base == nil ? "Club" : nil, fields: base == nil ? [field] : nil, focus: focus,
            components: components,
            lists: [
                .init(component: "list", total: total ?? items.count, edits: items),
                .init(component: "talk", total: talk.count, edits: talk),
            ])
    }

    func browser(
        rows: Int = 24, columns: Int = 80, titles: [String] = ["Alien", "Brazil", "Casablanca"],
        scale: Double = 5, total: Int? = nil, limit: Int? = nil
    ) throws -> Browser {
        var browser = Browser(
            container: "club", actor: "unix:7", search: "", sort: [],
            limit: limit ?? titles.count)
        browser.resize(rows: rows, columns: columns)
        let edits = titles.enumerated().map {
            Edit(op: .insert, at: $0.offset, item: item("i\($0.offset)", $0.element))
        }
        _ = try browser.apply(
            reply(items: edits, components: components(scale: scale), total: total))
        return browser
    }

    func type(_ text: String, into browser: inout Browser) -> [Effect] {
        text.flatMap { browser.press(.character($0)) }
    }

    func shown(_ browser: Browser) -> String {
        BrowserView(browser).rows.map(\.text).joined(separator: "\n")
    }
}
