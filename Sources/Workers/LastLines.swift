/// The cause of a worker's end, from the last lines that the worker printed.
///
/// It understands lines of the Swift runtime, of Python, and of a worker about its plugin's program.
struct LastLines {
    /// The last failure that was printed.
    private(set) var failure: String?
    /// The function in which the worker ended, if it has a name.
    private(set) var function: String?
    /// Whether the lines report an end: a signal or a failure.
    var describesEnd: Bool { failure != nil || isInBacktrace || isInTraceback }

    /// Whether the next lines are a backtrace, after "ended by SIG… at".
    private var isInBacktrace = false
    /// Whether the next lines are a traceback of Python, up to the exception.
    private var isInTraceback = false

    /// The most bytes to keep of a failure, and of a function's name.
    private static let mostBytes = (failure: 500, function: 200)
    /// Libraries whose functions a failure passes through, which say nothing about the plugin.
    private static let passed = ["libswift", "libc.so", "libFoundation", "libdispatch", "ld-linux"]

    /// Reads a line, in which the names of functions are demangled.
    mutating func read(_ line: String) {
        if line.hasPrefix("ended by SIG"), line.hasSuffix(" at") {
            isInBacktrace = true
            function = nil
        } else if isInBacktrace, function == nil, let frame = Self.frame(line) {
            function = LineBudget.cut(frame, to: Self.mostBytes.function)
        }
        if line == "Traceback (most recent call last):" {
            isInTraceback = true
        } else if isInTraceback, line.first?.isWhitespace == false {
            // The lines of a traceback are indented; the exception after them is not.
            isInTraceback = false
            setFailure(line)
        } else if line.contains("Fatal error:") || line.hasPrefix("The program ") {
            setFailure(line)
        }
    }

    private mutating func setFailure(_ line: String) {
        let sentence = line.hasSuffix(".") ? String(line.dropLast()) : line
        failure = LineBudget.cut(sentence, to: Self.mostBytes.failure)
    }

    /// The function in a line of a backtrace, `FILE(FUNCTION+0x1f) [0x7f…]`.
    ///
    /// Nil: it has no name, or belongs to one of the `passed` libraries.
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
