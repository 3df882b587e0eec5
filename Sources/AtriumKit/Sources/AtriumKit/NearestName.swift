/// Returns the name that a person most likely meant: the one with the fewest changed letters.
///
/// - Parameters:
///   - name: the name that they wrote.
///   - known: the valid names.
/// - Returns: the nearest name, the first of several; nil if none is near, that is, if more than a third of the letters
///   differ (two are always allowed from three letters on).
public func nearestName(to name: String, among known: [String]) -> String? {
    let written = Array(name.lowercased().unicodeScalars.prefix(100))
    let allowed = max(written.count / 3, min(2, written.count - 1))
    var best: (name: String, distance: Int)?
    for candidate in known {
        let letters = Array(candidate.lowercased().unicodeScalars.prefix(100))
        let distance = editDistance(written, letters)
        if distance <= allowed, distance < best?.distance ?? .max { best = (candidate, distance) }
    }
    return best?.name
}

/// Returns the number of letters that must be inserted, removed or replaced to get from one to the other.
private func editDistance(_ one: [Unicode.Scalar], _ other: [Unicode.Scalar]) -> Int {
    var previous = Array(0...other.count)
    for (row, letter) in one.enumerated() {
        var current = [row + 1]
        current.reserveCapacity(other.count + 1)
        for (column, candidate) in other.enumerated() {
            let replaced = previous[column] + (letter == candidate ? 0 : 1)
            current.append(min(replaced, previous[column + 1] + 1, current[column] + 1))
        }
        previous = current
    }
    return previous[other.count]
}
