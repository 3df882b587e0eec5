import Interfaces

/// What components take, as people read it.
enum FactsText {
    /// `1 to 5 in steps of 0.5, on items`; nil for a component that takes neither votes nor comments.
    static func text(_ component: Component) -> String? {
        component.votes.map(text) ?? component.comments.map(text)
    }

    /// Which votes: the scale, and what they may be on.
    static func text(_ facts: VoteFacts) -> String {
        let on = subjects(
            items: facts.subjects.contains(.items), container: facts.subjects.contains(.container))
        return "\(scale(facts)), \(on)" + (facts.closed == true ? ", closed now" : "")
    }

    /// `closed for votes and comments`; nil: it is open for both.
    static func closed(_ votes: VoteFacts?, _ comments: CommentFacts?) -> String? {
        switch (votes?.closed == true, comments?.closed == true) {
        case (true, true): "closed for votes and comments"
        case (true, false): "closed for votes"
        case (false, true): "closed for comments"
        case (false, false): nil
        }
    }

    /// `1 to 5 in steps of 1`.
    static func scale(_ facts: VoteFacts) -> String {
        range(facts) + (facts.step.map { " in steps of \(Wording.number($0))" } ?? "")
    }

    /// `1 to 5`.
    static func range(_ facts: VoteFacts) -> String {
        let (min, max) = (facts.min.map(Wording.number), facts.max.map(Wording.number))
        return switch (min, max) {
        case (let min?, let max?): "\(min) to \(max)"
        case (let min?, nil): "\(min) or more"
        case (nil, let max?): "\(max) or less"
        case (nil, nil): "any number"
        }
    }

    /// Whether a vote is on the scale.
    static func takes(_ value: Double, _ facts: VoteFacts) -> Bool {
        let steps = facts.step.map { (value - (facts.min ?? 0)) / $0 } ?? 0
        return value >= facts.min ?? value && value <= facts.max ?? value
            && abs(steps - steps.rounded()) < 1e-6
    }

    /// How items are shown: `title name, columns year, votes.score`.
    static func text(_ present: Present) -> String {
        let columns = present.columns.map { $0.isEmpty ? "none" : $0.joined(separator: ", ") }
        let parts = [
            ("title", present.title), ("subtitle", present.subtitle), ("image", present.image),
            ("columns", columns),
        ]
        return parts.compactMap { name, value in value.map { "\(name) \($0)" } }
            .joined(separator: "; ")
    }

    /// Which comments: how long, who looks first, and what they may be on.
    private static func text(_ facts: CommentFacts) -> String {
        let on = subjects(
            items: facts.subjects.contains(.items), container: facts.subjects.contains(.container))
        let length = facts.maxLength.map { "up to \(Wording.count($0, "character")), " } ?? ""
        return length + (facts.moderated ? "a moderator looks first, " : "") + on
            + (facts.closed == true ? ", closed now" : "")
    }

    private static func subjects(items: Bool, container: Bool) -> String {
        switch (items, container) {
        case (true, true): "on items and container"
        case (true, false): "on items"
        default: "on the container"
        }
    }
}
