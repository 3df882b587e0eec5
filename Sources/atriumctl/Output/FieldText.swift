import Interfaces
import JSONCodec

/// The values of fields as people read them.
enum FieldText {
    /// The text of a value of a field of a type: lists with commas, durations in hours and minutes.
    static func shown(_ value: JSONValue, type: String) -> String {
        switch value {
        case .null: ""
        case .bool(let truth): truth ? "yes" : "no"
        case .string(let text) where type == "image" && text.hasPrefix("data:"):
            String(text.prefix { $0 != ";" })
        case .string(let text): text
        case .int, .double:
            type == "duration"
                ? Wording.duration(value.double ?? 0) : Wording.number(value.double ?? 0)
        case .array(let elements):
            elements.map { shown($0, type: "") }.joined(separator: ", ")
        case .object: String(decoding: JSON.encode(value), as: UTF8.self)
        }
    }

    /// Whether a column of this type is one of numbers.
    static func isNumber(_ type: String) -> Bool {
        ["number", "integer", "duration"].contains(type)
    }
}

/// Tallies as people read them.
enum TallyText {
    /// In a table's cell: `4.33 (12)`.
    static func short(_ tally: VoteTally) -> String {
        guard let score = tally.score else { return "" }
        return "\(Wording.rounded(score, decimals: 2)) (\(Wording.count(tally.count)))"
    }

    /// In a sentence, with who voted what: `4.33 from 3 votes (3: 1, 5: 2); yours: 5`.
    ///
    /// A score that is another than the mean says what it is: `ranked 3.33 from 1 vote (5: 1)`.
    static func full(_ tally: VoteTally) -> String {
        guard let score = tally.score else { return "none" }
        let values = tally.histogram.sorted { (Double($0.key) ?? 0) < (Double($1.key) ?? 0) }
        let histogram = values.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
        let mine = tally.mine.map { "; yours: \(Wording.number($0))" } ?? ""
        let count = tally.histogram.values.reduce(0, +)
        let sum = tally.histogram.reduce(0) { $0 + (Double($1.key) ?? 0) * Double($1.value) }
        // A score that is not the mean ranks, and would be taken for it.
        let isMean = count == 0 || abs(sum / Double(count) - score) < 0.005
        return "\(isMean ? "" : "ranked ")\(Wording.rounded(score, decimals: 2)) from "
            + "\(Wording.count(tally.count, "vote")) (\(histogram))\(mine)"
    }
}
