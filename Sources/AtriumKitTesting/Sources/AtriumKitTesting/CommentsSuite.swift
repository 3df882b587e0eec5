import AtriumKit

/// The kind `comments`.
struct CommentsSuite: RecordSuite {
    let subjects: [Subject] = [.container, .item("item-1"), .item("item-2")]
    let rules = [
        "a thread is a tree in pre-order", "pages of a thread make up the whole",
        "cursors lead to the replies that a page leaves out",
        "a subject's count is of the comments that people see",
        "the comments that are there are such as its facts say",
        "what waits for a moderator comes in pages, oldest first",
        "only authors edit, only they and moderators delete, only moderators decide",
        "the delegate is notified of each comment that is posted, edited or removed",
        "a comment is its author's, stands where it was put, and is of that moment",
    ]
    /// The comments in the records.
    private var comments: [String: Comment] = [:]
    // The subjects of comments, for replies in the same tree.
    private var posted: [(id: String, subject: Subject)] = []
    private let words = ["first", "agreed", "no, never", "", "  ", "ça va?", "👩‍👩‍👧"]

    func command(_ random: inout SeededRandom, _ context: CommandContext) -> ComponentCommand {
        let known = random.pick(posted, or: ("nobody", .container))
        let id = random.oneIn(20) ? "nobody" : known.id
        switch Int.random(in: 0..<10, using: &random) {
        case 0: return .editComment(id: id, text: text(&random))
        case 1: return .deleteComment(id: id)
        case 2:
            return .moderateComment(
                id: id, state: random.pick([.shown, .pending, .removed], or: .shown),
                reason: random.oneIn(2) ? random.pick(words, or: "first") : nil)
        case 3, 4, 5, 6:
            let draft = CommentDraft(
                id: context.freshID, subject: known.subject, parent: id, text: text(&random))
            return .postComment(draft)
        default:
            let subject = random.pick(subjects, or: .container)
            let draft = CommentDraft(
                id: random.oneIn(20) ? id : context.freshID, subject: subject, parent: nil,
                text: text(&random))
            return .postComment(draft)
        }
    }

    mutating func record(_ command: ComponentCommand, _ decision: Decision) {
        if case .postComment(let draft) = command, !decision.changes.isEmpty {
            posted.append((draft.id, draft.subject))
        }
    }

    mutating func check(
        _ command: ComponentCommand, _ context: CommandContext, _ decision: Decision, _ bench: Bench
    ) throws {
        for change in decision.changes {
            let before = comments[change.key]
            let after = change.value.flatMap { Comment(key: change.key, value: $0) }
            let isOwn = before?.author == context.actor
            let isAllowed =
                switch command {
                case .editComment: isOwn
                case .deleteComment: isOwn || context.isModerator
                case .moderateComment: context.isModerator
                default: true
                }
            try bench.check(rules[6], isAllowed, "\(command) by \(context.actor) was accepted")
            if case .postComment(let draft) = command, let after {
                try bench.check(
                    rules[8],
                    change.key == draft.id && after.author == context.actor
                        && after.subject == draft.subject && after.parent == draft.parent
                        && after.created == context.time,
                    "\(command) by \(context.actor) writes \(after)")
            }
            let reported = decision.events.filter { $0.comment == change.key }
            try bench.check(
                rules[7], "what is reported of \(change.key)", reported.map(\.deed),
                is: [Deed(before, after)].compactMap(\.self))
            comments[change.key] = after
        }
    }

    func fold(_ events: [ComponentEvent], into reported: inout Observation) {
        for case .commentCount(let subject, let count) in events {
            reported.facts["reported count of \(subject)"] = count == 0 ? nil : .count(count)
        }
    }

    func observe(
        _ component: any ConformanceDriver, reported: Observation
    ) async throws -> Observation {
        var seen = reported
        for subject in subjects {
            for order in [ThreadQuery.Order.oldest, .newest] {
                seen.facts["thread of \(subject), \(order)"] = .thread(
                    try await page(
                        component, ThreadQuery(subject: subject, order: order, limit: 10_000)))
            }
            var query = ThreadQuery(subject: subject, limit: 1)
            query.tellsHeld = true
            var held = try await page(component, query)
            (held.entries, held.total, held.next) = ([], 0, nil)
            seen.facts["held about \(subject)"] = .thread(held)
        }
        seen.facts["pending"] = .thread(try await pending(component, limit: 10_000))
        for comment in posted {
            if case .comment(let entry) = try await component.answer(.comment(id: comment.id)) {
                seen.facts["comment \(comment.id)"] = .comment(entry)
            }
        }
        return seen
    }

    func checkReads(_ component: any ConformanceDriver, _ bench: Bench) async throws {
        try await checkPending(component, bench)
        var reported = Observation()
        fold(try await component.restore([]), into: &reported)
        guard case .comments(let facts) = try await component.facts() else {
            throw bench.failure(rules[4], "it has none")
        }
        for subject in subjects {
            for order in [ThreadQuery.Order.oldest, .newest] {
                let query = ThreadQuery(subject: subject, order: order, limit: 10_000)
                let whole = try await page(component, query)
                try checkTree(whole, bench)
                try check(whole, of: facts, bench)
                try await checkPages(component, query, whole, bench)
                try await checkDepths(component, query, whole, bench)
                let seen = whole.entries.count { $0.comment.state == .shown }
                try bench.check(rules[3], "the total of \(subject)", whole.total, is: seen)
                var count = 0
                if case .count(let found) = reported.facts["reported count of \(subject)"] {
                    count = found
                }
                try bench.check(rules[3], "the reported count of \(subject)", count, is: seen)
            }
        }
    }
}

extension CommentsSuite {
    private func text(_ random: inout SeededRandom) -> String {
        random.pick(words, or: "first")
            + (random.oneIn(2) ? "" : " \(Int.random(in: 0...9, using: &random))")
    }

    private func page(
        _ component: any ConformanceDriver, _ query: ThreadQuery
    ) async throws -> ThreadPage {
        guard case .thread(let page) = try await component.answer(.thread(query)) else {
            return ThreadPage(entries: [], total: -1)
        }
        return page
    }

    private func pending(
        _ component: any ConformanceDriver, limit: Int, cursor: String? = nil
    ) async throws -> ThreadPage {
        let query = ComponentQuery.pendingComments(limit: limit, cursor: cursor)
        guard case .thread(let page) = try await component.answer(query) else {
            return ThreadPage(entries: [], total: -1)
        }
        return page
    }

    /// Checks that the queue is complete in pages of any size, in order, and contains only waiting comments.
    private func checkPending(_ component: any ConformanceDriver, _ bench: Bench) async throws {
        let whole = try await pending(component, limit: 10_000)
        let comments = whole.entries.map(\.comment)
        try bench.check(rules[5], "its total", whole.total, is: comments.count)
        try bench.check(
            rules[5], comments.allSatisfy { $0.state == .pending }, "one of them does not wait")
        let moments = comments.map(\.created)
        try bench.check(rules[5], moments == moments.sorted(), "they are not oldest first")
        var paged: [ThreadPage.Entry] = []
        var cursor: String?
        for _ in 0...comments.count {
            let page = try await pending(component, limit: 2, cursor: cursor)
            paged += page.entries
            cursor = page.next
            if cursor == nil { break }
        }
        try bench.check(
            rules[5], "those of pages of 2", paged.map(\.plain), is: whole.entries.map(\.plain))
    }

    /// Checks that each comment follows its parent, one level deeper, and occurs only once.
    private func checkTree(_ page: ThreadPage, _ bench: Bench) throws {
        var path: [String] = []
        var replies: [String: Int] = [:]
        for entry in page.entries {
            let id = entry.comment.id
            try bench.check(rules[0], entry.depth <= path.count, "\(id) is at depth \(entry.depth)")
            path.removeSubrange(entry.depth...)
            try bench.check(rules[0], "the parent of \(id)", entry.comment.parent, is: path.last)
            if let parent = path.last { replies[parent, default: 0] += 1 }
            path.append(id)
            try bench.check(
                rules[0], entry.comment.state == .shown || entry.comment.text == nil,
                "\(id) is \(entry.comment.state.rawValue) and shows its text")
        }
        let ids = page.entries.map(\.comment.id)
        try bench.check(rules[0], "the number of ids", Set(ids).count, is: ids.count)
        for entry in page.entries {
            try bench.check(
                rules[0], "the replies to \(entry.comment.id)", entry.replies,
                is: replies[entry.comment.id] ?? 0)
        }
    }

    private func check(_ page: ThreadPage, of facts: CommentFacts, _ bench: Bench) throws {
        for comment in page.entries.map(\.comment) {
            let length = comment.text?.unicodeScalars.count ?? 0
            try bench.check(
                rules[4],
                facts.subjects.contains(SubjectKind(comment.subject))
                    && length <= facts.maxLength ?? length,
                "\(comment.id) on \(comment.subject) has \(length) characters, with \(facts)")
        }
    }

    private func checkPages(
        _ component: any ConformanceDriver, _ query: ThreadQuery, _ whole: ThreadPage,
        _ bench: Bench
    ) async throws {
        for limit in [1, 3, 7] {
            var query = query
            query.limit = limit
            let entries = try await all(component, query, bench, atMost: whole.entries.count)
            try bench.check(
                rules[1], "the thread of \(query.subject) in pages of \(limit)",
                entries.map(\.plain), is: whole.entries.map(\.plain))
        }
    }

    private func checkDepths(
        _ component: any ConformanceDriver, _ query: ThreadQuery, _ whole: ThreadPage,
        _ bench: Bench
    ) async throws {
        for depth in 0...2 {
            var query = query
            query.depth = depth
            query.limit = 4
            let entries = try await all(component, query, bench, atMost: whole.entries.count)
            try bench.check(
                rules[1], "the thread of \(query.subject) down to depth \(depth)",
                entries.map(\.plain),
                is: whole.entries.filter { $0.depth <= depth }.map(\.plain))
            for entry in entries where entry.depth == depth && entry.replies > 0 {
                query.cursor = entry.more
                try bench.check(
                    rules[2], query.cursor != nil, "\(entry.comment.id) has replies and no cursor")
                let replies = try await all(component, query, bench, atMost: entry.replies)
                    .filter { $0.comment.parent == entry.comment.id }
                try bench.check(
                    rules[2], "the number of replies to \(entry.comment.id) by its cursor",
                    replies.count, is: entry.replies)
            }
        }
    }

    /// Returns all pages of a query, joined.
    private func all(
        _ component: any ConformanceDriver, _ query: ThreadQuery, _ bench: Bench, atMost: Int
    ) async throws -> [ThreadPage.Entry] {
        var query = query
        var entries: [ThreadPage.Entry] = []
        for _ in 0...max(atMost, 1000) {
            let page = try await page(component, query)
            entries += page.entries
            try bench.check(
                rules[1], page.entries.count <= query.limit,
                "a page of \(query.limit) holds \(page.entries.count)")
            guard let next = page.next else { return entries }
            query.cursor = next
        }
        throw bench.failure(rules[1], "the pages of \(query.subject) have no end")
    }
}

/// A change of a comment, as its delegate is notified of it.
private enum Deed: Equatable {
    case post, edit, removal

    /// Determines the change from the comment before and after; nil if the delegate is not notified.
    init?(_ before: Comment?, _ after: Comment?) {
        let isThere = after.map { $0.state != .removed } ?? false
        if after?.state == .shown, before?.state != .shown {
            self = .post
        } else if let before, before.state != .removed, isThere, before != after {
            self = .edit
        } else if let before, before.state != .removed, !isThere {
            self = .removal
        } else {
            return nil
        }
    }
}

extension ComponentEvent {
    /// The id of the comment that an event is about; nil for other events.
    fileprivate var comment: String? {
        switch self {
        case .didPost(let comment), .didEdit(let comment), .didRemove(let comment): comment.id
        default: nil
        }
    }

    fileprivate var deed: Deed? {
        switch self {
        case .didPost: .post
        case .didEdit: .edit
        case .didRemove: .removal
        default: nil
        }
    }
}

extension ThreadPage.Entry {
    /// The entry without its cursor, which depends on the page.
    fileprivate var plain: ThreadPage.Entry {
        var entry = self
        entry.more = nil
        return entry
    }
}
