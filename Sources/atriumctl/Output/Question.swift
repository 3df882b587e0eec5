import Glibc

/// Questions to whoever sits at the terminal.
enum Question {
    /// Whether somebody can be asked: standard input and standard error are a terminal.
    static var isPossible: Bool { Terminal.isErrorTerminal && Terminal.isInputTerminal }

    /// Asks, and takes what is typed; the end of input is an empty answer.
    static func answer(_ question: String) -> String {
        Output.progress(PrintableText.line(question) + " ")
        return readLine()?.lowercased() ?? ""
    }

    /// Asks for a yes; anything else is a no.
    static func isYes(_ question: String) -> Bool {
        ["y", "yes"].contains(answer(question + " [y/N]"))
    }

    /// Asks before something is erased for good, where somebody can be asked and did not say yes already.
    ///
    /// - Parameters:
    ///   - what: What is erased, as in "the votes on films".
    ///   - isSure: Whether nobody is to be asked.
    /// - Throws: ``CommandFailure`` where the answer is no.
    static func beforeErasing(_ what: String, isSure: Bool) throws(CommandFailure) {
        guard !isSure, isPossible, !isYes("Erase \(what)? This can't be undone.") else { return }
        throw CommandFailure("nothing was erased")
    }
}
