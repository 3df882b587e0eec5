public import AtriumKit

extension AnswerCheck {
    /// The problem of events that a component raised, as the continuation of "answered with"; nil: nothing.
    ///
    /// The fields of items are not checked here.
    public func problem(in events: [ComponentEvent]) -> String? {
        for event in events {
            guard event.kind == kind else { return "an event of another kind of component" }
            let problem: String? =
                switch event {
                case .tally(let subject, let tally):
                    isValid(subject) ? self.problem(in: tally) : "a tally of no item"
                case .commentCount(let subject, let count):
                    isValid(subject) && isValid(count: count)
                        ? nil : "an invalid count of comments"
                case .didPost(let comment), .didEdit(let comment), .didRemove(let comment):
                    isValid(comment) ? nil : "an invalid comment"
                case .contents, .didSelect, .didDeselect, .didClear: nil
                }
            if let problem { return problem }
        }
        return nil
    }

    func problem(in tally: Tally) -> String? {
        guard isValid(count: tally.count), tally.score?.isFinite ?? true else {
            return "a tally of \(tally.count) ballots with the score \(tally.score ?? 0)"
        }
        var values = 0
        var rest = tally.count
        var isSum = true
        tally.forEachValue { value, count in
            values += 1
            // After a fault nothing is subtracted any more: later counts could overflow the rest.
            isSum = isSum && Self.isNumber(value) && count >= 0 && count <= rest
            if isSum { rest -= count }
        }
        guard values <= Self.histogramValues else {
            return "a tally with \(values) values, where \(Self.histogramValues) are allowed"
        }
        return isSum ? nil : "a tally whose ballots by value don't add up"
    }

    private static func isNumber(_ text: String) -> Bool {
        // Nearly all values are one digit, which need not be parsed as a number at each vote.
        if text.utf8.count == 1, let digit = text.utf8.first { return (48...57).contains(digit) }
        return text.utf8.count <= 64 && Double(text)?.isFinite == true
    }

    func isValid(_ ballot: Ballot) -> Bool {
        ballot.value.isFinite && Self.validTimes.contains(ballot.cast.milliseconds)
    }

    func isValid(_ subject: Subject) -> Bool {
        subject.item.map(isValid(id:)) ?? true
    }

    private func isValid(id: String) -> Bool { (1...200).contains(id.utf8.count) }

    func isValid(count: Int) -> Bool { (0...Self.mostCount).contains(count) }

    /// Whether a comment's members are in range and fit each other; in its place in a thread one that is not shown
    /// may lack its text: it keeps the place of its replies.
    func isValid(_ comment: Comment, isPlace: Bool = false) -> Bool {
        let mayLackText = comment.state == .removed || isPlace && comment.state != .shown
        return Self.validTimes.contains(comment.created.milliseconds)
            && comment.edited.map { Self.validTimes.contains($0.milliseconds) } ?? true
            && comment.parent.map { isValid(id: $0) && $0 != comment.id } ?? true
            && (mayLackText || comment.text != nil)
            && isValid(comment.subject) && isValid(id: comment.id)
            && comment.fingerprint.utf8.count <= Comment.fingerprintBytes
            && comment.reason?.utf8.count ?? 0 <= 4 * Comment.reasonLength
    }

    func isValid(_ entry: ThreadPage.Entry, isPlace: Bool = false) -> Bool {
        isValid(count: entry.depth) && isValid(count: entry.replies)
            && isValid(entry.comment, isPlace: isPlace)
    }
}

extension ComponentEvent {
    /// The kind of component that raises it.
    fileprivate var kind: Kind {
        switch self {
        case .contents: .contents
        case .didSelect, .didDeselect, .didClear: .filters
        case .tally: .votes
        case .didPost, .didEdit, .didRemove, .commentCount: .comments
        }
    }

    /// The screen that it concerns; nil: none.
    var screen: String? {
        switch self {
        case .didSelect(_, _, _, let screen), .didDeselect(_, _, _, let screen),
            .didClear(let screen):
            screen
        default: nil
        }
    }
}

extension ContentChange {
    var items: [Item] {
        switch self {
        case .insert(let items), .update(let items): items
        case .remove, .replaceAll: []
        @unknown default: []
        }
    }
}
