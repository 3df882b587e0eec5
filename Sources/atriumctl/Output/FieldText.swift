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

/// Tallies as people read them: they see the mean of the votes, whatever score lists are ranked by.
enum TallyText {
    /// The mean of the votes; the score where the tally does not have the value of each; nil: there are none.
    static func mean(_ tally: VoteTally) -> Double? {
        guard let score = tally.score else { return nil }
        var (sum, count) = (0.0, 0)
        for (text, votes) in tally.histogram {
            guard let value = Double(text) else { return score }
            sum += value * Double(votes)
            count += votes
        }
        return count > 0 && count == tally.count ? sum / Double(count) : score
    }

    /// In a table's cell: `4.33 (12)`.
    static func short(_ tally: VoteTally) -> String {
        guard let mean = mean(tally) else { return "" }
        return "\(shown(mean)) (\(Wording.count(tally.count)))"
    }

    /// In a sentence, with who voted what: `4.33 from 12 votes (3: 2, 5: 10); yours: 5`; a score that is another than
    /// the mean is named, too, and so is the actor whose vote `mine` is.
    static func full(_ tally: VoteTally, of actor: String? = nil) -> String {
        guard tally.count > 0 else { return "none" }
        let values = tally.histogram.sorted { (Double($0.key) ?? 0) < (Double($1.key) ?? 0) }
        let histogram = values.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
        let whose = actor.map { "that of \($0)" } ?? "yours"
        let mine = tally.mine.map { "; \(whose): \(Wording.number($0))" } ?? ""
        let votes = "\(Wording.count(tally.count, "vote")) (\(histogram))"
        guard let score = tally.score, let mean = mean(tally) else {
            return "\(votes), without a score\(mine)"
        }
        let rank = shown(score) == shown(mean) ? "" : ", ranked as \(shown(score))"
        return "\(shown(mean)) from \(votes)\(rank)\(mine)"
    }

    private static func shown(_ number: Double) -> String { Wording.rounded(number, decimals: 2) }
}
