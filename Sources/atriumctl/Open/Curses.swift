import CNcurses
import CProcess
import Glibc

/// The terminal as rows of cells, by the terminal library: what did not change is not written again.
///
/// All of it belongs to the thread that made it.
final class Curses {
    private let window: UnsafeMutablePointer<WINDOW>
    /// Where keys are read: reading from the window would draw it.
    private let keyboard: UnsafeMutablePointer<WINDOW>
    private let hasColor: Bool
    private var isCaretShown = true

    private static let pasteStart: Int32 = 600
    private static let pasteEnd: Int32 = 601
    private static let pasteOn = "\u{1B}[?2004h"
    private static let pasteOff = "\u{1B}[?2004l"

    /// Whether the terminal of standard output is one that rows can be drawn on.
    static let knowsTerminal: Bool = {
        var problem: Int32 = 0
        guard setupterm(nil, STDOUT_FILENO, &problem) == 0 else { return false }
        return capability("cup") != nil && capability("clear") != nil
    }()

    /// Takes the terminal over; nil where the library can't.
    init?() {
        CellText.prepare()
        let restoring = ["sgr0", "cnorm", "rmcup"].compactMap(Self.capability).joined()
        let bytes = "\u{1B}[?1000l\u{1B}[?1006l\(Self.pasteOff)\(restoring)"
        _ = process_guard_terminal(STDOUT_FILENO, bytes, bytes.utf8.count)
        guard let output = fdopen(dup(STDOUT_FILENO), "w"),
            let input = fdopen(dup(STDIN_FILENO), "r"),
            newterm(nil, output, input) != nil, let window = newwin(0, 0, 0, 0),
            let keyboard = newpad(1, 1)
        else {
            process_unguard_terminal()
            return nil
        }
        (self.window, self.keyboard) = (window, keyboard)
        Terminal.isTaken = true
        hasColor = Terminal.hasColor && has_colors()
        set_escdelay(25)
        cbreak()
        noecho()
        nonl()
        CNcurses.keypad(keyboard, true)
        nodelay(keyboard, true)
        define_key("\u{1B}[200~", Self.pasteStart)
        define_key("\u{1B}[201~", Self.pasteEnd)
        let buttons =
            ncurses_mouse_clicked | ncurses_mouse_wheel_up | ncurses_mouse_wheel_down
        mousemask(buttons, nil)
        mouseinterval(0)
        if hasColor {
            start_color()
            use_default_colors()
            for (color, number) in [
                (Look.Color.red, COLOR_RED), (.green, COLOR_GREEN), (.yellow, COLOR_YELLOW),
                (.cyan, COLOR_CYAN),
            ] {
                init_pair(color.rawValue, Int16(number), -1)
            }
        }
        Output.bytes(Array(Self.pasteOn.utf8))
    }

    var size: (rows: Int, columns: Int) { (Int(getmaxy(window)), Int(getmaxx(window))) }

    /// Asks how big the terminal is now.
    func resize() {
        guard let height = Terminal.height, let width = Terminal.width else { return }
        resizeterm(Int32(height), Int32(width))
        wresize(window, Int32(height), Int32(width))
        clearok(window, true)
    }

    /// Shows rows, and the caret where something is typed.
    func draw(_ rows: [ViewRow], caret: (row: Int, column: Int)?) {
        for (number, row) in rows.enumerated() {
            wmove(window, Int32(number), 0)
            for span in row.spans {
                set(span.look)
                let cells = span.text.text.unicodeScalars.map { wchar_t($0.value) }
                waddnwstr(window, cells, Int32(cells.count))
            }
        }
        if let caret {
            wmove(window, Int32(caret.row), Int32(min(caret.column, size.columns - 1)))
        }
        if isCaretShown != (caret != nil) {
            isCaretShown = caret != nil
            curs_set(isCaretShown ? 1 : 0)
        }
        wnoutrefresh(window)
        doupdate()
    }

    /// Draws everything anew the next time.
    func redraw() { clearok(window, true) }

    /// Gives the terminal back, stops the program, and takes the terminal over when it goes on.
    func suspend() {
        giveBack()
        process_stop()
        Terminal.isTaken = true
        Output.bytes(Array(Self.pasteOn.utf8))
        resize()
    }

    /// Gives the terminal back.
    func leave() {
        curs_set(1)
        giveBack()
        process_unguard_terminal()
    }

    private func giveBack() {
        Output.bytes(Array(Self.pasteOff.utf8))
        endwin()
        Terminal.isTaken = false
    }

    private func set(_ look: Look) {
        var attributes: attr_t = 0
        if look.isBold { attributes |= ncurses_bold }
        if look.isDim { attributes |= ncurses_dim }
        if look.isReverse { attributes |= ncurses_reverse }
        if look.isUnderlined { attributes |= ncurses_underline }
        wattr_set(window, attributes, hasColor ? look.color.rawValue : 0, nil)
    }

    private static func capability(_ name: String) -> String? {
        // (char *)-1: it is no text.
        guard let text = tigetstr(name), Int(bitPattern: text) != -1 else { return nil }
        return String(cString: text)
    }

    // MARK: - Keys

    /// The keys that were pressed and not read yet, so many at most.
    func keys(most: Int) -> [Key] {
        var keys: [Key] = []
        var code: wint_t = 0
        while keys.count < most {
            switch wget_wch(keyboard, &code) {
            case ncurses_failed: return keys
            case ncurses_is_key: if let key = function(Int32(bitPattern: code)) { keys.append(key) }
            default: if let key = character(code) { keys.append(key) }
            }
        }
        return keys
    }

    private func character(_ code: wint_t) -> Key? {
        switch code {
        case 13: return .enter
        case 27: return .escape
        case 9: return .tab
        case 8, 127: return .backspace
        case 1...26:
            return Unicode.Scalar(code + 96).map { .control(Character($0)) }
        case 0..<32: return nil
        default: return Unicode.Scalar(code).map { .character(Character($0)) }
        }
    }

    private func function(_ code: Int32) -> Key? {
        switch code {
        case KEY_UP: .up
        case KEY_DOWN: .down
        case KEY_LEFT: .left
        case KEY_RIGHT: .right
        case KEY_PPAGE: .pageUp
        case KEY_NPAGE: .pageDown
        case KEY_HOME: .home
        case KEY_END: .end
        case KEY_ENTER: .enter
        case KEY_BACKSPACE: .backspace
        case KEY_DC: .delete
        case KEY_BTAB: .backTab
        case Self.pasteStart: .pasteStart
        case Self.pasteEnd: .pasteEnd
        case KEY_MOUSE: mouse()
        default: nil
        }
    }

    private func mouse() -> Key? {
        var event = MEVENT()
        guard getmouse(&event) == OK else { return nil }
        let (row, column) = (Int(event.y), Int(event.x))
        if event.bstate & ncurses_mouse_wheel_up != 0 { return .wheel(rows: -3, row: row) }
        if event.bstate & ncurses_mouse_wheel_down != 0 { return .wheel(rows: 3, row: row) }
        return event.bstate & ncurses_mouse_clicked != 0 ? .click(row: row, column: column) : nil
    }
}
