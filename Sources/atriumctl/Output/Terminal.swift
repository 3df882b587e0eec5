import Glibc
import Synchronization

/// What is known of where standard output and standard error lead to.
enum Terminal {
    /// Whether a person looks at standard output.
    static let isOutputTerminal = isatty(STDOUT_FILENO) == 1

    /// Whether a person looks at standard error.
    static let isErrorTerminal = isatty(STDERR_FILENO) == 1

    /// Whether a person types on standard input.
    static let isInputTerminal = isatty(STDIN_FILENO) == 1

    /// Whether standard output may carry colours: a terminal, and nobody set `NO_COLOR`.
    static let hasColor =
        isOutputTerminal && (environment("NO_COLOR") ?? "").isEmpty && isCapable

    /// Whether what stands on standard output can be drawn over.
    static let canRedraw = isOutputTerminal && isCapable

    /// Whether the terminal is said to be more than a typewriter.
    private static let isCapable = !["", "dumb"].contains(environment("TERM") ?? "")

    /// Whether a program draws on all of it, so that nothing else may be printed.
    static var isTaken: Bool {
        get { taken.load(ordering: .relaxed) }
        set { taken.store(newValue, ordering: .relaxed) }
    }

    private static let taken = Atomic(false)

    /// How many columns standard output has; nil where nothing is cut.
    static var width: Int? {
        isOutputTerminal ? size(of: STDOUT_FILENO)?.columns : nil
    }

    /// How many columns standard error has; nil where it is no terminal.
    static var errorWidth: Int? {
        isErrorTerminal ? size(of: STDERR_FILENO)?.columns : nil
    }

    /// How many rows standard output has; nil where it is no terminal.
    static var height: Int? {
        isOutputTerminal ? size(of: STDOUT_FILENO)?.rows : nil
    }

    /// The value of an environment variable; nil where there is none.
    static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    private static func size(of descriptor: Int32) -> (columns: Int, rows: Int)? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return (Int(size.ws_col), Int(size.ws_row))
    }
}
