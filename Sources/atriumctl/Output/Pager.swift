import Glibc
import Synchronization

/// The program that people read long output in: `$PAGER`, by default less.
enum Pager {
    private static let pipe = Mutex<PagerPipe?>(nil)

    /// From now on standard output goes through the pager, where that leads to a terminal and there is a pager.
    ///
    /// However the process ends, the pager has ended before.
    static func start() {
        // The terminal's width is asked for now and then, of what standard output leads to.
        guard Terminal.canRedraw, let command else { return }
        // As git has it: what fits on the terminal is printed, colours are let through, nothing is erased.
        setenv("LESS", "FRX", 0)
        guard let file = popen(command, "w") else { return }
        pipe.withLock { $0 = PagerPipe(file: file) }
        Terminal.isTaken = true
        Output.redirect(to: fileno(file))
        // Ctrl-C is the pager's: it ends a search, not the list.
        signal(SIGINT, SIG_IGN)
        atexit { Pager.finish() }
    }

    /// Waits until the reader has seen enough; standard output is the terminal again.
    static func finish() {
        let pipe = pipe.withLock { pipe in
            defer { pipe = nil }
            return pipe
        }
        guard let pipe else { return }
        Output.redirect(to: STDOUT_FILENO)
        pclose(pipe.file)
        Terminal.isTaken = false
        signal(SIGINT, SIG_DFL)
    }

    /// A line of shell; nil where output is printed as it is.
    private static var command: String? {
        guard let wish = Terminal.environment("PAGER") else {
            return isThere("less") ? "less" : nil
        }
        guard !wish.isEmpty, wish != "cat" else { return nil }
        if let program = program(of: wish), !isThere(program) {
            Output.note(
                PrintableText.line("atriumctl: there is no program '\(program)', as PAGER has it"))
            return nil
        }
        return wish
    }

    /// The program that a line of shell starts; nil where the shell has to say.
    static func program(of line: String) -> String? {
        let words = line.split(separator: " ")
        guard let word = words.first(where: { !$0.contains("=") }),
            word.wholeMatch(of: #/[A-Za-z0-9_.\/+-]+/#) != nil
        else { return nil }
        return String(word)
    }

    private static func isThere(_ program: String) -> Bool {
        if program.contains("/") { return isProgram(program) }
        let folders = Terminal.environment("PATH")?.split(separator: ":") ?? []
        return folders.contains { isProgram("\($0)/\(program)") }
    }

    /// Whether a file can be executed; folders can be entered, which has the same permission.
    private static func isProgram(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            && access(path, X_OK) == 0
    }
}

/// The pipe to the pager.
///
/// Sendable: it is used by one thread after the other, under a lock.
private struct PagerPipe: @unchecked Sendable {
    let file: UnsafeMutablePointer<FILE>
}
