/// The known word that is nearest to one that somebody wrote, for "did you mean".
enum Nearest {
    /// The nearest word, nil when none is near: more than a third of the letters differ.
    static func word(to written: String, among known: some Sequence<String>) -> String? {
        let limit = max(1, (written.count + 1) / 3)
        let ranked = known.map { (word: $0, distance: distance(written, $0)) }
            .filter { $0.distance <= limit }
        return ranked.min { ($0.distance, $0.word) < ($1.distance, $1.word) }?.word
    }

    /// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
    private static func distance(_ one: String, _ other: String) -> Int {
        let first = Array(one.lowercased())
        let second = Array(other.lowercased())
        var beforeLast: [Int] = []
        var last = Array(0...second.count)
        for row in first.indices {
            var current = [row + 1]
            for column in second.indices {
                let replaced = last[column] + (first[row] == second[column] ? 0 : 1)
                var best = min(replaced, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, first[row] == second[column - 1],
                    first[row - 1] == second[column]
                {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            beforeLast = last
            last = current
        }
        return last[second.count]
    }
}
