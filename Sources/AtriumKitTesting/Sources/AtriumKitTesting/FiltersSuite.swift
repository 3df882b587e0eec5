import AtriumKit

/// The kind `filters`, which keeps no records: its sections follow from its settings and from the
/// values that it was given last.
struct FiltersSuite {
    private enum Rule {
        static let offers = "each section has an id of its own, and so has each filter in it"
        static let names = "a filter on offer is found by its id"
        static let state = "the sections follow from the last values, and from nothing else"
        static let selects = "a selection holds what was selected, and the delegate hears of it"
        static let refuses = "what is not there is refused as not found"
    }

    let bench: Bench
    var random: SeededRandom
    var report: ConformanceReport

    init(_ bench: Bench) {
        self.bench = bench
        random = SeededRandom(seed: bench.seed)
        report = ConformanceReport(kind: .filters, seed: bench.seed)
    }

    mutating func run(rounds: Int) async throws -> ConformanceReport {
        let component = try await bench.freshComponent()
        do {
            for _ in 0..<max(rounds, 2) { try await round(component) }
            await component.stop()
        } catch {
            await component.stop()
            throw error
        }
        report.rules = [Rule.offers, Rule.names, Rule.state, Rule.selects, Rule.refuses]
        return report
    }

    private mutating func round(_ component: any ConformanceDriver) async throws {
        let values = reported(try await component.observedFields())
        try await component.report(values, cut: [])
        let sections = try await sections(component)
        try checkOffers(sections)
        let fresh = try await bench.freshComponent()
        for _ in 0..<2 {
            try await fresh.report(values, cut: [])
            try bench.check(
                Rule.state, "the list of sections", try await self.sections(fresh), is: sections)
        }
        await fresh.stop()
        for section in sections {
            for filter in section.filters {
                let answer = try await component.answer(
                    .filters([.init(section: section.id, filter: filter.id)]))
                try bench.check(
                    Rule.names, "\(section.id)=\(filter.id)", answer, is: .filters([filter]))
            }
        }
        try await checkSelecting(component, sections)
        try await checkRefusals(component, sections)
        // A filters component ignores records, and must survive them.
        _ = try await component.restore([.put(key: "a", value: 1), .removed(key: "b")])
        try bench.check(
            Rule.state, "the list of sections", try await self.sections(component), is: sections)
    }

    private func sections(_ component: any ConformanceDriver) async throws -> [FilterSection] {
        guard case .sections(let sections) = try await component.answer(.sections) else {
            return []
        }
        return sections
    }

    private func checkOffers(_ sections: [FilterSection]) throws {
        let ids = sections.map(\.id)
        try bench.check(Rule.offers, Set(ids).count == ids.count, "the ids are \(ids)")
        for section in sections {
            let filters = section.filters.map(\.id)
            try bench.check(
                Rule.offers, Set(filters).count == filters.count,
                "the filters of \(section.id) are \(filters)")
        }
    }

    private mutating func checkSelecting(
        _ component: any ConformanceDriver, _ sections: [FilterSection]
    ) async throws {
        var expected = Selection()
        for _ in 0..<20 {
            guard let section = sections.randomElement(using: &random),
                let filter = section.filters.randomElement(using: &random)
            else { continue }
            let id = ComponentQuery.FilterID(section: section.id, filter: filter.id)
            let query: ComponentQuery
            let event: ComponentEvent
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                query = .clear(expected, screen: "s")
                expected = Selection()
                event = .didClear(screen: "s")
            case 1, 2:
                query = .deselect(id, of: expected, screen: "s")
                expected[section.id].removeAll { $0 == filter.id }
                event = .didDeselect(
                    filter: filter.id, section: section.id, selection: expected, screen: "s")
            default:
                query = .select(id, of: expected, screen: "s")
                expected = expected.adding(filter.id, to: section)
                event = .didSelect(
                    filter: filter.id, section: section.id, selection: expected, screen: "s")
            }
            let answer = try await component.answer(query)
            try bench.check(
                Rule.selects, "\(query)", answer, is: .selection(expected, events: [event]))
            report.accepted += 1
        }
    }

    private mutating func checkRefusals(
        _ component: any ConformanceDriver, _ sections: [FilterSection]
    ) async throws {
        let nowhere = ComponentQuery.FilterID(section: "no-such-section", filter: "a")
        for query in [
            ComponentQuery.filters([nowhere]), .select(nowhere, of: Selection(), screen: "s"),
            .deselect(nowhere, of: Selection(), screen: "s"),
        ] {
            do {
                let answer = try await component.answer(query)
                throw bench.failure(Rule.refuses, "\(query) was answered with \(answer)")
            } catch let refusal as Refusal {
                try bench.check(Rule.refuses, "the code", refusal.code, is: .filterNotFound)
                report.declined += 1
            }
        }
    }

    /// Returns distinct, sorted values for the fields, as a host passes them.
    private mutating func reported(_ names: [String]) -> [String: [Value]] {
        var values: [String: [Value]] = [:]
        for name in names {
            let type = bench.fields.first { $0.name == name }?.type ?? .number
            let count = Int64.random(in: 0...6, using: &random)
            values[name] =
                switch type {
                case .text, .keywords:
                    ["Amélie", "crime", "drama", "film noir", "東京", "8+"]
                        .prefix(Int(count)).sorted().map { .text($0) }
                case .url: (0..<count).map { .text("https://example.org/\($0)") }
                case .markdown: (0..<count).map { .text("*\($0)*") }
                case .boolean: count < 3 ? [true] : [false, true]
                case .time, .date: (0..<count).map { .text("202\($0)-01-31") }
                case .number: (0..<count).map { .number(Double($0) / 2) }
                default: (0..<count).map { .int($0 * 7) }
                }
        }
        return values
    }
}

extension Selection {
    /// Returns the selection with one more filter.
    fileprivate func adding(_ filter: String, to section: FilterSection) -> Selection {
        var selection = self
        if section.input != .several {
            selection[section.id] = [filter]
        } else if !selection[section.id].contains(filter) {
            selection[section.id].append(filter)
        }
        return selection
    }
}
