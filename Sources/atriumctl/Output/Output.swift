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

    /// Writes bytes that are of use only as a whole to standard output; throws if they can't be written, also because
    /// the reader of a pipe left.
    static func whole(_ bytes: [UInt8]) throws(CommandFailure) {
        try write(bytes, to: out, named: "standard output")
    }

    /// Writes bytes to an open file, whose name the error has.
    static func write(
        _ bytes: [UInt8], to descriptor: Int32, named name: String
    ) throws(CommandFailure) {
        let code = send(bytes, to: descriptor)
        guard code == 0 else {
            throw CommandFailure("can't write \(name): \(String(cString: strerror(code)))")
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        let code = send(bytes, to: descriptor)
        // A note that nobody can read ends no work.
        if code != 0, descriptor != STDERR_FILENO { fail(code) }
    }

    /// Writes all bytes; returns 0, or the system's error.
    private static func send(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
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
                    return errno
                }
            }
            return 0
        }
    }

    /// Ends the process, which can't write.
    ///
    /// Who reads a pipe may leave early: that is the end of the work and no failure, unless it is a backup or an export
    /// (``whole(_:)``).
    private static func fail(_ code: Int32) -> Never {
        if code == EPIPE { exit(0) }
        note("atriumctl: can't write standard output: \(String(cString: strerror(code)))")
        exit(CommandFailure.Status.refused.rawValue)
    }
}
