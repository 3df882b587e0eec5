internal import Glibc

/// The worker that a component may run in.
///
/// A worker may read the files and folders that were there when it started. One that is made later, or takes the place
/// of another, it can find but not read. A new worker can read it.
package enum WorkerProcess {
    /// Returns whether this user may read a file, as far as its owner and its mode say.
    package static func mayRead(file: String) -> Bool { access(file, R_OK) == 0 }

    /// Returns whether this user may read a folder, as far as its owner and its mode say.
    package static func mayRead(folder: String) -> Bool { access(folder, R_OK | X_OK) == 0 }

    /// Ends the worker: the daemon starts another, and shows until then what the component showed before.
    ///
    /// Does nothing if the component runs in the daemon, or in a test.
    package static func leave(because reason: String) {
        guard program.hasSuffix("/atrium-worker") else { return }
        let line = Array("\(reason): the worker ends, so that a new one reads it\n".utf8)
        _ = write(STDERR_FILENO, line, line.count)
        _exit(EX_TEMPFAIL)
    }

    private static var program: String {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &path, path.count - 1)
        return String(
            decoding: path.prefix(max(0, length)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
