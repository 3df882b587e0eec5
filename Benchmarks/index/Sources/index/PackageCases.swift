import AtriumKit

@testable import Index

/// The packages of Debian: some sixty thousand, with sixty sections and six hundred tags.
struct PackageCases {
    private static let fields = [
        Field(name: "name", type: .text, required: true, search: true),
        Field(name: "summary", type: .text, search: true),
        Field(name: "section", type: .keywords), Field(name: "tags", type: .keywords),
        Field(name: "size", type: .integer, min: 0),
    ]
    private static let chosen = ["games", "graphics"]
    private static let sizes = [0, 100_000, 1_000_000, 10_000_000, 100_000_000]
    private static let texts = ["editor", "library", "python", "game", "server", "debug", "music"]

    private let packages: Database
    private let index = ContentIndex(fields: fields)

    /// Puts all packages into a new index.
    init(_ packages: Database) throws {
        self.packages = packages
        var tags: [String: [Value]] = [:]
        try packages.each("SELECT package, tag FROM tags ORDER BY package") {
            tags[$0.text(0), default: []].append(.text($0.text(1)))
        }
        var items: [Item] = []
        try packages.each("SELECT id, name, summary, section, size FROM packages") { row in
            items.append(
                Item(
                    id: row.text(1),
                    fields: [
                        "name": .text(row.text(1)), "summary": .text(row.text(2)),
                        "section": .list([.text(row.text(3))]), "size": .int(row.integer(4)),
                        "tags": .list(tags[row.text(0)] ?? []),
                    ]))
        }
        index.put(items, revision: 1)
    }

    /// Makes sure that both sides answer alike, and then measures them in turn.
    func run() throws {
        let (selection, questions) = (selection, questions)
        try check()
        for _ in 0..<200 { _ = try index.query(selection) }
        try Case.measure(
            [
                Case(
                    name: "Debian: page, number, counts of sections, tags, sizes",
                    ours: { _ in _ = try index.query(selection) },
                    peer: ("SQLite", { _ in for text in questions { try packages.run(text) } })),
                Case(
                    name: "Debian: text, number and first 50 by size",
                    ours: { _ = try index.query(search(Self.texts[$0 % Self.texts.count])) },
                    peer: (
                        "FTS5 trigram",
                        { round in
                            for text in searches(Self.texts[round % Self.texts.count]) {
                                try packages.run(text)
                            }
                        }
                    )),
            ], in: index, rounds: 30)
    }

    private func check() throws {
        let (ours, theirs) = (
            try index.query(selection).total, try packages.run(questions[1]).first
        )
        guard ours == theirs else {
            throw DatabaseError(description: "SQLite finds \(theirs) packages, the index \(ours)")
        }
        for text in Self.texts {
            let (ours, theirs) = (
                try index.query(search(text)).total, try packages.run(searches(text)[0]).first
            )
            guard ours == theirs else {
                throw DatabaseError(description: "\(text): SQLite \(theirs), the index \(ours)")
            }
        }
    }

    /// Games and graphics below ten megabytes, largest first.
    private var selection: IndexQuery {
        let sizes = zip(Self.sizes, Self.sizes.dropFirst() + [Int.max]).map { from, to in
            Predicate.range(
                field: "size", lower: .init(Double(from)),
                upper: to == .max ? nil : .init(Double(to), isIncluded: false))
        }
        func all(_ field: String) -> [Predicate] {
            index.values.distinct(of: field).map { .equals(field: field, value: $0) }
        }
        return IndexQuery(
            sections: [
                SectionQuery(
                    id: "section",
                    selected: Self.chosen.map { .equals(field: "section", value: .text($0)) },
                    offered: all("section")),
                SectionQuery(
                    id: "size",
                    selected: [
                        .range(
                            field: "size", lower: nil, upper: .init(10_000_000, isIncluded: false))
                    ], offered: sizes),
                SectionQuery(id: "tags", offered: all("tags")),
            ], sort: [SortKey("-size")], limit: 50, countsFacets: true)
    }

    private var questions: [String] {
        let sections = "section IN (\(Self.chosen.map { "'\($0)'" }.joined(separator: ",")))"
        let both = "\(sections) AND size<10000000"
        return [
            "SELECT id, name, summary, section, size FROM packages WHERE \(both) "
                + "ORDER BY size DESC LIMIT 50",
            "SELECT count(*) FROM packages WHERE \(both)",
            "SELECT section, count(*) FROM packages INDEXED BY by_section WHERE size<10000000 "
                + "GROUP BY 1",
            "SELECT tag, count(*) FROM packages p JOIN tags t ON t.package=p.id WHERE \(both) "
                + "GROUP BY 1",
            "SELECT \(Self.sizes.dropFirst().map { "(size>=\($0))" }.joined(separator: "+")), "
                + "count(*) FROM packages WHERE \(sections) GROUP BY 1",
        ]
    }

    private func search(_ text: String) -> IndexQuery {
        IndexQuery(search: text, sort: [SortKey("-size")], limit: 50)
    }

    private func searches(_ text: String) -> [String] {
        let found = "trigrams MATCH '\"\(text)\"'"
        return [
            "SELECT count(*) FROM trigrams WHERE \(found)",
            "SELECT p.id, p.name, p.size FROM trigrams t JOIN packages p ON p.id=t.rowid "
                + "WHERE \(found) ORDER BY p.size DESC LIMIT 50",
        ]
    }
}
