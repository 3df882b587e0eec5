import Glibc
import Synchronization

/// Whether somebody pressed Ctrl-C while a command ends by itself.
enum Interruption {
    private static let flag = Atomic(false)

    /// What the first Ctrl-C prints.
    ///
    /// Set before the signal's handler that reads it.
    nonisolated(unsafe) private static var note: StaticString = ""

    static var isThere: Bool { flag.load(ordering: .relaxed) }

    /// From now on the first Ctrl-C only sets ``isThere``, and prints a note; the second ends the process.
    ///
    /// - Parameter note: A line for standard error; by default none is printed.
    /// - Returns: False where whoever started the program has it ignore Ctrl-C: it still does.
    @discardableResult
    static func watch(saying note: StaticString = "") -> Bool {
        // Made now: a signal's handler is not the place for it.
        flag.store(false, ordering: .relaxed)
        Interruption.note = note
        let before = signal(SIGINT) { number in
            Interruption.flag.store(true, ordering: .relaxed)
            signal(number, SIG_DFL)
            let code = errno
            // Whether it can be written makes no difference.
            _ = write(
                STDERR_FILENO, Interruption.note.utf8Start, Interruption.note.utf8CodeUnitCount)
            errno = code
        }
        let wasIgnored =
            unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        if wasIgnored { signal(SIGINT, SIG_IGN) }
        return !wasIgnored
    }

    /// As ``watch()``, while a question is asked: Ctrl-C ends it, as the end of input does.
    static func watch<Answer>(during question: () -> Answer) -> Answer {
        let isWatched = watch()
        defer { if isWatched { signal(SIGINT, SIG_DFL) } }
        return question()
    }

    /// Waits until there is something to read, or the end of input; returns false where somebody pressed Ctrl-C
    /// first.
    static func waitsForInput(_ descriptor: Int32) -> Bool {
        var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // The signal may go to another thread, which does not end a wait of this one.
        while !isThere {
            let count = poll(&input, 1, 100)
            // If polling fails, so does the read that follows, which has the reason.
            if count > 0 || count < 0 && errno != EINTR { return true }
        }
        return false
    }
}
