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
    struct SectionID: Equatable {
        var section: String
        var part: String
    }

    /// What a choice does.
    enum Action: Equatable {
        case toggle(SectionID, filter: String, isSelected: Bool)
        /// Asks for a text or a range.
        case ask(SectionID, title: String, isRange: Bool)
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
    private(set) var query: TextInput?
    /// Whether the query is being typed.
    private(set) var isTyping = false

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
    mutating func adjustCursor(_ choices: [Choice], height: Int, step: Int = 1) {
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
        adjustCursor(choices, height: height, step: lines < 0 ? -1 : 1)
    }

    /// Begins to type what choices have to contain, or goes on with it.
    mutating func beginQuery(isNew: Bool = false) {
        query = isNew ? TextInput() : query ?? TextInput()
        isTyping = true
    }

    /// Selects a choice again after the choices were replaced.
    mutating func follow(_ choice: Choice?, _ choices: [Choice], height: Int) {
        if let choice, let index = choices.firstIndex(where: choice.isSame) { cursor = index }
        adjustCursor(choices, height: height)
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
        adjustCursor(choices, height: height)
    }
}

extension Menu.Choice {
    /// Whether it offers the same, chosen or not.
    fileprivate func isSame(as other: Menu.Choice) -> Bool {
        switch (action, other.action) {
        case (.toggle(let id, let filter, _)?, .toggle(let otherID, let otherFilter, _)?):
            id == otherID && filter == otherFilter
        case (.ask(let id, _, _)?, .ask(let otherID, _, _)?): id == otherID
        default: title == other.title && (action == nil) == (other.action == nil)
        }
    }
}

extension Menu {
    /// What a key made of a menu.
    enum Outcome: Equatable {
        /// It stays open.
        case open
        case closed
        /// Does what a choice does.
        case chosen(Action?)
        /// The text that filters have to contain is another.
        case searched(String)
    }

    /// Takes a key, and returns what it made of the menu; `pointed` is the choice that was clicked on, `height` how
    /// many are in sight.
    mutating func press(
        _ key: Key, of offered: MenuChoices, pointed: Int?, height: Int
    ) -> Outcome {
        if isTyping, let outcome = narrow(key, offered, height: height) { return outcome }
        let choices = offered.of(self)
        switch key {
        case .escape, .character("q"), .character("f"), .character("s"), .backspace:
            return .closed
        case .down, .character("j"): move(by: 1, choices, height: height)
        case .up, .character("k"): move(by: -1, choices, height: height)
        case .pageDown: move(by: height - 1, choices, height: height)
        case .pageUp: move(by: 1 - height, choices, height: height)
        case .home, .character("g"): move(by: -choices.count, choices, height: height)
        case .end, .character("G"): move(by: choices.count, choices, height: height)
        case .right, .character("l"), .tab: section(by: 1, choices, height: height)
        case .left, .character("h"), .backTab: section(by: -1, choices, height: height)
        case .wheel(let rows, _): move(by: rows, choices, height: height)
        case .character("/"): beginQuery()
        case .character("x") where kind == .filters: return .chosen(.clear)
        case .click:
            guard let pointed else { return .open }
            cursor = pointed
            return .chosen(offered.chosen(in: self)?.action)
        case .enter, .character(" "): return .chosen(offered.chosen(in: self)?.action)
        default: break
        }
        return .open
    }

    /// A key while values are searched; nil: it is for the choices.
    private mutating func narrow(
        _ key: Key, _ offered: MenuChoices, height: Int
    ) -> Outcome? {
        var query = query ?? TextInput()
        let outcome = query.press(key)
        switch outcome {
        case .accepted: isTyping = false
        case .dropped: (self.query, isTyping) = (nil, false)
        case .changed, .moved: self.query = query
        case .ignored: return nil
        }
        adjustCursor(offered.of(self), height: height)
        switch outcome {
        // What is found first is what was meant.
        case .accepted: return .chosen(offered.chosen(in: self)?.action)
        case .changed where kind == .filters: return .searched(query.text)
        default: return .open
        }
    }
}
