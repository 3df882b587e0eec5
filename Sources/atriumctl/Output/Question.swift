import Glibc

/// Questions to whoever sits at the terminal.
enum Question {
    /// Whether somebody can be asked: standard input and standard error are a terminal.
    static var isPossible: Bool { Terminal.isErrorTerminal && Terminal.isInputTerminal }

    /// Asks, and returns what is typed; nil at the end of input, and at a Ctrl-C that is watched.
    static func answer(_ question: String) -> String? {
        Output.progress(PrintableText.line(question) + " ")
        let answer = line()?.lowercased()
        // What is printed next begins on a line of its own.
        if answer == nil { Output.note("") }
        return answer
    }

    /// Reads a line, byte by byte: what follows it is for the next question; nil at the end of input, and where
    /// Ctrl-C was pressed first.
    private static func line() -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while Interruption.waitsForInput(STDIN_FILENO) {
            guard read(STDIN_FILENO, &byte, 1) == 1 else {
                return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
            }
            if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        return nil
    }

    /// Asks for a yes; anything else is a no, or with `byDefault` anything but a no is a yes.
    static func isYes(_ question: String, byDefault: Bool = false) -> Bool {
        isYes(answer: answer(question + (byDefault ? " [Y/n]" : " [y/N]")), byDefault: byDefault)
    }

    /// Whether an answer means yes; the end of input never does.
    static func isYes(answer: String?, byDefault: Bool) -> Bool {
        guard let answer else { return false }
        return byDefault ? !["n", "no"].contains(answer) : ["y", "yes"].contains(answer)
    }

    /// Asks before something, as in "the votes on films", is erased for good, unless somebody said yes already;
    /// throws where the answer is no, or nobody can be asked.
    static func beforeErasing(_ what: String, isSure: Bool) throws(CommandFailure) {
        guard !isSure else { return }
        guard isPossible else {
            throw CommandFailure(
                "erasing \(what) can't be undone, and there is no terminal to confirm it",
                hint: "add --yes.", status: .usage)
        }
        guard isYes("Erase \(what)? This can't be undone.") else {
            throw CommandFailure("nothing was erased")
        }
    }
}
