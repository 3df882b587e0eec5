import Dispatch
import Glibc

/// The terminal while one program has all of it: nothing typed is shown, what stood there comes back
/// when that is over, however it ends.
///
/// Its standard input need not be the terminal: then no keys come.
final class FullScreen {
    /// An input of the program: a key, a new size, or a signal to end.
    enum Event: Sendable {
        /// A key: the byte that it sends.
        case key(UInt8)
        /// The terminal has another size.
        case resized
        /// The program is to end; the number of the signal that asks for it, nil where nobody types any more.
        case end(signal: Int32?)
    }

    /// Ctrl-C, which comes as a key here.
    static let interrupt: UInt8 = 3

    private let before: termios?
    private let sources: [any DispatchSourceProtocol]

    /// Takes the terminal over; the handler is called on any thread for each event, until ``leave()``.
    init(_ handler: @escaping @Sendable (Event) -> Void) {
        var sources: [any DispatchSourceProtocol] = []
        for (number, event) in [
            (SIGINT, Event.end(signal: SIGINT)), (SIGTERM, .end(signal: SIGTERM)),
            (SIGHUP, .end(signal: SIGHUP)), (SIGWINCH, .resized),
        ] {
            // Else the signal would end the program before its source is asked.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { handler(event) }
            sources.append(source)
        }
        before = Self.readKeysUnbuffered()
        if before != nil {
            let source = DispatchSource.makeReadSource(
                fileDescriptor: STDIN_FILENO, queue: .global())
            source.setEventHandler {
                var bytes = [UInt8](repeating: 0, count: 64)
                let count = read(STDIN_FILENO, &bytes, bytes.count)
                guard count > 0 else { return handler(.end(signal: nil)) }
                for byte in bytes[..<count] { handler(.key(byte)) }
            }
            sources.append(source)
        }
        self.sources = sources
        for source in sources { source.resume() }
        Terminal.isTaken = true
        // The other screen, and no cursor in it.
        Output.bytes(Array("\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J".utf8))
    }

    /// Draws over what stands there, line by line, so that nothing flickers.
    func draw(_ lines: [String]) {
        let text = lines.map { $0 + "\u{1B}[K" }.joined(separator: "\n")
        Output.bytes(Array("\u{1B}[H\(text)\u{1B}[J".utf8))
    }

    /// Gives the terminal back.
    func leave() {
        for source in sources { source.cancel() }
        Output.bytes(Array("\u{1B}[?25h\u{1B}[?1049l".utf8))
        if var before { tcsetattr(STDIN_FILENO, TCSADRAIN, &before) }
        Terminal.isTaken = false
    }

    /// Has keys come one by one, and nothing typed be shown; returns how the terminal was, nil where standard input
    /// is none.
    private static func readKeysUnbuffered() -> termios? {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        let before = settings
        // Ctrl-C too comes as a key, and Ctrl-Z does not leave the terminal in this state.
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
        guard tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) == 0 else { return nil }
        return before
    }
}
