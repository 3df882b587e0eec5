import Foundation
import Testing

/// The summary of docs/performance.md agrees with its tables, which `make bench` replaces.
struct PerformancePageTests {
    private let page: String
    /// The measured tables, by the part of the benchmark that makes them.
    private let tables: [String: Substring]

    init() throws {
        let page = try String(
            contentsOf: Repository.root.appending(path: "docs/performance.md"), encoding: .utf8)
        let found = page.matches(of: /(?s)<!-- (\w+) -->\n(.*?)<!-- \/\w+ -->/)
        tables = Dictionary(found.map { (String($0.1), $0.2) }) { first, _ in first }
        self.page = page
    }

    private func summary() throws -> Substring {
        try #require(page.firstMatch(of: #/(?s)\n## What to expect\n(.*?)\n## /#)).1
    }

    @Test func `each figure of the summary is in the table that it names`() throws {
        let rows = try summary().matches(of: /(?m)^\| (.+) \| (.+) \| (.*) \| (.*`.+`.*) \|$/)
        #expect(rows.count > 10)
        for row in rows {
            let named = row.4.matches(of: /`(\w+)`/).compactMap { tables[String($0.1)] }
            #expect(!named.isEmpty, "\(row.1)")
            let figures = "\(row.2) \(row.3)"
                .matches(of: #/[\d.,]*\d (?:us|ms|s|k/s|M/s|/s|MB)\b/#)
            #expect(!figures.isEmpty, "\(row.1)")
            for figure in figures {
                #expect(named.contains { $0.contains(figure.0) }, "\(figure.0): \(row.1)")
            }
        }
    }

    @Test func `the summary names each part with an aim that is not met`() throws {
        let listed = Set(try summary().matches(of: /(?m)^- `(\w+)`:/).map { String($0.1) })
        let unmet = tables.filter { $0.value.contains("not met") }.keys
        #expect(!unmet.isEmpty && listed.isSuperset(of: unmet))
    }
}
