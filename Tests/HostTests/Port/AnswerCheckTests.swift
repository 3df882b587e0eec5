import AtriumKit
import Catalog
import CommentThreads
import Facets
import Stars
import Testing
import Threads

@testable import Host
@testable import Index

/// What components in workers say that no component may.
@Suite struct AnswerCheckTests {
    private func check(
        _ limits: HostLimits = HostLimits(), _ kind: Kind = .filters,
        _ component: any Component.Type = Facets.self
    ) -> AnswerCheck {
        AnswerCheck(
            LaunchRequest(
                plugin: .inProcess("test.filters", kind, component), container: "films",
                component: "filters", settings: [:],
                fields: [Field(name: "genre", type: .text), Field(name: "year", type: .integer)],
                limits: limits))
    }

    private func problem(
        _ sections: [FilterSection], _ limits: HostLimits = HostLimits()
    ) -> String? {
        check(limits).problem(in: .sections(sections), to: .sections)
    }

    private func section(
        _ count: Int, _ predicate: Predicate, id: String = "genre"
    ) -> FilterSection {
        FilterSection(
            id: id, title: "Genre", input: .several,
            filters: (0..<count).map { Filter(id: "\($0)", title: "", predicate: predicate) })
    }

    @Test func `fields that are not there are not observed, and others once`() {
        #expect(
            check().observable(["year", "no", "genre", "year", DerivedValues.score])
                == ["year", "genre", DerivedValues.score])
    }

    @Test func `sections and their filters are bounded`() {
        let value = Predicate.equals(field: "genre", value: .text("crime"))
        #expect(problem([section(16_384, value)]) == nil)
        #expect(
            problem([section(16_385, value)])
                == "a section of 16385 filters, where 16384 are allowed")
        var limits = HostLimits()
        limits.facetValues = 20_000
        #expect(problem([section(16_385, value)], limits) == nil)
        #expect(
            problem(Array(repeating: section(1, value), count: 257))
                == "257 sections, where 256 are allowed")
        #expect(problem((0..<256).map { section(1, value, id: "s\($0)") }) == nil)
    }

    @Test func `a section and a filter are offered once, with an id that can be selected`() {
        func section(_ ids: String...) -> FilterSection {
            FilterSection(
                id: "genre", title: "Genre", input: .several,
                filters: ids.map { Filter(id: $0, title: "", predicate: .all) })
        }
        #expect(problem([section("a", "b", "A")]) == nil)
        #expect(problem([section("\u{e9}", "e\u{301}")]) == nil, "they differ in their bytes")
        #expect(problem([section(), section()]) == "the section 'genre' twice")
        #expect(problem([section("a", "b", "a")]) == "the filter 'a' twice in 'genre'")
        #expect(problem([section("a", "")]) == "a filter without an id in 'genre'")
        let long = String(repeating: "x", count: 4_097)
        #expect(problem([section(String(long.dropLast()))]) == nil)
        #expect(
            problem([section(long)])
                == "a filter in 'genre' whose id has 4097 bytes, where 4096 are allowed "
                + "(limits.filterBytes)")
        var limits = HostLimits()
        limits.filterBytes = 4_097
        #expect(problem([section(long)], limits) == nil)
    }

    @Test func `so are filters whose items have to be searched for`() {
        let value = Predicate.equals(field: "genre", value: .text("crime"))
        let text = Predicate.contains(field: "genre", text: "c")
        #expect(problem([section(500, text), section(500, text, id: "other")]) == nil)
        #expect(
            problem([section(500, text), section(501, text, id: "other")])
                == "filters by 1001 texts and ranges, where 1000 are allowed")
        let many = Predicate.not(.or(Array(repeating: value, count: 501)))
        #expect(problem([section(1, many)]) == nil)
        #expect(problem([section(2, many)])?.contains("1002") == true)
    }

    private static let heat = Subject.item("heat")

    /// A comment of a thread's page, as a component tells it.
    private static func comment(
        _ id: String, on subject: Subject = heat,
        _ change: (inout AtriumKit.Comment) -> Void = { _ in }
    ) -> AtriumKit.Comment {
        var comment = AtriumKit.Comment(
            id: id, subject: subject, parent: nil, author: ActorID(1), text: "Slow.",
            created: Timestamp(milliseconds: 1), fingerprint: "")
        change(&comment)
        return comment
    }

    private func problem(
        with comment: AtriumKit.Comment, depth: Int = 0, replies: Int = 0, total: Int = 1
    ) -> String? {
        let entry = ThreadPage.Entry(comment: comment, depth: depth, replies: replies)
        return check(HostLimits(), .comments, Threads.self).problem(
            in: .thread(ThreadPage(entries: [entry], total: total)),
            to: .thread(ThreadQuery(subject: Self.heat)))
    }

    @Test func `a page of a thread has comments on its subject, which can be`() {
        let wrong = "comments that were not asked for"
        #expect(problem(with: Self.comment("a")) == nil)
        #expect(problem(with: Self.comment("a", on: .item("alien"))) == wrong)
        #expect(problem(with: Self.comment("a", on: .container)) == wrong)
        #expect(problem(with: Self.comment("")) == wrong)
        #expect(problem(with: Self.comment("a") { $0.text = nil }) == wrong)
        #expect(problem(with: Self.comment("a") { $0.parent = "a" }) == wrong)
        #expect(
            problem(with: Self.comment("a") { $0.created = Timestamp(milliseconds: .max) })
                == wrong)
        // What waits or was removed is there for the sake of its replies, without its text.
        for state in [AtriumKit.Comment.State.pending, .removed] {
            let place = Self.comment("a") { ($0.state, $0.text, $0.author) = (state, nil, nil) }
            #expect(problem(with: place, replies: 1) == nil)
        }
        #expect(problem(with: Self.comment("a"), depth: -1) == wrong)
        #expect(problem(with: Self.comment("a"), replies: .max) == wrong)
        #expect(problem(with: Self.comment("a"), total: .max) == wrong)
    }

    @Test func `items that were put as they were given are bounded like any other decision`() {
        let item = Item(id: "heat", fields: ["genre": .text("crime")])
        let list = check(HostLimits(), .contents, Catalog.self)
        func problem(_ extra: [String: Value] = [:], events: Int = 1) -> String? {
            let value = Value.object(["fields": .object(item.fields)].merging(extra) { $1 })
            return list.problem(
                in: Decision(
                    changes: [.put(key: item.id, value: value)],
                    answer: .items(inserted: [item.id], updated: [], unchanged: 0),
                    events: Array(repeating: .contents(.insert([item])), count: events)),
                on: .putItems([item]),
                CommandContext(actor: ActorID(1), time: Timestamp(milliseconds: 1), freshID: "a"))
        }
        #expect(problem() == nil)
        #expect(problem(["own": "a"]) == nil, "a plugin may keep something of its own")
        let large = Value.text(String(repeating: "a", count: 3 << 20))
        #expect(problem(["own": large])?.hasPrefix("records of 3145") == true)
        #expect(
            problem(events: 4_001) == "changes of 4001 items or subjects, where 4000 are allowed")
    }

    @Test func `no count is so large that a sum of counts is no number`() {
        let comments = check(HostLimits(), .comments, Threads.self)
        #expect(comments.problem(in: [.commentCount(Self.heat, 1 << 40)]) == nil)
        #expect(
            comments.problem(in: [.commentCount(Self.heat, 1 << 40 + 1)])
                == "an invalid count of comments")
        let votes = check(HostLimits(), .votes, Stars.self)
        var tally = Tally()
        tally.count = .max
        #expect(
            votes.problem(in: [.tally(Self.heat, tally)])
                == "a tally of \(Int.max) ballots with the score 0.0")
        let source = check(HostLimits(), .contents, Catalog.self)
        let answer = source.checked(
            .success(ContentAnswer(items: [], total: .max)),
            to: ContentQuestion(search: "", selection: Selection(), path: [], sort: [], limit: 1))
        #expect(answer.problem?.contains("\(Int.max) items in all, where 0 to ") == true)
    }
}
