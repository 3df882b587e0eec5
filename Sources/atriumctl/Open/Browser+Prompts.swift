import Interfaces

extension Browser {
    /// A key while a text to search for is typed: each change is searched.
    mutating func search(_ key: Key, _ input: TextInput, _ before: String) -> [Effect] {
        var input = input
        switch input.press(key) {
        case .accepted: mode = .browse
        case .dropped:
            mode = .browse
            guard screen.search != before else { return [] }
            screen.setSearch(before)
            return chosen([.call(.search(before))])
        case .changed:
            mode = .search(input, before: before)
            screen.setSearch(input.text)
            return chosen([.call(.search(input.text))])
        case .moved: mode = .search(input, before: before)
        case .ignored:
            mode = .search(input, before: before)
            if key == .up || key == .down { lists.move(by: key == .up ? -1 : 1) }
        }
        return []
    }

    /// A key while a line is asked for.
    mutating func ask(_ key: Key, _ prompt: Prompt, _ input: TextInput) -> [Effect] {
        var input = input
        switch input.press(key) {
        case .accepted:
            mode = .browse
            return answered(prompt, input.text)
        case .dropped: mode = .browse
        default: mode = .prompt(prompt, input)
        }
        return []
    }

    private mutating func answered(_ prompt: Prompt, _ text: String) -> [Effect] {
        switch prompt {
        case .vote(let subject):
            guard !text.isEmpty else { return [] }
            guard let value = Double(text.replacing(",", with: ".")) else {
                status.say("'\(text)' is no number", isError: true)
                return []
            }
            return cast(value, on: subject)
        case .filter(let place, _, let isRange):
            guard !text.isEmpty else { return [] }
            if isRange, !text.contains("..") {
                status.say("a range is FROM..TO; either end may be left out", isError: true)
                return []
            }
            return chosen([.call(.select(section: place.section, filter: text), part: place.part)])
        case .reason(let component, let comment):
            return next(
                after: .moderate(
                    component: component, comment: comment.id, .removed,
                    reason: text.isEmpty ? nil : text, seen: nil))
        }
    }

    /// A key while a comment is written.
    mutating func write(_ key: Key, _ draft: CommentDraft, _ input: TextInput) -> [Effect] {
        var input = input
        switch input.press(key) {
        case .accepted:
            let text = input.text
            guard text.contains(where: { !$0.isWhitespace }) else {
                status.say("there is nothing to send; escape drops it")
                return []
            }
            if let most = screen.component("comments")?.comments?.maxLength,
                text.unicodeScalars.count > most
            {
                status.say(
                    "a comment has at most \(Wording.count(most, "character"))", isError: true)
                return []
            }
            mode = .browse
            let request = draft.request(text, freshID: freshID)
            if case .post(_, _, _, let id) = request { thread.setAwaited(id) }
            return [.call(request)]
        case .dropped: mode = .browse
        default: mode = .write(draft, input)
        }
        return []
    }

    // MARK: - Menus

    /// What a menu offers now.
    func choices(_ menu: Menu) -> [Menu.Choice] {
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
                comment, mayModerate: mayModerate != false, isMine: comment.author == actor)
        }
    }

    /// The choice of the menu that is open; nil: none is.
    var menuChoice: Menu.Choice? {
        guard case .menu(let menu) = mode else { return nil }
        let choices = choices(menu)
        return choices.indices.contains(menu.cursor) ? choices[menu.cursor] : nil
    }

    /// Has the menu that is open stand at a choice, whose place may be another now.
    mutating func followMenu(_ choice: Menu.Choice?) {
        guard case .menu(var menu) = mode else { return }
        menu.follow(choice, choices(menu), height: areas.body - 1)
        mode = .menu(menu)
    }

    /// A key while something is chosen from a menu.
    mutating func choose(_ key: Key, _ menu: Menu) -> [Effect] {
        var menu = menu
        if menu.isTyping, let effects = narrow(key, &menu) { return effects }
        let choices = choices(menu)
        let height = areas.body - 1
        mode = .menu(menu)
        switch key {
        case .escape, .character("q"), .character("f"), .character("s"), .backspace:
            mode = .browse
            return []
        case .down, .character("j"): menu.move(by: 1, choices, height: height)
        case .up, .character("k"): menu.move(by: -1, choices, height: height)
        case .pageDown: menu.move(by: height - 1, choices, height: height)
        case .pageUp: menu.move(by: 1 - height, choices, height: height)
        case .home, .character("g"): menu.move(by: -choices.count, choices, height: height)
        case .end, .character("G"): menu.move(by: choices.count, choices, height: height)
        case .right, .character("l"), .tab: menu.section(by: 1, choices, height: height)
        case .left, .character("h"), .backTab: menu.section(by: -1, choices, height: height)
        case .wheel(let rows, _): menu.move(by: rows, choices, height: height)
        case .character("/"):
            menu.query = menu.query ?? TextInput()
            menu.isTyping = true
        case .character("x") where menu.kind == .filters:
            return clear()
        case .click(let row, _):
            let shown = view()
            guard shown.indices.contains(row), case .choice(let index)? = shown[row].place
            else { return [] }
            menu.point(at: index)
            mode = .menu(menu)
            return act(menu, choices)
        case .enter, .character(" "): return act(menu, choices)
        default: break
        }
        mode = .menu(menu)
        return []
    }

    /// A key while values are searched; nil: it is for the menu.
    private mutating func narrow(_ key: Key, _ menu: inout Menu) -> [Effect]? {
        var query = menu.query ?? TextInput()
        var effects: [Effect] = []
        switch query.press(key) {
        case .accepted:
            menu.isTyping = false
            // What is found first is what was meant.
            let choices = choices(menu)
            menu.settle(choices, height: areas.body - 1)
            mode = .menu(menu)
            return act(menu, choices)
        case .dropped:
            menu.query = nil
            menu.isTyping = false
        case .changed:
            menu.query = query
            if menu.kind == .filters {
                effects = screen.questions(query.text).map { .call(.find($0), part: $0.part) }
            }
        case .moved: menu.query = query
        case .ignored: return nil
        }
        menu.settle(choices(menu), height: areas.body - 1)
        mode = .menu(menu)
        return effects
    }

    private mutating func act(_ menu: Menu, _ choices: [Menu.Choice]) -> [Effect] {
        guard choices.indices.contains(menu.cursor), let action = choices[menu.cursor].action
        else { return [] }
        switch action {
        case .toggle(let place, let filter, let isSelected):
            return chosen([
                .call(
                    isSelected
                        ? .deselect(section: place.section, filter: filter)
                        : .select(section: place.section, filter: filter), part: place.part)
            ])
        case .ask(let place, let title, let isRange):
            mode = .prompt(.filter(place, title: title, isRange: isRange), TextInput())
            return []
        case .find:
            var menu = menu
            (menu.query, menu.isTyping) = (TextInput(), true)
            mode = .menu(menu)
            return []
        case .clear: return clear()
        case .sort(let fields):
            screen.setSort(fields)
            mode = .browse
            return chosen([.call(.sort(fields))])
        case .setHidden(let component, let hidden):
            return [.call(.setHidden(component: component, hidden))]
        case .decide(let comment):
            var menu = Menu(.moderation(comment))
            menu.settle(self.choices(menu), height: areas.body - 1)
            mode = .menu(menu)
            return []
        case .moderate, .delete: return moderate(menu, action)
        }
    }

    private mutating func moderate(_ menu: Menu, _ action: Menu.Action) -> [Effect] {
        mode = .browse
        guard case .moderation(let comment) = menu.kind, let talk = screen.component("comments")
        else { return [] }
        switch action {
        case .moderate(.removed):
            mode = .prompt(.reason(component: talk.name, comment), TextInput())
            return []
        case .moderate(let state):
            // What is shown to everyone is the text that was read here.
            let seen = state == .shown ? comment.edited ?? comment.created : nil
            return next(
                after: .moderate(
                    component: talk.name, comment: comment.id, state, reason: nil, seen: seen))
        default: return next(after: .delete(component: talk.name, comment: comment.id))
        }
    }
}
