import Glibc
import Synchronization

/// Whether somebody pressed Ctrl-C while a command ends by itself.
enum Interruption {
    private static let flag = Atomic(false)

    static var isThere: Bool { flag.load(ordering: .relaxed) }

    /// From now on the first Ctrl-C only sets ``isThere``; the second ends the process.
    ///
    /// - Returns: False where whoever started the program has it ignore Ctrl-C: it still does.
    @discardableResult
    static func watch() -> Bool {
        // Made now: a signal's handler is not the place for it.
        flag.store(false, ordering: .relaxed)
        let before = signal(SIGINT) { number in
            Interruption.flag.store(true, ordering: .relaxed)
            signal(number, SIG_DFL)
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
}
