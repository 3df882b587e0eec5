import AtriumKit
import Facets
import Testing

@testable import Host
@testable import Index

/// What a filters component in a worker says about what it offers and observes.
@Suite struct AnswerCheckTests {
    private func check(_ limits: HostLimits = HostLimits()) -> AnswerCheck {
        AnswerCheck(
            LaunchRequest(
                plugin: .inProcess("test.filters", .filters, Facets.self), container: "films",
                component: "filters", settings: [:],
                fields: [Field(name: "genre", type: .text), Field(name: "year", type: .integer)],
                limits: limits))
    }

    private func problem(
        _ sections: [FilterSection], _ limits: HostLimits = HostLimits()
    ) -> String? {
        check(limits).problem(in: .sections(sections), to: .sections)
    }

    private func section(_ count: Int, _ predicate: Predicate) -> FilterSection {
        FilterSection(
            id: "genre", title: "Genre", input: .several,
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
    }

    @Test func `so are filters whose items have to be searched for`() {
        let value = Predicate.equals(field: "genre", value: .text("crime"))
        let text = Predicate.contains(field: "genre", text: "c")
        #expect(problem([section(500, text), section(500, text)]) == nil)
        #expect(
            problem([section(500, text), section(501, text)])
                == "filters by 1001 texts and ranges, where 1000 are allowed")
        let many = Predicate.not(.or(Array(repeating: value, count: 501)))
        #expect(problem([section(1, many)]) == nil)
        #expect(problem([section(2, many)])?.contains("1002") == true)
    }
}
