import AtriumFormats
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
            guard let value = FieldValues.decimal(text.replacing(",", with: "."))
            else {
                status.say("'\(text)' is no number", isError: true)
                return []
            }
            return cast(value, on: subject)
        case .filter(let id, _, let isRange):
            guard !text.isEmpty else { return [] }
            if isRange, !text.contains("..") {
                status.say("a range is FROM..TO; either end may be left out", isError: true)
                return []
            }
            return chosen([.call(.select(section: id.section, filter: text), part: id.part)])
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

    /// What menus offer now.
    var offered: MenuChoices {
        MenuChoices(
            screen: screen, lookup: lookup, mayModerate: mayModerate != false, actor: actor)
    }

    /// Opens a menu; without anything to choose it says so.
    mutating func open(_ kind: Menu.Kind, none: String) {
        let menu = Menu(kind)
        guard !offered.of(menu).isEmpty else { return status.say(none) }
        mode = .menu(menu)
        changeMenu { $0.adjustCursor($1, height: $2) }
    }

    /// Changes the menu that is open, if any, by what it offers now and how much of that is in sight.
    mutating func changeMenu(_ change: (inout Menu, [Menu.Choice], _ height: Int) -> Void) {
        guard case .menu(var menu) = mode else { return }
        let choices = offered.of(menu)
        change(&menu, choices, areas.body - 1)
        mode = .menu(menu)
    }

    /// A key while something is chosen from a menu.
    mutating func choose(_ key: Key, _ menu: Menu) -> [Effect] {
        var menu = menu
        var pointed: Int?
        if case .click(let row, _) = key {
            let shown = BrowserView(self).rows
            if shown.indices.contains(row), case .choice(let index)? = shown[row].target {
                pointed = index
            }
        }
        let outcome = menu.press(key, of: offered, pointed: pointed, height: areas.body - 1)
        mode = .menu(menu)
        switch outcome {
        case .open: return []
        case .closed:
            mode = .browse
            return []
        case .chosen(let action): return action.map { act(menu, $0) } ?? []
        case .searched(let text):
            return screen.questions(text).map { .call(.find($0), part: $0.part) }
        }
    }

    private mutating func act(_ menu: Menu, _ action: Menu.Action) -> [Effect] {
        switch action {
        case .toggle(let id, let filter, let isSelected):
            return chosen([
                .call(
                    isSelected
                        ? .deselect(section: id.section, filter: filter)
                        : .select(section: id.section, filter: filter), part: id.part)
            ])
        case .ask(let id, let title, let isRange):
            mode = .prompt(.filter(id, title: title, isRange: isRange), TextInput())
            return []
        case .find:
            changeMenu { menu, _, _ in menu.beginQuery(isNew: true) }
            return []
        case .clear: return clear()
        case .sort(let fields):
            screen.setSort(fields)
            mode = .browse
            return chosen([.call(.sort(fields))])
        case .setHidden(let component, let hidden):
            return [.call(.setHidden(component: component, hidden))]
        case .decide(let comment):
            mode = .menu(Menu(.moderation(comment)))
            changeMenu { $0.adjustCursor($1, height: $2) }
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
