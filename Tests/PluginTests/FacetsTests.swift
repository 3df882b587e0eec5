import AtriumKit
import AtriumKitTesting
import Facets
import Testing

@Suite struct `The facets` {
    private func host(_ sections: Value...) throws -> MemoryHost {
        try MemoryHost(Facets.self, settings: ["sections": .list(sections)])
    }

    private func sections(_ host: MemoryHost) throws -> [FilterSection] {
        if case .sections(let sections) = try host.ask(.sections) { sections } else { [] }
    }

    private func predicate(_ host: MemoryHost, _ section: String, _ filter: String) throws
        -> Predicate?
    {
        let id = ComponentQuery.FilterID(section: section, filter: filter)
        guard case .filters(let filters) = try host.ask(.filters([id])) else { return nil }
        return filters.first?.predicate
    }

    @Test func `a section has a filter for each value of its field`() throws {
        let host = try host(
            ["id": "genre", "field": "genres"],
            ["id": "release-year", "field": "year", "input": "single", "order": "descending"])
        #expect(host.observedFields == ["genres", "year"])
        host.report(["genres": ["crime", "drama"], "year": [1972, 1974]])
        let sections = try sections(host)
        #expect(sections.map(\.title) == ["Genre", "Release year"])
        #expect(sections.map(\.input) == [.several, .single])
        #expect(sections.map { $0.filters.map(\.id) } == [["crime", "drama"], ["1974", "1972"]])
        #expect(
            try predicate(host, "genre", "drama") == .equals(field: "genres", value: "drama"))
        host.report(["genres": ["crime", .text(String(repeating: "x", count: 4_097))]])
        #expect(try self.sections(host)[0].filters.map(\.id) == ["crime"], "the other is too long")
        host.report([:])
        #expect(try self.sections(host).map(\.filters.count) == [0, 0])
    }

    @Test func `of a field with more values than are sent any that is understood is selected`()
        throws
    {
        let host = try host(["id": "genre", "field": "genres"], ["id": "year", "field": "year"])
        host.report(["genres": ["crime"], "year": [1972]], cut: ["genres"])
        #expect(try sections(host).map(\.hasMore) == [true, false])
        let rare = ComponentQuery.FilterID(section: "genre", filter: "noir")
        guard
            case .selection(let selection, _) = try host.ask(
                .select(rare, of: Selection(), screen: "s"))
        else { throw Refusal(.filterNotFound, "nothing was selected") }
        #expect(selection["genre"] == ["noir"])
        let year = ComponentQuery.FilterID(section: "year", filter: "1931")
        #expect(throws: Refusal.self) {
            try host.ask(.select(year, of: Selection(), screen: "s"))
        }
    }

    @Test func `what is selected at first is offered, and for the present of dates`() throws {
        var day = Field(name: "day", type: .date)
        day.derivation = Field.Derivation(of: "start", by: .day, zone: "UTC")
        let fields = [Field(name: "start", type: .time), day, Field(name: "genre", type: .text)]
        func host(_ sections: Value...) throws -> MemoryHost {
            try MemoryHost(
                Facets.self, settings: ["sections": .list(sections)], fields: fields)
        }
        let chosen = try host(
            ["id": "day", "field": "day", "input": "single", "selected": "today"],
            ["id": "genre", "field": "genre", "selected": ["crime", "noir"]],
            ["id": "other", "field": "day"])
        chosen.report(["day": ["2026-01-31"], "genre": ["crime"]])
        let sections = try sections(chosen)
        #expect(
            sections.map { $0.filters.map(\.id) } == [
                ["today", "2026-01-31"], ["crime"], ["2026-01-31"],
            ])
        #expect(sections[0].filters[0].presentOf == "day")
        let today = ComponentQuery.FilterID(section: "other", filter: "today")
        guard
            case .selection(let selection, _) = try chosen.ask(
                .select(today, of: Selection(), screen: "s"))
        else { throw Refusal(.filterNotFound, "nothing was selected") }
        #expect(selection["other"] == ["today"])
        for (wrong, reason) in [
            (["selected": "tomorrow"], "there is no filter 'tomorrow'"),
            (["selected": ["today", "2026-01-31"], "input": "single"], "expected one"),
            (["selected": [:]], "expected a filter's id"),
        ] as [([String: Value], String)] {
            let section = wrong.merging(["id": "day", "field": "day"]) { own, _ in own }
            let error = #expect(throws: SettingError.self) { try host(.object(section)) }
            #expect(error?.setting == "sections[0].selected")
            #expect(error?.reason.contains(reason) == true)
        }
    }

    @Test func `a calendar asks the host for the days of the week, and takes any day`() throws {
        var day = Field(name: "day", type: .date)
        day.derivation = Field.Derivation(of: "start", by: .day, zone: "UTC")
        var month = Field(name: "month", type: .date)
        month.derivation = Field.Derivation(of: "start", by: .month, zone: "UTC")
        let fields = [Field(name: "start", type: .time), day, month]
        func host(_ section: [String: Value]) throws -> MemoryHost {
            let section = section.merging(["id": "day", "days": "this-week"]) { own, _ in own }
            return try MemoryHost(
                Facets.self, settings: ["sections": [.object(section)]], fields: fields)
        }
        let calendar = try host(["field": "day", "input": "single", "selected": "today"])
        #expect(calendar.observedFields == [])
        let section = try #require(try sections(calendar).first)
        #expect(section.weekOf == "day" && section.filters.map(\.id) == ["today"])
        for id in ["2026-01-31", "today"] {
            let asked = ComponentQuery.FilterID(section: "day", filter: id)
            guard
                case .selection(let selection, _) = try calendar.ask(
                    .select(asked, of: Selection(["day": ["2026-02-01"]]), screen: "s"))
            else { throw Refusal(.filterNotFound, "nothing was selected") }
            #expect(selection["day"] == [id])
        }
        let asked = ComponentQuery.FilterID(section: "day", filter: "monday")
        #expect(throws: Refusal.self) {
            try calendar.ask(.select(asked, of: Selection(), screen: "s"))
        }
        for (wrong, setting, reason) in [
            (["field": "month"], "days", "'month' is by month"),
            (["field": "start"], "days", "'start' is of the type time"),
            (["field": "day", "days": "always"], "days", "expected one of this-week"),
            (["field": "day", "input": "range"], "days", "without 'filters'"),
            (["field": "day", "order": "descending"], "order", "none to order"),
        ] as [([String: Value], String, String)] {
            let error = #expect(throws: SettingError.self) { try host(wrong) }
            #expect(error?.setting == "sections[0].\(setting)")
            #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
        }
    }

    @Test func `a date that no item can have is refused with those that they have`() throws {
        func host(_ by: Field.Bucket, _ section: [String: Value]) throws -> MemoryHost {
            let section = section.merging(["id": "s", "field": "from"]) { own, _ in own }
            var field = Field(name: "from", type: .date)
            field.derivation = Field.Derivation(of: "start", by: by, zone: "UTC")
            return try MemoryHost(
                Facets.self, settings: ["sections": [.object(section)]],
                fields: [Field(name: "start", type: .time), field])
        }
        for (by, right, wrong, rule) in [
            (.month, "2026-03-01", "2026-03-15", "the first of a month"),
            (.week, "2026-03-30", "2026-03-31", "a Monday"),
            (.week, "1969-12-29", "1969-12-30", "a Monday"),
        ] as [(Field.Bucket, String, String, String)] {
            func preset(_ date: String) -> [String: Value] {
                ["filters": [["id": "p", "value": .text(date)]]]
            }
            _ = try host(by, preset(right))
            let error = #expect(throws: SettingError.self) { try host(by, preset(wrong)) }
            #expect(error?.setting == "sections[0].filters[0].value")
            #expect(error?.reason.contains("expected \(rule)") == true)
            _ = try host(by, ["filters": [["id": "p", "from": .text(wrong)]]])
            let written = try host(by, [:])
            #expect(
                try predicate(written, "s", right) == .equals(field: "from", value: .text(right)))
            let refusal = #expect(throws: Refusal.self) { try predicate(written, "s", wrong) }
            #expect(refusal?.reason.contains("it takes \(rule)") == true)
        }
        _ = try host(.day, ["filters": [["id": "p", "value": "2026-03-31"]]])
    }

    @Test func `a value that no item has now is still understood`() throws {
        let host = try host(
            ["id": "genre", "field": "genres"], ["id": "year", "field": "year"],
            ["id": "seen", "field": "seen"], ["id": "rating", "field": "rating"])
        #expect(try predicate(host, "genre", "noir") == .equals(field: "genres", value: "noir"))
        #expect(try predicate(host, "year", "1931") == .equals(field: "year", value: 1931))
        #expect(try predicate(host, "seen", "true") == .equals(field: "seen", value: true))
        #expect(try predicate(host, "rating", "7.5") == .equals(field: "rating", value: 7.5))
        for (section, filter) in [("year", "old"), ("seen", "yes"), ("rating", "inf")] {
            let refusal = try #require(
                #expect(throws: Refusal.self) { try predicate(host, section, filter) })
            #expect(refusal.code == .filterNotFound)
            #expect(refusal.evidence == ["section": section, "filter": filter])
        }
    }

    @Test(arguments: [
        ("rating", "0", ["0.0", "-0", "+0", "0e5"]),
        ("rating", "1e+17", ["1e17", "100000000000000000.0"]),
        ("year", "1972", ["+1972", "01972"]),
        ("released", "2026-01-31", ["2026-01-31T00:00:00Z", "2026-01-31T01:00:00.000+01:00"]),
        (
            "released", "2026-01-31T20:15:00Z",
            ["2026-01-31T20:15:00.000Z", "2026-01-31t21:15:00+01:00"]
        ),
    ])
    func `a value is one filter, however it is written`(
        field: String, id: String, others: [String]
    ) throws {
        let host = try host(["id": "value", "field": .text(field)])
        let value: Value =
            switch field {
            case "rating": .number(Double(id) ?? 0)
            case "year": .int(1972)
            default: .text(id)
            }
        for isOffered in [false, true] {
            if isOffered { host.report([field: [value]]) }
            let known = isOffered ? try #require(try sections(host)[0].filters.first?.id) : nil
            let first = try filter(host, "value", others[0])
            if let known { #expect(first.id == known) }
            for other in [id] + others {
                #expect(try filter(host, "value", other).id == first.id, "\(other)")
            }
            guard isOffered else { continue }
            var selection = Selection()
            for other in others {
                let id = ComponentQuery.FilterID(section: "value", filter: other)
                guard
                    case .selection(let now, _) = try host.ask(
                        .select(id, of: selection, screen: "s"))
                else { return }
                selection = now
            }
            #expect(selection == Selection(["value": [first.id]]))
            let written = ComponentQuery.FilterID(section: "value", filter: first.id)
            let left = try host.ask(
                .deselect(written, of: Selection(["value": others]), screen: "s"))
            guard case .selection(let now, _) = left else { return }
            #expect(now.isEmpty)
        }
    }

    @Test func `URLs and Markdown are filtered as texts, pictures not at all`() throws {
        let host = try host(
            ["id": "site", "field": "site"], ["id": "plot", "field": "plot", "input": "text"])
        host.report(["site": ["https://example.org/1"]])
        #expect(
            try predicate(host, "site", "https://example.org/1")
                == .equals(field: "site", value: "https://example.org/1"))
        #expect(try predicate(host, "plot", "noir") == .contains(field: "plot", text: "noir"))
        let error = #expect(throws: SettingError.self) {
            try self.host(["id": "poster", "field": "poster"])
        }
        #expect(error?.setting == "sections[0].field")
        #expect(error?.reason == "'poster' is of the type image, which nobody filters by")
    }

    @Test func `a value that items can't have is refused`() throws {
        let host = try host(
            ["id": "year", "field": "year"], ["id": "rating", "field": "rating"],
            ["id": "added", "field": "released"])
        for (section, filter) in [
            ("year", "9007199254740993"), ("rating", "9007199254740993"),
            ("rating", "12345678901234567890"), ("rating", "0x1F"), ("rating", "0x1.8p1"),
            ("rating", "0xE"), ("rating", "nan"),
            ("added", "2026-01-31T20:15:00.0001Z"), ("added", "9999-12-31T23:00:00-02:00"),
        ] {
            #expect(throws: Refusal.self) { try self.filter(host, section, filter) }
        }
    }

    private func filter(
        _ host: MemoryHost, _ section: String, _ filter: String
    ) throws -> Filter {
        let id = ComponentQuery.FilterID(section: section, filter: filter)
        guard case .filters(let filters) = try host.ask(.filters([id])), let found = filters.first
        else { throw Refusal(.filterNotFound, "Nothing was found.") }
        return found
    }

    @Test func `a value that no item has is not selected, unless it is already`() throws {
        let host = try host(["id": "genre", "field": "genres"])
        host.report(["genres": ["crime", "drama"]])
        func select(_ filter: String, of selection: Selection) throws -> ComponentAnswer {
            let id = ComponentQuery.FilterID(section: "genre", filter: filter)
            return try host.ask(.select(id, of: selection, screen: "s"))
        }
        let refusal = try #require(
            #expect(throws: Refusal.self) { try select("dramma", of: Selection()) })
        #expect(refusal.code == .filterNotFound)
        #expect(refusal.reason.contains("did you mean 'drama'? There are: crime, drama"))
        let noir = Selection(["genre": ["noir"]])
        guard case .selection(let same, _) = try select("noir", of: noir),
            case .selection(let more, _) = try select("drama", of: noir)
        else {
            Issue.record("no selection")
            return
        }
        #expect(same == noir)
        #expect(more["genre"] == ["noir", "drama"])
    }

    @Test func `listed ranges go from one included to another excluded`() throws {
        let host = try host([
            "id": "rating", "field": "rating",
            "filters": [
                ["id": "8+", "title": "8 and up", "from": 8], ["id": "mid", "from": 4, "to": 8],
                ["id": "ten", "value": 10],
            ],
        ])
        #expect(host.observedFields == [])
        #expect(try sections(host)[0].filters.map(\.title) == ["8 and up", "mid", "ten"])
        #expect(
            try predicate(host, "rating", "8+")
                == .range(field: "rating", lower: .init(8), upper: nil))
        #expect(
            try predicate(host, "rating", "mid")
                == .range(
                    field: "rating", lower: .init(4), upper: .init(8, isIncluded: false)))
        #expect(
            try predicate(host, "rating", "ten") == .equals(field: "rating", value: 10))
    }

    @Test func `a filter that is not listed is refused with what there is`() throws {
        let host = try host([
            "id": "rating", "field": "rating",
            "filters": [["id": "high", "from": 8], ["id": "low", "to": 4]],
        ])
        let refusal = try #require(
            #expect(throws: Refusal.self) { try predicate(host, "rating", "hihg") })
        #expect(refusal.reason.contains("did you mean 'high'?"))
        #expect(refusal.reason.contains("high, low"))
        let section = try #require(
            #expect(throws: Refusal.self) { try predicate(host, "ratin", "high") })
        #expect(section.reason.contains("did you mean 'rating'?"))
    }

    @Test func `a range is written with both ends included, either left out`() throws {
        let host = try host(["id": "length", "field": "duration", "input": "range"])
        func range(_ lower: Double?, _ upper: Double?) -> Predicate {
            .range(
                field: "duration", lower: lower.map { .init($0) }, upper: upper.map { .init($0) })
        }
        #expect(try predicate(host, "length", "3600..7200") == range(3600, 7200))
        #expect(try predicate(host, "length", "..7200.5") == range(nil, 7200.5))
        #expect(try predicate(host, "length", "3600..") == range(3600, nil))
        for text in ["..", "3600", "a..b", "2..1", "1..x", "", "1..nan", "0x10..", "..0x1.8p9"] {
            let refusal = try #require(
                #expect(throws: Refusal.self) { try predicate(host, "length", text) })
            #expect(refusal.reason.contains("5400..7200 in seconds"))
        }
    }

    @Test func `a range of time holds its last day as a whole`() throws {
        let host = try host(["id": "out", "field": "released", "input": "range"])
        #expect(
            try predicate(host, "out", "1970-01-02..1970-01-03")
                == .range(
                    field: "released", lower: .init(86_400),
                    upper: .init(3 * 86_400, isIncluded: false)))
        #expect(
            try predicate(host, "out", "..2026-01-31T20:15:00.5+01:00")
                == .range(field: "released", lower: nil, upper: .init(1_769_886_900.5)))
    }

    @Test func `a text is looked for as it is written`() throws {
        let host = try host(["id": "title", "field": "title", "input": "text"])
        #expect(
            try predicate(host, "title", "god father")
                == .contains(field: "title", text: "god father"))
        #expect(throws: Refusal.self) { try predicate(host, "title", "  ") }
    }

    @Test func `single holds one filter, several add up`() throws {
        let host = try host(
            ["id": "genre", "field": "genres"],
            ["id": "year", "field": "year", "input": "single"])
        host.report(["genres": ["crime", "drama"], "year": [1972, 1974]])
        var selection = Selection()
        for (section, filter) in [
            ("genre", "drama"), ("genre", "crime"), ("year", "1972"), ("year", "1974"),
        ] {
            let query = ComponentQuery.select(
                .init(section: section, filter: filter), of: selection, screen: "s")
            guard case .selection(let next, _) = try host.ask(query) else { return }
            selection = next
        }
        #expect(selection.sections == ["genre": ["drama", "crime"], "year": ["1974"]])
        #expect(host.events.count == 4)
    }

    @Test func `derived fields have listed filters`() throws {
        let host = try host([
            "id": "stars", "field": "votes.score", "filters": [["id": "4+", "from": 4]],
        ])
        #expect(
            try predicate(host, "stars", "4+")
                == .range(field: "votes.score", lower: .init(4), upper: nil))
    }

    @Test(
        arguments: [
            ([:], "sections[0].id", "required"),
            (["id": "Genre", "field": "genres"], "sections[0].id", "lower-case"),
            (["id": "genre"], "sections[0].field", "required"),
            (["id": "genre", "field": "genre"], "sections[0].field", "did you mean 'genres'?"),
            (
                ["id": "genre", "field": "genres", "inptu": "single"], "sections[0].inptu",
                "'input'"
            ),
            (["id": "genre", "field": "genres", "input": "many"], "sections[0].input", "several"),
            (
                ["id": "genre", "field": "genres", "input": "range"], "sections[0].input",
                "keywords"
            ),
            (["id": "year", "field": "year", "input": "text"], "sections[0].input", "integer"),
            (
                ["id": "year", "field": "year", "filters": []], "sections[0].filters",
                "at least one"
            ),
            (["id": "year", "field": "year", "filters": 3], "sections[0].filters", "list"),
            (
                ["id": "year", "field": "year", "filters": [["id": "a", "form": 3]]],
                "sections[0].filters[0].form", "'from'"
            ),
            (
                ["id": "year", "field": "year", "filters": [["id": "a", "from": "x"]]],
                "sections[0].filters[0].from", "'x'"
            ),
            (
                ["id": "year", "field": "year", "filters": [["id": "a", "from": 3, "to": 3]]],
                "sections[0].filters[0].to", "more than"
            ),
            (
                ["id": "year", "field": "year", "filters": [["id": "a"]]],
                "sections[0].filters[0]", "'value'"
            ),
            (
                ["id": "year", "field": "year", "filters": [["id": "a", "value": 1, "to": 2]]],
                "sections[0].filters[0].to", "not both"
            ),
            (
                [
                    "id": "year", "field": "year",
                    "filters": [["id": "a", "to": 2], ["id": "a", "to": 3]],
                ],
                "sections[0].filters[1].id", "already"
            ),
            (
                ["id": "g", "field": "genres", "filters": [["id": "a", "from": 1]]],
                "sections[0].filters[0].from", "keywords"
            ),
            (
                ["id": "title", "field": "title", "input": "text", "filters": [["id": "a"]]],
                "sections[0].filters", "written"
            ),
            (
                ["id": "y", "field": "year", "input": "range", "order": "ascending"],
                "sections[0].order", "none to order"
            ),
            (["id": "stars", "field": "votes.score"], "sections[0].filters", "required"),
            ("genre", "sections[0]", "expected an object"),
        ] as [(Value, String, String)])
    func `a mistake in the settings is refused with its place`(
        section: Value, path: String, reason: String
    ) throws {
        let error = try #require(
            #expect(throws: SettingError.self) { try host(section) })
        #expect(error.setting == path)
        #expect(error.reason.contains(reason))
    }

    @Test func `two sections may not have one id`() throws {
        let error = try #require(
            #expect(throws: SettingError.self) {
                try host(["id": "a", "field": "genres"], ["id": "a", "field": "year"])
            })
        #expect(error.setting == "sections[1].id")
    }

    @Test func `sections are required`() throws {
        let error = try #require(
            #expect(throws: SettingError.self) { try MemoryHost(Facets.self) })
        #expect(error.setting == "sections")
        #expect(throws: SettingError.self) { try host() }
    }
}
