import Glibc
import Synchronization

/// Standard output and standard error, written through at once, so that what is piped on appears
/// when it happens.
enum Output {
    /// Where standard output goes: to the pager while there is one.
    private static let descriptor = Atomic<Int32>(STDOUT_FILENO)

    /// Has standard output go elsewhere.
    static func redirect(to descriptor: Int32) {
        self.descriptor.store(descriptor, ordering: .relaxed)
    }

    private static var out: Int32 { descriptor.load(ordering: .relaxed) }

    /// Writes a line to standard output.
    static func line(_ text: String = "") {
        write(Array("\(text)\n".utf8), to: out)
    }

    /// Writes lines to standard output, in one piece.
    static func lines(_ lines: [String]) {
        guard !lines.isEmpty else { return }
        write(Array((lines.joined(separator: "\n") + "\n").utf8), to: out)
    }

    /// Writes bytes to standard output as they are.
    static func bytes(_ bytes: [UInt8]) {
        write(bytes, to: out)
    }

    /// Writes bytes and a newline to standard output.
    static func rawLine(_ bytes: [UInt8]) {
        write(bytes + [UInt8(ascii: "\n")], to: out)
    }

    /// Writes a line to standard error.
    static func note(_ text: String) {
        write(Array("\(text)\n".utf8), to: STDERR_FILENO)
    }

    /// Writes text to standard error, without a newline.
    static func progress(_ text: String) {
        write(Array(text.utf8), to: STDERR_FILENO)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = Glibc.write(
                    descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EAGAIN {
                    var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&wait, 1, -1)
                } else if errno != EINTR {
                    // A note that nobody can read ends no work.
                    if descriptor == STDERR_FILENO { return }
                    fail(errno)
                }
            }
        }
    }

    /// Ends the process, which can't write.
    ///
    /// Who reads a pipe may leave early: that is the end of the work and no failure.
    private static func fail(_ code: Int32) -> Never {
        if code == EPIPE { exit(0) }
        note("atriumctl: can't write standard output: \(String(cString: strerror(code)))")
        exit(CommandFailure.Status.refused.rawValue)
    }
}
