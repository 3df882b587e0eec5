import Interfaces

extension Browser {
    /// Removes and returns the next of the keys that were pressed; what is typed or pasted in one go is one
    /// ``Key/text(_:)``.
    ///
    /// Each key lays the screen out, which takes longer the longer the text is.
    func takeKey(from keys: inout ArraySlice<Key>) -> Key? {
        guard takesText else { return keys.popFirst() }
        var text: [Character] = []
        while let key = keys.first, let character = typed(key) {
            text.append(character)
            keys.removeFirst()
        }
        return text.isEmpty ? keys.popFirst() : .text(text)
    }

    /// The character that a key adds to a text; nil: it does something else.
    private func typed(_ key: Key) -> Character? {
        switch key {
        case .character(let character): character
        case .enter where isPasting, .control("j") where isPasting: "\n"
        case .tab where isPasting: "\t"
        default: nil
        }
    }

    /// Does what a key asks for.
    mutating func press(_ key: Key) -> [Effect] {
        if key == .control("l") { return [.redraw] }
        if key == .pasteStart || key == .pasteEnd { isPasting = key == .pasteStart }
        // What is pasted is text, and nothing to be done.
        if isPasting, !takesText { return [] }
        let effects =
            switch mode {
            case .browse: browse(key)
            case .search(let input, let before): search(key, input, before)
            case .prompt(let prompt, let input): ask(key, prompt, input)
            case .write(let draft, let input): write(key, draft, input)
            case .menu(let menu): choose(key, menu)
            case .help(let offset): help(key, offset)
            }
        scrollToCursors()
        return effects + more()
    }

    /// Whether characters are typed into something.
    private var takesText: Bool {
        switch mode {
        case .search, .prompt, .write: true
        case .menu(let menu): menu.isTyping
        case .browse, .help: false
        }
    }

    private mutating func browse(_ key: Key) -> [Effect] {
        switch key {
        case .click(let row, let column):
            wantsEnd = false
            return click(row, column)
        case .wheel(let rows, let row):
            wantsEnd = false
            return wheel(rows, row)
        default: break
        }
        if move(key) { return [] }
        switch key {
        case .enter, .right, .character("l"): return enter()
        case .left, .backspace, .escape, .character("h"): return back(isEscape: key == .escape)
        case .tab: return turn(1)
        case .backTab: return turn(-1)
        case .character(let character): return command(character)
        default: return []
        }
    }

    /// Moves the cursor of the pane; false for keys of another kind.
    private mutating func move(_ key: Key) -> Bool {
        wantsEnd = key == .end || key == .character("G")
        let areas = areas
        let page = max(1, (pane == .list ? areas.list : areas.thread) - 1)
        switch key {
        case .down, .character("j"): step(1)
        case .up, .character("k"): step(-1)
        case .pageDown, .control("f"): leap(page)
        case .pageUp, .control("b"): leap(-page)
        case .control("d"): leap(page / 2)
        case .control("u"): leap(-page / 2)
        case .home, .character("g"):
            if pane == .list { lists.moveToStart() } else { thread.moveToStart() }
        case .end, .character("G"):
            if pane == .list {
                lists.moveToEnd()
            } else {
                thread.moveToEnd(height: areas.thread)
            }
        default: return false
        }
        return true
    }

    private mutating func step(_ step: Int) {
        if pane == .list {
            lists.move(by: step)
        } else {
            thread.move(down: step > 0, height: areas.thread)
        }
    }

    private mutating func leap(_ rows: Int) {
        if pane == .list {
            lists.move(by: rows)
        } else {
            thread.scroll(by: rows, height: areas.thread)
        }
    }

    private mutating func command(_ character: Character) -> [Effect] {
        switch character {
        case "/": mode = .search(TextInput(screen.search), before: screen.search)
        case "f": open(.filters, none: "there are no filters here")
        case "s": open(.sort, none: "")
        case "w": open(.components, none: "")
        case "x": return clear()
        case "p": turnPart(1)
        case "P": turnPart(-1)
        case "t": pane = pane == .list && screen.hasThread ? .thread : .list
        case " ":
            thread.fold()
            layThreadOut(isNew: false)
        case "i":
            lists.toggleIDs(screen.model)
            scrollToCursors()
        case "?": mode = .help(offset: 0)
        case "q": return [.quit]
        case "o": return lists.item.map { [.call(.activate(item: $0.id))] } ?? []
        case "c": return comment()
        case "r": return reply()
        case "e": return edit()
        case "m": return pane == .list ? queue() : moderate()
        case "u": return unvote()
        case "v", "-", "+", "0"..."9": return vote(character)
        default: break
        }
        return []
    }

    /// Deselects all that is selected in the sections in reach.
    mutating func clear() -> [Effect] {
        let parts = screen.filtered
        return parts.isEmpty ? [] : chosen(parts.map { .call(.clear, part: $0) })
    }

    /// What makes the list another one: it is shown from its start.
    mutating func chosen(_ effects: [Effect]) -> [Effect] {
        startsAnew = true
        return effects
    }

    // MARK: - Where one stands

    private mutating func enter() -> [Effect] {
        if pane == .thread {
            if thread.comment?.more != nil, let list = screen.threadList {
                return [windows.page(behind: list, in: screen)].compactMap(\.self).map { .call($0) }
            }
            thread.fold()
            layThreadOut(isNew: false)
            return []
        }
        guard let item = lists.item else { return [] }
        if screen.model.focus == item.id {
            if screen.hasThread { pane = .thread }
            return []
        }
        lists.remember(item.id)
        return [.call(screen.leadsInside(item) ? .enter(item: item.id) : .focus(item.id))]
    }

    private mutating func back(isEscape: Bool) -> [Effect] {
        if pane == .thread {
            pane = .list
            return []
        }
        if isEscape, !screen.search.isEmpty {
            screen.setSearch("")
            return chosen([.call(.search(""))])
        }
        if let last = screen.model.path.last {
            lists.leave(last)
            return [.call(.back)]
        }
        return screen.model.focus.isEmpty ? [] : [.call(.focus(nil))]
    }

    /// Goes to the next scope, or the one before; to other parts, or the thread, where there are none.
    private mutating func turn(_ step: Int) -> [Effect] {
        let names = screen.model.scopes.map(\.name)
        guard names.count > 1 else {
            if !screen.root.parts.isEmpty {
                turnPart(step)
                return []
            }
            pane = pane == .list && screen.hasThread ? .thread : .list
            return []
        }
        let here = names.firstIndex(of: screen.model.scope ?? "") ?? 0
        return chosen([.call(.scope(names[(here + step + names.count) % names.count]))])
    }

    /// Goes to the next part, or the one before.
    private mutating func turnPart(_ step: Int) {
        if let part = screen.next(step) { show(part) }
    }

    // MARK: - The mouse

    private mutating func click(_ row: Int, _ column: Int) -> [Effect] {
        let shown = BrowserView(self).rows
        guard shown.indices.contains(row) else { return [] }
        switch shown[row].target {
        case .line(let line):
            let isAgain = pane == .list && line == lists.cursor
            pane = .list
            lists.point(at: line)
            return isAgain ? enter() : []
        case .block(let block):
            pane = .thread
            thread.point(at: block)
        case .tabs(let tabs):
            guard let tab = tabs.firstIndex(where: { $0.contains(column) }),
                screen.model.scopes.indices.contains(tab)
            else { return [] }
            return chosen([.call(.scope(screen.model.scopes[tab].name))])
        case .choice, nil: break
        }
        return []
    }

    private mutating func wheel(_ rows: Int, _ row: Int) -> [Effect] {
        let shown = BrowserView(self).rows
        if shown.indices.contains(row), case .block? = shown[row].target {
            thread.scroll(by: rows, height: areas.thread)
        } else {
            lists.move(by: rows)
        }
        return []
    }

    private mutating func help(_ key: Key, _ offset: Int) -> [Effect] {
        switch key {
        case .down, .character("j"):
            let rows = HelpText.rows(columns: columns).count
            mode = .help(offset: min(offset + 1, max(0, rows - areas.body)))
        case .up, .character("k"): mode = .help(offset: max(0, offset - 1))
        default: mode = .browse
        }
        return []
    }
}
