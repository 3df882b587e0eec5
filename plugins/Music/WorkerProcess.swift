internal import Glibc

/// The worker that the component may live in.
///
/// It may read the folders that were there when it started, by what they were and not by their names: of one that
/// is made later, or takes the place of another, it can see that it is there, and read nothing. A new worker can.
enum WorkerProcess {
    /// Whether this user may read a folder, as far as its owner and its mode say.
    static func mayRead(_ folder: String) -> Bool { access(folder, R_OK | X_OK) == 0 }

    /// Ends the worker: the daemon starts another, and shows until then what it showed.
    ///
    /// Does nothing where the component lives in the daemon, or in a test.
    static func leave(because reason: String) {
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
