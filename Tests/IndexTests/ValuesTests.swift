import AtriumKit
import TestSupport
import Testing

@testable import Index

/// The values of a field to choose from, where there are many.
struct IndexValuesTests {
    private func index(_ names: [String], _ years: [Int]) -> ContentIndex {
        let index = ContentIndex(fields: [
            Field(name: "name", type: .text), Field(name: "year", type: .integer),
        ])
        for (place, (name, year)) in zip(names, years).enumerated() {
            index.put([item(place, name, year)], revision: 1)
        }
        return index
    }

    private func item(_ place: Int, _ name: String, _ year: Int) -> Item {
        Item(id: "i\(place)", fields: ["name": .text(name), "year": .int(Int64(year))])
    }

    @Test func `of more values than the limit those are sent that most items have`() {
        var random = RepeatableRandom(7)
        let years = (0..<600).map { _ in
            Int.random(in: 0...40, using: &random) * Int.random(in: 0...40, using: &random)
        }
        let index = index(years.map { "\($0)" }, years)
        var counts: [Int: Int] = [:]
        for year in years { counts[year, default: 0] += 1 }
        for limit in [1, 2, 7, 100] {
            let most = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(limit)
            #expect(
                index.values.distinct(of: "year", atMost: limit)
                    == most.map(\.key).sorted().map { .int(Int64($0)) })
            let texts = counts.map { ("\($0.key)", $0.value) }
                .sorted { ($1.1, $0.0) < ($0.1, $1.0) }.prefix(limit)
            #expect(
                index.values.distinct(of: "name", atMost: limit)
                    == texts.map(\.0).sorted().map(Value.text))
            #expect(index.values.count(of: "name") > limit)
        }
        #expect(index.values.distinct(of: "year").count == counts.count)
        #expect(index.values.count(of: "year") == counts.count)
    }

    @Test func `two lists with the same values have different versions`() {
        let (one, other) = (index(["a"], [1]), index(["a"], [1]))
        #expect(one.values.version(of: ["name"]) != other.values.version(of: ["name"]))
        #expect(one.values.version(of: []) != other.values.version(of: []))
    }

    @Test(arguments: ["name", "year"])
    func `values of a field that has very many are looked for again after many changes`(
        field: String
    ) {
        let index = index((0..<4_000).map { "n\($0)" }, Array(0..<4_000))
        let version = index.values.version(of: [field], atMost: 100)
        var changes = 0
        while index.values.version(of: [field], atMost: 100) == version, changes < 10_000 {
            index.put([item(4_000 + changes, "m\(changes)", 5_000 + changes)], revision: 2)
            changes += 1
        }
        #expect((500...600).contains(changes), "an eighth of the values, not at each: \(changes)")
        let few = index.values.version(of: [field])
        index.put([item(0, "another", -1)], revision: 3)
        #expect(index.values.version(of: [field]) != few, "all of them are told exactly")
    }

    @Test(arguments: ["name", "year"])
    func `very many values are looked at in steps of a few, while they change`(
        field: String
    ) throws {
        // Every number below 100 on a hundred rows, 20,000 on one each.
        let years = (0..<30_000).map { $0 < 10_000 ? $0 % 100 : $0 }
        let index = index(years.map { "n\($0)" }, years)
        let search = try #require(index.values.search(of: field, atMost: 100))
        var steps = 0
        while search.step() {
            index.put([item(30_000 + steps, "m\(steps)", 50_000 + steps)], revision: 2)
            steps += 1
        }
        let looks = field == "name" ? 20_100 : 2 * 30_000
        #expect(
            (looks / ValueSearch.few - 2...looks / ValueSearch.few + 2).contains(steps),
            "so many were looked at in each: \(steps)")
        #expect(index.values.search(of: field, atMost: 100) == nil, "it is known")
        let found = index.values.distinct(of: field, atMost: 100)
        #expect(Set(found) == Set((0..<100).map { field == "name" ? .text("n\($0)") : .int($0) }))
        for place in 0..<100 { index.put([item(place, "one", -1)], revision: 3) }
        #expect(index.values.distinct(of: field, atMost: 100) == found, "not at each change")
        for place in 100..<10_000 { index.put([item(place, "one", -1)], revision: 3) }
        #expect(index.values.search(of: field, atMost: 100) != nil, "after many it is")
    }
}
