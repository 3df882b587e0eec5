/// What differs between two texts, line by line.
enum TextChange {
    /// The lines that went, with `-` before them, and those that came, with `+`, in their order.
    static func lines(from before: String, to after: String) -> [String] {
        let old = before.split(separator: "\n", omittingEmptySubsequences: false)
        let new = after.split(separator: "\n", omittingEmptySubsequences: false)
        var (gone, come): ([Int: Substring], [Int: Substring]) = ([:], [:])
        for change in new.difference(from: old) {
            switch change {
            case .remove(let place, let line, _): gone[place] = line
            case .insert(let place, let line, _): come[place] = line
            }
        }
        var (result, oldPlace, newPlace): ([String], Int, Int) = ([], 0, 0)
        while oldPlace < old.count || newPlace < new.count {
            if let line = gone[oldPlace] {
                result.append("- \(line)")
                oldPlace += 1
            } else if let line = come[newPlace] {
                result.append("+ \(line)")
                newPlace += 1
            } else {
                oldPlace += 1
                newPlace += 1
            }
        }
        return result
    }
}
