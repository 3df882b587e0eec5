/// Tells when those values of a field that most rows have are to be found anew.
///
/// That is a look at each value: it is worth it after changes of an eighth as many rows as there are
/// values, and so costs each change little.
struct CutVersion {
    // Far from where versions that grow with each value are.
    private var version: UInt64 = 1 << 40
    private var position: UInt64 = 0

    /// Another number once they are to be found anew.
    mutating func value(after changes: UInt64, ofValues count: Int) -> UInt64 {
        if changes - position > UInt64(count / 8) {
            position = changes
            version += 1
        }
        return version
    }
}

extension Sequence {
    /// The first elements in an order, at most so many, in that order.
    func first(_ limit: Int, by comesFirst: (Element, Element) -> Bool) -> [Element] {
        var first: [Element] = []
        guard limit > 0 else { return first }
        for element in self {
            if first.count >= limit, !comesFirst(element, first[limit - 1]) { continue }
            first.append(element)
            // Behind the last that counts any order will do.
            guard first.count == limit || first.count == 2 * limit else { continue }
            first.sort(by: comesFirst)
            first.removeLast(first.count - limit)
        }
        first.sort(by: comesFirst)
        return Array(first.prefix(limit))
    }
}
