/// What a person does at the terminal.
enum Key: Hashable, Sendable {
    case character(Character)
    /// What was typed or pasted in one go, with `\n` for the enter key and `\t` for the tab.
    case text([Character])
    /// A letter with the control key.
    case control(Character)
    case enter
    case escape
    case tab
    case backTab
    case backspace
    case delete
    case up
    case down
    case left
    case right
    case pageUp
    case pageDown
    case home
    case end
    /// What follows was pasted, up to ``pasteEnd``.
    case pasteStart
    case pasteEnd
    case click(row: Int, column: Int)
    case wheel(rows: Int, row: Int)
}
