public import AtriumKit
import Index
import Store

extension AnswerCheck {
    /// The problem of an answer, as the continuation of "answered with"; nil: nothing.
    public func problem(in answer: ComponentAnswer, to query: ComponentQuery) -> String? {
        switch (query, answer) {
        case (.canTake, .canTake): return nil
        case (.details, .details(let details)):
            return tooBig(.object(details ?? [:]), Entry.mostBytes, "details")
        case (.sections, .sections(let sections)): return problem(in: sections)
        case (.filters(let asked), .filters(let filters)):
            return filters.count <= asked.count ? nil : "more filters than were asked for"
        case (.select(_, _, let screen), .selection(_, let events)),
            (.deselect(_, _, let screen), .selection(_, let events)),
            (.clear(_, let screen), .selection(_, let events)):
            return problem(in: events)
                ?? (events.allSatisfy { $0.screen == screen } ? nil : "an event of another screen")
        case (.ballotsOf(let actor, let subjects), .ballotsOf(let ballots)):
            let belong =
                ballots.count == subjects.count
                && zip(ballots, subjects).allSatisfy { ballot, subject in
                    ballot.map { $0.actor == actor && $0.subject == subject && isValid($0) } ?? true
                }
            return belong ? nil : "ballots that were not asked for"
        case (.ballots(let subject, let after, let limit), .ballots(let ballots)):
            return problem(in: ballots, on: subject, after: after, limit: limit)
        case (.comment(let id), .comment(let entry)):
            return entry.map { $0.comment.id == id && isValid($0) } ?? true
                ? nil : "a comment that was not asked for"
        case (.thread(let query), .thread(let page)): return problem(in: page, of: query)
        case (.pendingComments(let limit, _), .thread(let page)):
            guard page.entries.count <= limit else { return "more comments than were asked for" }
            let wait = page.entries.allSatisfy { $0.comment.state == .pending && isValid($0) }
            return wait && isValid(count: page.total) ? nil : "comments that were not asked for"
        case (.recordKeys(let subjects), .recordKeys(let keys)),
            (.recordKeyPage(let subjects, _, _), .recordKeys(let keys)):
            return problem(in: keys, about: subjects)
        default: return Self.anotherAnswer
        }
    }

    /// Checks a source's answer, and replaces a wrong one by a refusal, with a sentence for the log.
    ///
    /// Whether the items fit the container's fields is checked later, in slices, when the container takes them.
    public func checked(
        _ result: Result<ContentAnswer, Refusal>, to question: ContentQuestion
    ) -> (Result<ContentAnswer, Refusal>, problem: String?) {
        guard case .success(let answer) = result, let problem = problem(in: answer, to: question)
        else { return (result, nil) }
        let reason = "The source answered with \(problem)."
        return (.failure(Refusal(reason)), "The answer to a question is dropped: \(reason)")
    }

    private func problem(in answer: ContentAnswer, to question: ContentQuestion) -> String? {
        guard answer.items.count <= question.limit else {
            return "\(answer.items.count) items, where \(question.limit) were asked for"
        }
        guard Set(answer.items.map(\.id)).count == answer.items.count else {
            return "an item twice"
        }
        if let total = answer.total, !isValid(count: total) {
            return "\(total) items in all, where 0 to \(Self.mostCount) are allowed"
        }
        if let next = answer.next, next.utf8.count > ContentQuestion.cursorBytes {
            return "a cursor of \(next.utf8.count) bytes, where \(ContentQuestion.cursorBytes) are "
                + "allowed"
        }
        let size = answer.items.reduce(0) { $0 + $1.roughSize }
        guard size <= Self.answerBytes else {
            return "items of \(size) bytes, where \(Self.answerBytes) are allowed"
        }
        return nil
    }

    /// The problem of the facts that a component declares, as a sentence; nil: none.
    public func problem(in facts: ComponentFacts?) -> String? {
        let problem: String? =
            switch facts {
            case nil: nil
            case .votes(let facts):
                kind == .votes ? problem(in: facts) : "are of another kind"
            case .comments(let facts):
                kind == .comments ? problem(in: facts) : "are of another kind"
            }
        return problem.map { "Its facts \($0)." }
    }

    private func problem(in facts: VoteFacts) -> String? {
        guard [facts.min, facts.max, facts.step].allSatisfy({ $0?.isFinite ?? true }) else {
            return "have a number that is not finite"
        }
        if let min = facts.min, let max = facts.max, min > max {
            return "have a 'min' that is greater than their 'max'"
        }
        if let step = facts.step, step <= 0 { return "have a 'step' that is not greater than 0" }
        return facts.subjects.isEmpty ? "name no subject that may be voted on" : nil
    }

    private func problem(in facts: CommentFacts) -> String? {
        if let length = facts.maxLength, length < 1 { return "have a 'maxLength' below 1" }
        return facts.subjects.isEmpty ? "name no subject that may be commented on" : nil
    }

    private func problem(in sections: [FilterSection]) -> String? {
        guard sections.count <= Self.sections else {
            return "\(sections.count) sections, where \(Self.sections) are allowed"
        }
        let most = max(limits.facetValues, Self.filters)
        if let section = sections.first(where: { $0.filters.count > most }) {
            return "a section of \(section.filters.count) filters, where \(most) are allowed"
        }
        if let problem = problem(inIDsOf: sections) { return problem }
        let searches = sections.reduce(0) { $1.filters.reduce($0) { $0 + $1.predicate.searches } }
        guard searches <= Self.searches else {
            return "filters by \(searches) texts and ranges, where \(Self.searches) are allowed"
        }
        return nil
    }

    private func problem(inIDsOf sections: [FilterSection]) -> String? {
        var known: Set<[UInt8]> = []
        for section in sections {
            let name = "'\(section.id.prefix(100))'"
            guard known.insert(Array(section.id.utf8)).inserted else {
                return "the section \(name) twice"
            }
            if let problem = Self.problem(inIDsOf: section.filters) {
                return "\(problem) in \(name)"
            }
            let long = section.filters.first { $0.id.utf8.count > filterBytes }
            if let long {
                return "a filter in \(name) whose id has \(long.id.utf8.count) bytes, where "
                    + "\(filterBytes) are allowed (limits.filterBytes)"
            }
        }
        return nil
    }

    /// The problem of the ids of a section's filters, as the continuation of "answered with"; nil: none.
    ///
    /// Ids that differ in their bytes are two, as values of items are.
    public static func problem(inIDsOf filters: [Filter]) -> String? {
        var known: Set<[UInt8]> = []
        for filter in filters {
            guard !filter.id.isEmpty else { return "a filter without an id" }
            guard known.insert(Array(filter.id.utf8)).inserted else {
                return "the filter '\(filter.id.prefix(100))' twice"
            }
        }
        return nil
    }

    private func problem(
        in ballots: [Ballot], on subject: Subject, after: ActorID?, limit: Int
    ) -> String? {
        guard ballots.count <= limit else { return "more ballots than were asked for" }
        var last = after
        for ballot in ballots {
            guard ballot.subject == subject, isValid(ballot),
                last.map({ $0 < ballot.actor }) ?? true
            else { return "ballots that were not asked for" }
            last = ballot.actor
        }
        return nil
    }

    private func problem(in page: ThreadPage, of query: ThreadQuery) -> String? {
        guard page.entries.count <= query.limit else { return "more comments than were asked for" }
        guard isValid(count: page.total),
            page.entries.allSatisfy({
                // A reply that was restored may name another subject than the comment that it answers.
                ($0.comment.subject == query.subject || $0.comment.parent != nil)
                    && isValid($0, isPlace: true)
            })
        else { return "comments that were not asked for" }
        guard query.tellsHeld || page.held.isEmpty, page.held.count <= Self.mostHeld,
            page.held.allSatisfy({ isValid($0) && $0.comment.subject == query.subject })
        else { return "held comments that were not asked for" }
        return nil
    }

    private func problem(in keys: [String], about subjects: [Subject]) -> String? {
        let asked = Set(subjects)
        for key in keys {
            let belongs =
                switch kind {
                case .contents: asked.contains(.item(key))
                case .votes: Ballot.parse(key: key).map { asked.contains($0.subject) } ?? false
                // A comment's key does not name its subject, so the caller that erases the records checks that.
                default: ItemID.problem(in: key) == nil
                }
            guard belongs else { return Self.record(key, "was not asked for") }
        }
        return nil
    }
}

extension Predicate {
    /// How many of its parts need a search through the items.
    fileprivate var searches: Int {
        switch self {
        case .and(let parts), .or(let parts): parts.reduce(0) { $0 + max(1, $1.searches) }
        case .not(let part): max(1, part.searches)
        default: isListed ? 0 : 1
        }
    }
}
