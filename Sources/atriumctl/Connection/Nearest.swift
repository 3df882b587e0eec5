/// Finds the known name that a person probably meant.
enum Nearest {
    /// The most similar name, if it is similar at all: a third of its letters may differ, or its end is missing.
    static func name(to wanted: String, in known: [String]) -> String? {
        let longer = known.filter {
            $0 != wanted && $0.lowercased().hasPrefix(wanted.lowercased())
        }
        if wanted.count > 2, longer.count == 1 { return longer[0] }
        // Suggesting the name that was just typed says nothing.
        let candidates = known.filter { $0 != wanted }
            .map { (name: $0, distance: distance(wanted, $0)) }
        guard let best = candidates.min(by: { $0.distance < $1.distance }) else { return nil }
        // Of a single letter any other is one change away.
        return best.distance < max(wanted.count, best.name.count)
            && best.distance <= max(1, wanted.count / 3) ? best.name : nil
    }

    /// A hint that names the most similar name and up to 30 known ones; nil where there are none.
    static func hint(_ wanted: String, _ known: [String]) -> String? {
        guard !known.isEmpty else { return nil }
        let nearest = name(to: wanted, in: known).map { "did you mean '\($0)'? " } ?? ""
        return nearest + list(known)
    }

    /// `There are: a, b.`, of up to 30 names.
    static func list(_ known: [String]) -> String {
        let shown = known.prefix(30).joined(separator: ", ")
        return (known.count == 1 ? "There is: " : "There are: ") + shown
            + (known.count > 30 ? ", …" : ".")
    }

    /// The edit distance: letters to change, add, remove or swap with the next, without regard to case.
    private static func distance(_ one: String, _ other: String) -> Int {
        let (one, other) = (Array(one.lowercased()), Array(other.lowercased()))
        var (before, row) = (Array(0...other.count), Array(0...other.count))
        for (index, letter) in one.enumerated() {
            let last = row
            var diagonal = row[0]
            row[0] = index + 1
            for (column, otherLetter) in other.enumerated() {
                let change = diagonal + (letter == otherLetter ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(change, diagonal + 1, row[column] + 1)
                if index > 0, column > 0, letter == other[column - 1], otherLetter == one[index - 1]
                {
                    row[column + 1] = min(row[column + 1], before[column - 1] + 1)
                }
            }
            before = last
        }
        return row[other.count]
    }
}
