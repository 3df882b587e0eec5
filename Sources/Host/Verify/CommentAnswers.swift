import AtriumKit

/// Asks a component for comments, one after the other.
final class CommentAnswers {
    private let keys: [String]
    private let slot: Slot
    private let passesGate: Bool
    private let answer: Answer<[CommentFact?]>
    private var facts: [CommentFact?] = []

    init(
        _ keys: [String], of slot: Slot, _ passesGate: Bool,
        _ answer: @escaping Answer<[CommentFact?]>
    ) {
        self.keys = keys
        self.slot = slot
        self.passesGate = passesGate
        self.answer = answer
    }

    /// Asks for all comments; the answers arrive in order, during this call or later.
    func ask() {
        guard !keys.isEmpty else { return answer(.success([])) }
        var failure: HostError?
        for key in keys {
            slot.requests.ask(.comment(id: key), for: slot, passesGate: passesGate) {
                [self] result in
                switch result {
                case .failure(let error): failure = failure ?? error
                case .success(.comment(let entry)):
                    facts.append(entry.map { CommentFact($0.comment) })
                    guard facts.count == keys.count, failure == nil else { return }
                    return answer(.success(facts))
                default: failure = failure ?? slot.unavailable("It did not answer as asked.")
                }
                facts.append(nil)
                if facts.count == keys.count, let failure { answer(.failure(failure)) }
            }
        }
    }
}

/// Asks a component for threads, page by page, and checks their order.
final class ThreadAnswers {
    private static let limit = 100

    private let keys: [String]
    private let slot: Slot
    private let passesGate: Bool
    private let answer: Answer<[CountFact?]>
    private var facts: [CountFact?] = []
    private var order = ThreadOrder()

    init(
        _ keys: [String], of slot: Slot, _ passesGate: Bool,
        _ answer: @escaping Answer<[CountFact?]>
    ) {
        self.keys = keys
        self.slot = slot
        self.passesGate = passesGate
        self.answer = answer
    }

    /// Asks for the next page; other calls and requests may run in between.
    func ask(after cursor: String? = nil) {
        guard facts.count < keys.count else { return answer(.success(facts)) }
        let key = keys[facts.count]
        let subject = Subject(item: key.isEmpty ? nil : key)
        let query = ThreadQuery(subject: subject, limit: Self.limit, cursor: cursor)
        slot.requests.ask(.thread(query), for: slot, passesGate: passesGate) { [self] result in
            switch result {
            case .success(.thread(let page)): add(page, of: subject)
            case .success: answer(.failure(slot.unavailable("It did not answer as asked.")))
            // The comment that the cursor names may have been removed: the thread is checked again later.
            case .failure(.cursorInvalid) where !passesGate: end(subject, total: -1)
            case .failure(let error): answer(.failure(error))
            }
        }
    }

    private func add(_ page: ThreadPage, of subject: Subject) {
        for entry in page.entries { order.add(entry) }
        guard let next = page.next else { return end(subject, total: page.total) }
        later { self.ask(after: next) }
    }

    private func end(_ subject: Subject, total: Int) {
        let count = slot.container?.slot(slot.name)?.commentCount(of: subject) ?? 0
        facts.append(
            count == 0 && total == 0
                ? nil : CountFact(count: count, total: total, isOrdered: order.isKept))
        order = ThreadOrder()
        later { self.ask() }
    }

    /// Continues in this work's turn among all long-running work.
    private func later(_ body: @escaping () -> Void) {
        slot.domain.slices.run({ false }, then: body)
    }
}

/// Checks that comments in pre-order are ordered as the kind promises.
///
/// Siblings are ordered by time and then in the order of posting, and each reply stands below the comment that it
/// answers.
struct ThreadOrder {
    private(set) var isKept = true
    /// The path to the last comment, ending with it.
    private var path: [Comment] = []

    mutating func add(_ entry: ThreadPage.Entry) {
        guard isKept else { return }
        let (comment, depth) = (entry.comment, entry.depth)
        guard depth >= 0, depth <= path.count else {
            isKept = false
            return
        }
        if depth < path.count {
            let before = path[depth]
            isKept =
                before.parent == comment.parent
                && (before.created, before.order) <= (comment.created, comment.order)
        }
        if depth > 0 { isKept = isKept && comment.parent == path[depth - 1].id }
        path.removeSubrange(depth...)
        path.append(comment)
    }
}
