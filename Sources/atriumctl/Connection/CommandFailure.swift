/// Why a command failed: a sentence, a hint what to do, and the exit status.
struct CommandFailure: Error, Equatable {
    /// The exit status.
    enum Status: Int32 {
        /// The daemon refused the call, or something else went wrong on the way.
        case refused = 1
        /// The command line is wrong.
        case usage = 2
        /// The daemon can't be reached.
        case unreachable = 3
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
