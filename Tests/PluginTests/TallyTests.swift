import AtriumKit
import Testing

/// The tally's histogram, which is kept as text.
@Suite struct TallyTests {
    private func text(_ tally: Tally) -> String {
        String(decoding: tally.histogramMembers, as: UTF8.self)
    }

    private func values(_ tally: Tally) -> [String: Int] {
        var found: [String: Int] = [:]
        tally.forEachValue { value, count in
            #expect(found.updateValue(count, forKey: value) == nil)
        }
        return found
    }

    @Test(arguments: [
        [:], ["4": 1], ["1": 20, "2": 0, "5": 1_000_000], ["-1": 3, "1": 4], ["4.5": 1, "10": 2],
        ["": 1], ["a\"b\\c\u{1f}": 1, "東京,\":": 2, "\\u0041": 3, "\u{0}": 4],
        ["1": .max, "2": .min, "3": -5],
    ])
    func `a tally has the histogram that it was made of`(histogram: [String: Int]) {
        var tally = Tally(count: 1, score: 2, histogram: histogram)
        #expect(tally.histogram == histogram && values(tally) == histogram)
        #expect(tally == Tally(count: 1, score: 2, histogram: histogram))
        tally.histogram["new", default: 6] += 1
        #expect(tally.histogram == histogram.merging(["new": 7]) { $1 })
        #expect(tally != Tally(count: 1, score: 2, histogram: histogram))
        tally.histogram = [:]
        #expect(tally == Tally(count: 1, score: 2) && tally.histogramMembers.isEmpty)
    }

    @Test func `its text is members of a JSON object, sorted by name`() {
        let tally = Tally(histogram: ["5": 3, "10": 2, "4.5": 1, "a\"\n": 0])
        #expect(text(tally) == #""10":2,"4.5":1,"5":3,"a\"\u000a":0"#)
    }

    @Test(arguments: [
        [], [4], [1, 2, 3, 4, 5], [-1, 1], [8, 9, 10, 11], [0, 0.5, 1, 1.5, 2], [1e300, -1e-300],
        [9_007_199_254_740_992, -0.0],
    ])
    func `one that is made of numbers is the same as one that is made of a dictionary`(
        values: [Double]
    ) {
        var histogram: [String: Int] = [:]
        for (place, value) in values.enumerated() {
            histogram[Value.number(value).plainText ?? ""] = place * 100
        }
        let tally = Tally(count: 7, score: 1, values: values.count) { (values[$0], $0 * 100) }
        #expect(tally == Tally(count: 7, score: 1, histogram: histogram))
        #expect(tally.histogram == histogram)
    }
}
