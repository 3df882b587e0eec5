/// Where an answer begins, in what a service has; its text is what lists know as a cursor.
struct AnswerPlace: Sendable, Hashable {
    /// How a service goes on from where it ended.
    enum Paging: Sendable {
        /// Not at all: all there is, is there each time.
        case whole
        /// The number of items that were shown so far is sent.
        case counted
        /// It says itself where the next ones begin.
        case said
    }

    /// How many items lie before an answer at most.
    static let most = 1_000_000_000
    /// Stands before how many items are skipped, and behind.
    private static let mark: Character = "~"

    let paging: Paging
    /// What the service is sent; nil: nothing.
    let cursor: String?
    /// How many items of the service's page were shown before.
    let skipped: Int

    /// The place that a text says, which ``text`` was before, or the first item; nil for any other.
    init?(_ paging: Paging, _ text: String?) {
        guard let text else {
            self.init(paging, cursor: nil, skipped: 0)
            return
        }
        switch paging {
        case .whole, .counted:
            guard let count = Self.count(text[...]) else { return nil }
            let isCounted = paging == .counted
            self.init(paging, cursor: isCounted ? "\(count)" : nil, skipped: isCounted ? 0 : count)
        case .said:
            guard text.first == Self.mark else {
                self.init(paging, cursor: text, skipped: 0)
                return
            }
            let rest = text.dropFirst()
            guard let end = rest.firstIndex(of: Self.mark), let count = Self.count(rest[..<end])
            else { return nil }
            let cursor = rest[rest.index(after: end)...]
            self.init(paging, cursor: cursor.isEmpty ? nil : String(cursor), skipped: count)
        }
    }

    private init(_ paging: Paging, cursor: String?, skipped: Int) {
        self.paging = paging
        self.cursor = cursor
        self.skipped = skipped
    }

    private static func count(_ text: Substring) -> Int? {
        Int(text).flatMap { (0...most).contains($0) ? $0 : nil }
    }

    /// What a list gives out, and asks with.
    var text: String {
        switch paging {
        case .whole: "\(skipped)"
        case .counted: cursor ?? "0"
        case .said:
            // The service's own, as long as it can't be taken for one of these.
            skipped == 0 && cursor?.first != Self.mark
                ? cursor ?? "" : "\(Self.mark)\(skipped)\(Self.mark)\(cursor ?? "")"
        }
    }

    /// Where the next answer begins, after one of `count` items of which `shown` are shown; nil: there is no more.
    func next(after shown: Int, of count: Int, said: String?) -> AnswerPlace? {
        let end = skipped + shown
        switch paging {
        case .whole:
            return end < count && end <= Self.most
                ? AnswerPlace(paging, cursor: nil, skipped: end) : nil
        case .counted:
            // A page that is shorter than was wished may be as long as the service has them: an empty one is the end.
            let before = cursor.flatMap { Int($0) } ?? 0
            let (all, isTooMany) = before.addingReportingOverflow(shown)
            guard shown > 0, !isTooMany, all <= Self.most else { return nil }
            return AnswerPlace(paging, cursor: "\(all)", skipped: 0)
        case .said:
            // What is left of a page longer than was wished comes first.
            if end < count { return AnswerPlace(paging, cursor: cursor, skipped: end) }
            return said.map { AnswerPlace(paging, cursor: $0, skipped: 0) }
        }
    }
}
