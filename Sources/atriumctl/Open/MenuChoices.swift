import Interfaces

/// What menus offer, made of the screen as it is.
struct MenuChoices {
    let screen: ScreenParts
    let lookup: FilterLookup
    /// Whether the person may moderate.
    let mayModerate: Bool
    /// The person's actor id.
    let actor: String

    /// The choices of a menu that its query lets through.
    func of(_ menu: Menu) -> [Menu.Choice] {
        switch menu.kind {
        case .filters:
            menu.found(
                Menu.filters(
                    lookup.adding(to: screen.sections, having: menu.query?.text ?? "")))
        case .sort: menu.found(screen.model.sortChoices(screen.sort))
        case .components: menu.found(screen.model.componentChoices)
        case .queue(let queue): menu.found(queue.choices)
        case .moderation(let comment):
            ScreenModel.moderationChoices(
                comment, mayModerate: mayModerate, isMine: comment.author == actor)
        }
    }

    /// The choice that a menu's cursor is on.
    func chosen(in menu: Menu) -> Menu.Choice? {
        let choices = of(menu)
        return choices.indices.contains(menu.cursor) ? choices[menu.cursor] : nil
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
            let id = SectionID(section: section.id, part: reached.part)
            choices.append(.init(title: section.title))
            choices += section.filters.map { filter in
                .init(
                    title: filter.title, detail: SectionTable.count(filter.count),
                    isOn: filter.selected,
                    action: .toggle(id, filter: filter.id, isSelected: filter.selected))
            }
            if section.input == .range || section.input == .text {
                let isRange = section.input == .range
                choices.append(
                    .init(
                        title: isRange ? "a range …" : "a text …",
                        action: .ask(id, title: section.title, isRange: isRange)))
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
