import Interfaces

/// Something to choose from, over the lists.
struct Menu: Equatable {
    /// What is chosen.
    enum Kind: Equatable {
        case filters
        case sort
        case components
        case moderation(Comment)
        case queue(ModerationQueue)
    }

    /// Which section of filters, and of which part of the screen.
    struct Place: Equatable {
        var section: String
        var part: String
    }

    /// What a choice does.
    enum Action: Equatable {
        case toggle(Place, filter: String, isSelected: Bool)
        /// Asks for a text or a range.
        case ask(Place, title: String, isRange: Bool)
        /// Searches the filters.
        case find
        case clear
        case sort([String])
        case setHidden(component: String, Bool)
        case moderate(Comments.Moderate.Parameters.State)
        case delete
        /// Goes on to what may be done with a comment.
        case decide(Comment)
    }

    /// A line of it; without an action it is a heading.
    struct Choice: Equatable {
        var title: String
        var detail = ""
        /// Whether it is chosen now; nil for what is not chosen or left.
        var isOn: Bool?
        var action: Action?
    }

    let kind: Kind
    private(set) var cursor = 0
    private(set) var offset = 0
    /// What choices have to contain.
    var query: TextInput?
    /// Whether the query is being typed.
    var isTyping = false

    init(_ kind: Kind) { self.kind = kind }

    var title: String {
        switch kind {
        case .filters: "Filters"
        case .sort: "Sort by"
        case .components: "What is shown"
        case .moderation(let comment): Self.title(comment)
        case .queue(let queue):
            "\(Wording.count(queue.total, "comment")) \(queue.total == 1 ? "waits" : "wait")"
        }
    }

    /// The comment itself where it does not stand in the thread, since it waits.
    private static func title(_ comment: Comment) -> String {
        guard comment.state == .pending, let text = comment.text else { return "This comment" }
        return text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    /// Those that the query lets through, under their headings.
    func found(_ choices: [Choice]) -> [Choice] {
        guard let text = query?.text.lowercased(), !text.isEmpty else { return choices }
        var found: [Choice] = []
        var heading: Choice?
        for choice in choices {
            if choice.action == nil {
                heading = choice
            } else if choice.title.lowercased().contains(text) {
                if let above = heading { found.append(above) }
                heading = nil
                found.append(choice)
            }
        }
        return found
    }

    /// Puts the cursor on the nearest choice, and that in sight.
    mutating func settle(_ choices: [Choice], height: Int, step: Int = 1) {
        cursor = max(0, min(cursor, choices.count - 1))
        for direction in [step, -step] {
            var index = cursor
            while choices.indices.contains(index), choices[index].action == nil {
                index += direction
            }
            if choices.indices.contains(index) {
                cursor = index
                break
            }
        }
        // The heading above the first choice is shown with it.
        let top = cursor == 1 ? 0 : cursor
        if top < offset { offset = top }
        if cursor >= offset + height { offset = cursor - height + 1 }
        offset = max(0, min(offset, choices.count - height))
    }

    mutating func move(by lines: Int, _ choices: [Choice], height: Int) {
        cursor += lines
        settle(choices, height: height, step: lines < 0 ? -1 : 1)
    }

    mutating func point(at index: Int) { cursor = index }

    /// Selects a choice again after the choices were replaced.
    mutating func follow(_ choice: Choice?, _ choices: [Choice], height: Int) {
        if let choice, let index = choices.firstIndex(where: choice.isSame) { cursor = index }
        settle(choices, height: height)
    }

    /// Goes to the next section, or the one before.
    mutating func section(by step: Int, _ choices: [Choice], height: Int) {
        // There may be fewer choices than when it was drawn.
        var index = min(cursor, choices.count) + step
        if step < 0 {
            while index > 0, choices[index].action != nil { index -= 1 }
            index -= 1
            while index > 0, choices[index].action != nil { index -= 1 }
        } else {
            while index < choices.count, choices[index].action != nil { index += 1 }
        }
        cursor = index
        settle(choices, height: height)
    }
}

extension Menu.Choice {
    /// Whether it offers the same, chosen or not.
    fileprivate func isSame(as other: Menu.Choice) -> Bool {
        switch (action, other.action) {
        case (.toggle(let place, let filter, _)?, .toggle(let otherPlace, let otherFilter, _)?):
            place == otherPlace && filter == otherFilter
        case (.ask(let place, _, _)?, .ask(let otherPlace, _, _)?): place == otherPlace
        default: title == other.title && (action == nil) == (other.action == nil)
        }
    }
}

extension Menu {
    /// The choices of the menu of filters.
    static func filters(_ sections: [SectionInReach]) -> [Choice] {
        var choices: [Choice] = []
        if sections.contains(where: { $0.section.filters.contains(where: \.selected) }) {
            choices.append(.init(title: "Clear all filters", action: .clear))
        }
        for reached in sections {
            let section = reached.section
            let place = Place(section: section.id, part: reached.part)
            choices.append(.init(title: section.title))
            choices += section.filters.map { filter in
                .init(
                    title: filter.title, detail: SectionTable.count(filter.count),
                    isOn: filter.selected,
                    action: .toggle(place, filter: filter.id, isSelected: filter.selected))
            }
            if section.input == .range || section.input == .text {
                let isRange = section.input == .range
                choices.append(
                    .init(
                        title: isRange ? "a range …" : "a text …",
                        action: .ask(place, title: section.title, isRange: isRange)))
            } else if section.more == true {
                let rest = section.rest.map { "\(Wording.count($0)) more" } ?? "more"
                choices.append(.init(title: "\(rest): find them …", action: .find))
            }
        }
        return choices
    }
}

extension ScreenModel {
    /// The choices of the menu of orders, where the order is this one.
    func sortChoices(_ sort: [String]) -> [Menu.Choice] {
        var keys: [(String, String)] = fields.filter { $0.type != "image" }
            .map { ($0.name, $0.title ?? $0.name) }
        let kinds = Set(components.map(\.kind))
        if kinds.contains("votes") {
            keys = [("votes.score", "votes"), ("votes.count", "how many voted")] + keys
        }
        if kinds.contains("comments") { keys.append(("comments.count", "comments")) }
        var choices = [
            Menu.Choice(title: "the list's own order", isOn: sort.isEmpty, action: .sort([]))
        ]
        for (key, title) in keys {
            let (up, down) = (sort.first == key, sort.first == "-" + key)
            let isRank = key.hasPrefix("votes.") || key == "comments.count"
            // Chosen again it turns round.
            let next = down || (!up && !isRank) ? key : "-" + key
            choices.append(
                .init(
                    title: title, detail: up ? "ascending ↑" : down ? "descending ↓" : "",
                    isOn: up || down, action: .sort([next])))
        }
        return choices
    }

    /// The choices of the menu of components.
    var componentChoices: [Menu.Choice] {
        components.map { component in
            .init(
                title: component.title.isEmpty ? component.name : component.title,
                detail: component.problem ?? component.kind, isOn: !component.hidden,
                action: .setHidden(component: component.name, !component.hidden))
        }
    }

    /// What may be done with a comment.
    static func moderationChoices(
        _ comment: Comment, mayModerate: Bool, isMine: Bool
    ) -> [Menu.Choice] {
        var choices: [Menu.Choice] = []
        if mayModerate {
            for (state, title) in [
                (Comments.Moderate.Parameters.State.shown, "Show it to everyone"),
                (.pending, "Hold it back"), (.removed, "Remove it for good, with a reason"),
            ] {
                choices.append(
                    .init(
                        title: title, isOn: comment.state.rawValue == state.rawValue,
                        action: .moderate(state)))
            }
        }
        if mayModerate || isMine {
            choices.append(.init(title: "Delete it", action: .delete))
        }
        return choices
    }
}
