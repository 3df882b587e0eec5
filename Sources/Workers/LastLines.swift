/// What the lines that a worker printed before its end say of the reason: its own runtime's, and those of a
/// program of which it is the worker.
struct LastLines {
    /// What was said of a failure, last.
    private(set) var failure: String?
    /// The function in which it ended, as far as that has a name.
    private(set) var function: String?
    /// Whether the lines are those of an end: a signal, or a failure.
    var tellOfEnd: Bool { failure != nil || isInBacktrace || isInTraceback }

    /// Whether lines are a backtrace after "ended by SIG… at".
    private var isInBacktrace = false
    /// Whether lines are a traceback of Python's, up to the exception.
    private var isInTraceback = false

    /// Bytes that are kept of what was said, and of a function's name.
    private static let mostBytes = (failure: 500, function: 200)
    /// What a failure goes through before it ends a process, and whose functions say nothing of the plugin's.
    private static let passed = ["libswift", "libc.so", "libFoundation", "libdispatch", "ld-linux"]

    /// Takes a line in, whose names of functions can be read by people.
    mutating func take(_ line: String) {
        if line.hasPrefix("ended by SIG"), line.hasSuffix(" at") {
            isInBacktrace = true
            function = nil
        } else if isInBacktrace, function == nil, let frame = Self.frame(line) {
            function = LineBudget.cut(frame, to: Self.mostBytes.function)
        }
        if line == "Traceback (most recent call last):" {
            isInTraceback = true
        } else if isInTraceback, line.first?.isWhitespace == false {
            // Its own lines are indented; the exception's is not.
            isInTraceback = false
            take(failure: line)
        } else if line.contains("Fatal error:") || line.hasPrefix("The program ") {
            take(failure: line)
        }
    }

    private mutating func take(failure line: String) {
        let sentence = line.hasSuffix(".") ? String(line.dropLast()) : line
        failure = LineBudget.cut(sentence, to: Self.mostBytes.failure)
    }

    /// The function of a line of a backtrace, `FILE(FUNCTION+0x1f) [0x7f…]`; nil: it has no name, or belongs to
    /// what is passed.
    private static func frame(_ line: String) -> String? {
        guard let open = line.firstIndex(of: "("), line.hasSuffix("]"),
            let end = line.ranges(of: "+0x").last, open < end.lowerBound
        else { return nil }
        let file = line[..<open].split(separator: "/").last ?? ""
        let function = line[line.index(after: open)..<end.lowerBound]
        guard !function.isEmpty, !passed.contains(where: file.hasPrefix) else { return nil }
        return String(function)
    }
}
