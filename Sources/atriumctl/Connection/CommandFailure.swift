/// Why a command did not do what it was asked: a sentence, what to do about it, and the exit status.
struct CommandFailure: Error, Equatable {
    /// What a script sees.
    enum Status: Int32 {
        /// The daemon refused the call, or something else went wrong on the way.
        case refused = 1
        /// The command line makes no sense.
        case usage = 2
        /// There is no daemon to talk to.
        case unreachable = 3
    }

    var sentence: String
    var hint: String?
    var status: Status

    /// A failure; refused unless told.
    init(_ sentence: String, hint: String? = nil, status: Status = .refused) {
        self.sentence = sentence
        self.hint = hint
        self.status = status
    }

    /// The lines for standard error.
    var lines: [String] {
        let first = "atriumctl: \(PrintableText.lines(sentence).joined(separator: "\n"))"
        guard let hint else { return [first] }
        return [first, "hint: \(PrintableText.lines(hint).joined(separator: "\n      "))"]
    }
}
