/// Why a command failed: a sentence, a hint what to do, and the exit status.
struct CommandFailure: Error, Equatable {
    /// The exit status.
    enum Status: Int32 {
        /// The command was not executed, or only in part: the daemon refused, a file is invalid, or the user declined.
        case refused = 1
        /// The command line is wrong; nothing was tried.
        case usage = 2
        /// The daemon, or another service, can't be reached or does not answer.
        case unreachable = 3
        /// Somebody pressed Ctrl-C.
        case interrupted = 130
    }

    var sentence: String
    var hint: String?
    var status: Status

    /// Makes a failure; its status is ``Status/refused`` by default.
    init(_ sentence: String, hint: String? = nil, status: Status = .refused) {
        self.sentence = sentence
        self.hint = hint
        self.status = status
    }

    /// The lines that are printed on standard error.
    var lines: [String] {
        let first = "atriumctl: \(PrintableText.lines(sentence).joined(separator: "\n"))"
        guard let hint else { return [first] }
        return [first, "hint: \(PrintableText.lines(hint).joined(separator: "\n      "))"]
    }
}
