import AtriumKit

/// The values of a field that most rows have, as of the last search.
///
/// Finding them means reading each value. It is done again after changes of an eighth as many rows as there are values,
/// so that its cost for each change is small.
struct CutValues {
    // Far from where versions that grow with each value are.
    private var version: UInt64 = 1 << 40
    private var position: UInt64 = 0
    private var found: (values: [Value], limit: Int, version: UInt64)?

    /// Returns a version, which changes when the values have to be found again.
    mutating func version(after changes: UInt64, ofValues count: Int) -> UInt64 {
        if changes - position > UInt64(count / 8) {
            position = changes
            version += 1
        }
        return version
    }

    /// Returns the values found last, even if they are outdated; nil: none were found, or for another limit.
    func values(atMost limit: Int) -> [Value]? {
        found.flatMap { $0.limit == limit ? $0.values : nil }
    }

    /// Whether the values found last are as good as a new search.
    func isRecent(_ version: UInt64, atMost limit: Int) -> Bool {
        found.map { $0.version == version && $0.limit == limit } ?? false
    }

    /// Stores the values that were found.
    mutating func store(_ values: [Value], atMost limit: Int, version: UInt64) {
        found = (values, limit, version)
    }
}

/// The first elements in an order, up to a limit: the worst of them is at the top of a heap.
struct FirstElements<Element> {
    private(set) var elements: [Element] = []
    private let limit: Int
    private let comesFirst: (Element, Element) -> Bool

    init(atMost limit: Int, by comesFirst: @escaping (Element, Element) -> Bool) {
        self.limit = limit
        self.comesFirst = comesFirst
    }

    /// Inserts an element if it is among the first so far; returns whether it was inserted, and the element that it
    /// has replaced.
    mutating func insert(_ element: Element) -> (isAmong: Bool, out: Element?) {
        guard elements.count >= limit else {
            elements.append(element)
            rise()
            return (true, nil)
        }
        guard let worst = elements.first, comesFirst(element, worst) else { return (false, nil) }
        elements[0] = element
        sink()
        return (true, worst)
    }

    private mutating func rise() {
        var place = elements.count - 1
        while place > 0, comesFirst(elements[(place - 1) / 2], elements[place]) {
            elements.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func sink() {
        var place = 0
        while true {
            var worst = place
            for child in [2 * place + 1, 2 * place + 2]
            where child < elements.count && comesFirst(elements[worst], elements[child]) {
                worst = child
            }
            guard worst != place else { return }
            elements.swapAt(place, worst)
            place = worst
        }
    }
}
